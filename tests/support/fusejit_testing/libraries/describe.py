"""Arguments in one line: types, dtypes, shapes, and values that are short."""

from __future__ import annotations

from typing import Any

import numpy as np


def describe(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """The arguments of a call.

    >>> describe((np.zeros((2, 3)), [1, 2]), {"axis": 0})
    'float64[2, 3], [1, 2], axis=0'
    """
    parts = [*map(_one, args), *(f"{key}={_one(value)}" for key, value in kwargs.items())]
    return ", ".join(parts)


def _one(value: Any) -> str:
    if isinstance(value, np.ndarray):
        kind = "" if type(value) is np.ndarray else f"{type(value).__name__} "
        order = "" if value.flags.c_contiguous or value.ndim < 2 else f" strides {value.strides}"
        shown = f" {value.tolist()}" if value.size <= 8 and value.dtype.kind in "biufc" else ""
        return f"{kind}{value.dtype}{[*value.shape]}{order}{shown}"
    try:
        text = " ".join(repr(value).split())
    except Exception:
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 80 else f"{text[:77]}..."
