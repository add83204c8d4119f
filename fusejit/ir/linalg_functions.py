"""THE table of linalg's scalar functions: what they compute, in terms of scalar ops.

They have the meaning that MLIR's linalg dialect gives them: division goes toward zero, halves are
rounded away from zero, and integers are read as signed, or as unsigned by the functions whose name
says so. A bool is an integer of one bit: the signed True is -1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import BOOL


def unsigned(dtype: np.dtype) -> np.dtype:
    """The unsigned dtype of the same width; other dtypes are their own."""
    return np.dtype(f"u{dtype.itemsize}") if dtype.kind == "i" else dtype


def signed(dtype: np.dtype) -> np.dtype:
    """The signed dtype of the same width; other dtypes are their own."""
    return np.dtype(f"i{dtype.itemsize}") if dtype.kind == "u" else dtype


def converted(builder: PayloadBuilder, ref: int, dtype: np.dtype, is_signed: bool) -> int:
    """linalg's cast: see ``casts`` of the dialect's facts.

    The dtype of an unsigned NumPy array says that its integers are unsigned: there both casts keep
    their value.
    """
    source = builder.dtype_of(ref)
    if source == dtype:
        return ref
    if source.kind == "c" and dtype.kind != "c":
        raise TypeError(f"{source} is not cast to {dtype}: take its real or its imaginary part")
    if source.kind == "b":
        if is_signed:  # as integers, since the negative of 0.0 is -0.0
            byte = np.dtype(np.int8)
            ref = builder.op("negative", [builder.cast(ref, byte)], byte)
        return builder.cast(ref, dtype)
    if dtype.kind == "b":
        if source.kind not in "iu":
            return builder.op("not_equal", [ref, builder.const(0, source)], BOOL)
        low = builder.op("bitwise_and", [ref, builder.const(1, source)], source)
        return builder.op("not_equal", [low, builder.const(0, source)], BOOL)
    if not is_signed:
        ref = builder.cast(ref, unsigned(source))
        if dtype.kind in "iu":
            return builder.cast(builder.cast(ref, unsigned(dtype)), dtype)
    return builder.cast(ref, dtype)


Lower = Callable[[PayloadBuilder, Sequence[int], np.dtype], int]


@dataclass(frozen=True, eq=False, slots=True)
class Function:
    """A scalar function of linalg: for which dtype kinds it is defined, and how it is written."""

    name: str
    kinds: str
    lower: Lower


def _row(name: str, bools: str = "") -> Lower:
    """A row of the scalar table, and the row for bools where another one has that meaning."""

    def lower(builder: PayloadBuilder, refs: Sequence[int], dtype: np.dtype) -> int:
        return builder.op(bools if bools and dtype.kind == "b" else name, list(refs), dtype)

    return lower


def _as_unsigned(name: str, bools: str = "") -> Lower:
    """A row of the scalar table on the same bits, read as unsigned integers."""

    def lower(builder: PayloadBuilder, refs: Sequence[int], dtype: np.dtype) -> int:
        if dtype.kind == "b":
            return builder.op(bools, list(refs), dtype)
        wide = unsigned(dtype)
        return builder.cast(builder.op(name, [builder.cast(r, wide) for r in refs], wide), dtype)

    return lower


def _divide(builder: PayloadBuilder, refs: Sequence[int], dtype: np.dtype) -> int:
    """Toward zero, where NumPy's ``//`` goes down: ``(a - fmod(a, b)) // b`` is exact."""
    if dtype.kind not in "iu":
        return builder.op("divide", list(refs), dtype)
    a, b = refs
    exact = builder.op("subtract", [a, builder.op("fmod", [a, b], dtype)], dtype)
    return builder.op("floor_divide", [exact, b], dtype)


def _round(builder: PayloadBuilder, refs: Sequence[int], dtype: np.dtype) -> int:
    """Halves away from zero. Adding 0.5 first would round 0.49999999999999994 up."""
    (x,) = refs
    whole = builder.op("trunc", [x], dtype)
    rest = builder.op("absolute", [builder.op("subtract", [x, whole], dtype)], dtype)
    is_half = builder.op("greater_equal", [rest, builder.const(0.5, dtype)], BOOL)
    step = builder.op("copysign", [builder.const(1.0, dtype), x], dtype)
    return builder.op("select", [is_half, builder.op("add", [whole, step], dtype), whole], dtype)


def _rsqrt(builder: PayloadBuilder, refs: Sequence[int], dtype: np.dtype) -> int:
    root = builder.op("sqrt", list(refs), dtype)
    return builder.op("divide", [builder.const(1.0, dtype), root], dtype)


def _reciprocal(builder: PayloadBuilder, refs: Sequence[int], dtype: np.dtype) -> int:
    return builder.op("divide", [builder.const(1.0, dtype), *refs], dtype)


FUNCTIONS: dict[str, Function] = {
    f.name: f
    for f in (
        Function("max", "biuf", _row("maximum", "logical_and")),
        Function("min", "biuf", _row("minimum", "logical_or")),
        Function("max_unsigned", "biu", _as_unsigned("maximum", "logical_or")),
        Function("min_unsigned", "biu", _as_unsigned("minimum", "logical_and")),
        Function("sub", "iufc", _row("subtract")),
        Function("div", "iufc", _divide),
        Function("div_unsigned", "iu", _as_unsigned("floor_divide")),
        Function("powf", "f", _row("power")),
        Function("round", "f", _round),
        Function("rsqrt", "f", _rsqrt),
        Function("reciprocal", "f", _reciprocal),
        Function("erf", "f", _row("erf")),
        *(
            Function(name, "f", _row(row))
            for name, row in (
                ("abs", "absolute"),
                ("ceil", "ceil"),
                ("floor", "floor"),
                ("negf", "negative"),
                ("exp", "exp"),
                ("log", "log"),
                ("sqrt", "sqrt"),
                ("square", "square"),
                ("tanh", "tanh"),
            )
        ),
    )
}
"""Functions with linalg's meaning, by the names that formulas give them."""
