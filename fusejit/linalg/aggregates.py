"""Ops that decompose into others: `softmax`; and the explicit forms under their dialect's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.api import fuse_jit
from fusejit.ir.definitions.scalars import index
from fusejit.linalg.registry import register
from fusejit.structured.generic import generic


@fuse_jit
def softmax(input: Any, *, dimension: int, out: Any = None) -> Any:
    """``exp(x - max(x)) / sum(exp(x - max(x)))`` over one dimension, of floats.

    Four ops, which share their outer loops: the row's maximum, the exponentials, their sum, the
    quotients.

    Raises
    ------
    TypeError
        If the input is no array of floats, or ``out`` has another type.
    ValueError
        If ``dimension`` is none of its axes, counted from the start, or ``out`` has another shape.
    """
    if not isinstance(input, np.ndarray) or input.dtype.kind != "f":
        of = getattr(input, "dtype", type(input).__name__)
        raise TypeError(f"softmax: input is of type {of}; softmax is defined for arrays of floats")
    if not 0 <= dimension < input.ndim:
        raise ValueError(
            f"softmax: dimension {dimension} is not one of the {input.ndim} axes of input"
        )
    if out is not None and out.dtype != input.dtype:
        raise TypeError(f"softmax: out is of type {out.dtype} and input of {input.dtype}")
    if out is not None and out.shape != input.shape:
        raise ValueError(f"softmax: out has the shape {out.shape} and input {input.shape}")
    if input.shape[dimension] == 0:
        return input.copy() if out is None else out
    largest = np.max(input, axis=dimension, keepdims=True)
    powers = np.exp(input - largest)
    result = powers / np.sum(powers, axis=dimension, keepdims=True)
    if out is None:
        return result
    out[...] = result
    return out


def yield_(*values: Any) -> tuple[Any, ...]:
    """Return values from a payload, one per init. The name is a Python keyword: use ``getattr``."""
    return values


register(softmax)
register(generic)
register(index)
register(yield_, "yield")
