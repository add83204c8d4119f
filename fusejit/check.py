"""`f.check(*args)`: the function as NumPy and fused, on copies, compared."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np


def check_text(
    plain: Callable[..., Any],
    fused: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> str:
    """Run both on deep copies of the arguments and describe every difference.

    Returns
    -------
    str
        One line per result and per array argument; "same bits", or the largest difference.
    """
    outcomes = []
    for function in (plain, fused):
        copies = copy.deepcopy((args, kwargs))
        try:
            result: Any = function(*copies[0], **copies[1])
        except Exception as error:
            result = error
        outcomes.append((result, copies))
    (expected, expected_copies), (actual, actual_copies) = outcomes
    lines = compare("result", expected, actual)
    lines += compare("arguments", expected_copies, actual_copies)
    return "\n".join(lines) + "\n"


def compare(name: str, expected: Any, actual: Any) -> list[str]:
    """Lines that tell how two (nested) results differ."""
    if isinstance(expected, BaseException) or isinstance(actual, BaseException):
        same = type(expected) is type(actual) and str(expected) == str(actual)
        return [f"{name}: {'same error' if same else f'{expected!r} != {actual!r}'}"]
    if type(expected) is not type(actual):
        return [f"{name}: type {type(expected).__name__} != {type(actual).__name__}"]
    if isinstance(expected, tuple | list):
        if len(expected) != len(actual):
            return [f"{name}: length {len(expected)} != {len(actual)}"]
        pairs = enumerate(zip(expected, actual, strict=True))
        return [line for i, (e, a) in pairs for line in compare(f"{name}[{i}]", e, a)]
    if isinstance(expected, dict):
        if list(expected) != list(actual):
            return [f"{name}: keys {list(expected)} != {list(actual)}"]
        return [
            line for k in expected for line in compare(f"{name}[{k!r}]", expected[k], actual[k])
        ]
    if isinstance(expected, np.ndarray | np.generic):
        return [_compare_arrays(name, np.asarray(expected), np.asarray(actual))]
    same = bool(expected == actual) or expected is actual or expected != expected
    return [f"{name}: {'same' if same else f'{expected!r} != {actual!r}'}"]


def _compare_arrays(name: str, expected: np.ndarray, actual: np.ndarray) -> str:
    for what in ("dtype", "shape", "strides"):
        if getattr(expected, what) != getattr(actual, what):
            return f"{name}: {what} {getattr(expected, what)} != {getattr(actual, what)}"
    if expected.tobytes() == actual.tobytes():
        return f"{name}: same bits"
    with np.errstate(all="ignore"):
        unequal = (expected != actual) & ~((expected != expected) & (actual != actual))
        if not unequal.any():
            return f"{name}: equal (bits of NaN or of zero differ)"
        difference = np.abs(expected[unequal].astype(float) - actual[unequal].astype(float))
        size = np.abs(expected[unequal].astype(float))
        relative = difference / np.where(size == 0, 1, size)
    return (
        f"{name}: {int(unequal.sum())} of {expected.size} elements differ, at most by "
        f"{difference.max():.3g} ({relative.max():.3g} relative)"
    )
