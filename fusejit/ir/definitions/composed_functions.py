"""Functions of NumPy that several scalar ops make up, for payloads."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import BOOL, part_dtype

Lower = Callable[[PayloadBuilder, Sequence[int], np.dtype], int]


def _conjugate(builder: PayloadBuilder, refs: Sequence[int], dtype: np.dtype) -> int:
    (ref,) = refs
    if dtype.kind != "c":
        return ref
    part = part_dtype(dtype)
    real, imag = (builder.op(name, [ref], part) for name in ("real", "imag"))
    return builder.op("complex", [real, builder.op("negative", [imag], part)], dtype)


def _logarithm_of_sum(exp: str, log1p_factor: float, same: float) -> Lower:
    """``log(exp(a) + exp(b))``: the larger one, and a logarithm that depends on the difference."""

    def lower(builder: PayloadBuilder, refs: Sequence[int], dtype: np.dtype) -> int:
        def const(number: float) -> int:
            return builder.const(dtype.type(number), dtype)

        larger = builder.op("maximum", list(refs), dtype)
        difference = builder.op("absolute", [builder.op("subtract", list(refs), dtype)], dtype)
        smaller = builder.op(exp, [builder.op("negative", [difference], dtype)], dtype)
        rest = builder.op("log1p", [smaller], dtype)
        if log1p_factor != 1.0:
            rest = builder.op("multiply", [rest, const(log1p_factor)], dtype)
        is_same = builder.op("equal", list(refs), BOOL)  # of two infinities
        rest = builder.op("select", [is_same, const(same), rest], dtype)
        return builder.op("add", [larger, rest], dtype)

    return lower


COMPOSED: dict[np.ufunc, Lower] = {
    np.conjugate: _conjugate,
    np.logaddexp: _logarithm_of_sum("exp", 1.0, float(np.log(2.0))),
    np.logaddexp2: _logarithm_of_sum("exp2", float(1 / np.log(2.0)), 1.0),
}
"""The functions, and how each is written."""

COMPOSED_BY_NAME: dict[str, tuple[np.ufunc, Lower]] = {
    ufunc.__name__: (ufunc, lower) for ufunc, lower in COMPOSED.items()
}
"""The same, by the name that a payload expression has."""
