"""Ops that decompose into others: `softmax`; and the explicit forms under their dialect's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.api import fuse_jit
from fusejit.linalg.registry import register
from fusejit.structured.generic import generic
from fusejit.structured.scalars import index


@fuse_jit
def softmax(input: Any, *, dimension: int, out: Any = None) -> Any:
    """``exp(x - max(x)) / sum(exp(x - max(x)))`` over one dimension, of floats.

    Four ops, which share their outer loops: the row's maximum, the exponentials, their sum, the
    quotients.

    Raises
    ------
    TypeError
        If the input is no array of floats.
    ValueError
        If ``dimension`` is none of its axes, counted from the start.
    """
    if input.dtype.kind != "f":
        raise TypeError(f"softmax is defined for floats, not for {input.dtype}")
    if not 0 <= dimension < input.ndim:
        raise ValueError(f"softmax: dimension {dimension} is not one of {input.ndim} axes")
    largest = np.max(input, axis=dimension, keepdims=True)
    powers = np.exp(input - largest)
    result = powers / np.sum(powers, axis=dimension, keepdims=True)
    if out is None:
        return result
    out[...] = result
    return out


def yield_(*values: Any) -> tuple[Any, ...]:
    """The numbers of a payload, one per init: ``return yield_(a, b)``."""
    return values


register(softmax)
register(generic)
register(index)
register(yield_, "yield")
