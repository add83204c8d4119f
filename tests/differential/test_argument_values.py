"""Every kind of argument in every way of use: no call is served with another call's value.

Each cell of the matrix is one kind of argument, one way of using it, and one place where it stands
(a parameter, a tuple, an attribute, a closure cell, ..). The decorated function is called with the
first value of the kind, with the second, and with the first again; and in the other order. Value,
type, exception and, where Python hands out one object, identity are those of the undecorated
function.

Regression: A call with another member of an ``IntEnum`` took the branch, axis or text of the first
one: launchers compared types although the value was a constant of the variant. Without source,
``isinstance(n, int)`` of an argument was False.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import numpy as np
import pytest

from fusejit_testing import argument_uses as uses
from fusejit_testing.argument_kinds import KINDS
from fusejit_testing.oracle import decorate, no_faults

# ------------------------------------------------------------------------------------- comparison
Call = tuple[tuple[Any, ...], dict[str, Any]]
A = np.arange(6.0).reshape(2, 3) + 1


def outcome(function: Callable[..., Any], call: Call) -> Any:
    """What a call returns, or its exception."""
    args, kwargs = call
    with np.errstate(all="ignore"):
        try:
            return function(*args, **kwargs)
        except Exception as error:
            return error


def difference(actual: Any, expected: Any, again: Any) -> str | None:
    """How two outcomes differ; ``again`` is that of the undecorated function a second time."""
    if expected is again and expected is not actual:
        return f"{actual!r} is not the object {expected!r}"
    if type(actual) is not type(expected):
        return f"{actual!r} instead of {expected!r}"
    if isinstance(expected, BaseException):
        return None if str(actual) == str(expected) else f"{actual!r} instead of {expected!r}"
    if isinstance(expected, list | tuple) and expected is not again:
        if len(actual) != len(expected):
            return f"{actual!r} instead of {expected!r}"
        parts = map(difference, actual, expected, again)
        return next((part for part in parts if part), None)
    if isinstance(expected, np.ndarray | np.generic):
        agree = actual.dtype == expected.dtype and actual.shape == expected.shape
        agree = agree and actual.strides == expected.strides
        bits = operator.methodcaller("tolist" if expected.dtype.hasobject else "tobytes")
        agree = agree and bits(actual) == bits(expected)
        return None if agree else f"{actual!r} instead of {expected!r}"
    return None if repr(actual) == repr(expected) else f"{actual!r} instead of {expected!r}"


def failures(
    function: Callable[..., Any], calls: dict[str, Call], folder: Any, *, jit: bool = False
) -> list[str]:
    """What differs where a decorated function is called with the first, second, first value."""
    differences = []
    one, other = calls
    for order in ((one, other, one), (other, one, other)):
        decorated = decorate(function, jit=jit, reports=folder)
        through = getattr(function, "through", lambda called: called)
        for at, label in enumerate(order):
            expected, again = (outcome(through(function), calls[label]) for _ in range(2))
            actual = outcome(through(decorated), calls[label])
            message = difference(actual, expected, again)
            if message:
                differences.append(
                    f"{function.__name__}, call {at} with the {label} value: {message}"
                )
    return differences


@pytest.mark.parametrize("kind", KINDS)
def test_ways_of_use(kind: str) -> None:
    first, second = KINDS[kind]
    differences = []
    with warnings.catch_warnings(), no_faults() as folder:
        warnings.simplefilter("ignore")
        for way in uses.WAYS:
            calls = {"first": ((A, first, first), {}), "second": ((A, second, first), {})}
            differences += failures(way, calls, folder)
    assert not differences, "\n".join(differences)


@pytest.mark.parametrize("kind", KINDS)
def test_places(kind: str) -> None:
    values = dict(zip(("first", "second"), KINDS[kind], strict=True))
    first = values["first"]
    differences = []
    with warnings.catch_warnings(), no_faults() as folder:
        warnings.simplefilter("ignore")
        for function, stands in uses.PLACES:
            calls = {k: ((A, *stands(v), first), {}) for k, v in values.items()}
            differences += failures(function, calls, folder)
        differences += failures(
            uses.among_all, {k: ((A, first, v), {}) for k, v in values.items()}, folder
        )
        for function in (uses.by_keyword, uses.by_any_keyword):
            calls = {k: ((A, first), {"g": v}) for k, v in values.items()}
            differences += failures(function, calls, folder)
        calls = {k: ((A, k), {}) for k in values}
        differences += failures(uses.captured(values, first), calls, folder)
    assert not differences, "\n".join(differences)


def sourceless(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function as it is where nobody finds its source."""

    def moved(code: CodeType) -> CodeType:
        consts = (moved(c) if isinstance(c, CodeType) else c for c in code.co_consts)
        return code.replace(co_filename="<nowhere>", co_consts=tuple(consts))

    return FunctionType(moved(function.__code__), vars(uses), function.__name__)


@pytest.mark.parametrize("kind", KINDS)
def test_functions_without_source(kind: str) -> None:
    first, second = KINDS[kind]
    differences = []
    with warnings.catch_warnings(), no_faults() as folder:
        warnings.simplefilter("ignore")
        for name in [
            "branch",
            "equal",
            "same",
            "distinct",
            "text",
            "attribute",
            "instance",
            "called",
            "returned",
        ]:
            calls = {"first": ((A, first, first), {}), "second": ((A, second, first), {})}
            differences += failures(sourceless(getattr(uses, name)), calls, folder)
    assert not differences, "\n".join(differences)


@pytest.mark.parametrize("kind", ["IntEnum", "float subclass", "text subclass", "frozen dataclass"])
def test_compiled(kind: str) -> None:
    """What native code checks before a kernel is what a launcher of Python checks."""
    first, second = KINDS[kind]
    differences = []
    with warnings.catch_warnings(), no_faults() as folder:
        warnings.simplefilter("ignore")
        for way in (uses.equal, uses.same, uses.returned, uses.text, uses.in_tuple):
            given = [(v, 1) if way is uses.in_tuple else v for v in (first, second)]
            calls = {k: ((A, v, first), {}) for k, v in zip("12", given, strict=True)}
            differences += failures(way, calls, folder, jit=True)
    assert not differences, "\n".join(differences)
