"""Scalar arithmetic with NumPy's answers: Python implementations and dtype tokens.

Numba promotes small integers to int64, leaves shifts by the width, ``INT_MIN // -1`` and casts of
values that do not fit undefined. The names here do not: operands have one dtype, so has the result.

Numerics
--------
Casts of floats that the target cannot hold give what NumPy 2.4 gives for one element on x86-64, on
every machine and at every position: the "indefinite" value of the conversion (``-2**31`` or
``-2**63``), of which narrower targets keep the low bits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fusejit.codegen.intrinsics.intrinsic_table import (
    DTYPE_TOKENS,
    jit_path,
    python_implementation,
    register,
)
from fusejit.ir.scalar_ops.evaluation import FITS

Scalar = Any


class DtypeToken:
    """A dtype's name in generated code: ``f32(x)`` casts, ``scratch(64, f32)`` names the dtype.

    Attributes
    ----------
    name : str
        As in generated source: ``boolean``, ``i8`` ... ``u64``, ``f32``, ``f64``.
    dtype : numpy.dtype
        The dtype it stands for.
    """

    __slots__ = ("dtype", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.dtype = DTYPE_TOKENS[name]

    def __call__(self, x: Scalar) -> Scalar:
        return cast(x, self)

    def __repr__(self) -> str:
        return self.name


def operand(x: Scalar) -> np.generic:
    """A Python number as the NumPy scalar that jitted code would see."""
    if isinstance(x, np.generic):
        return x
    if isinstance(x, bool):
        return np.bool_(x)
    if isinstance(x, int):
        return np.int64(x) if x < 2**63 else np.uint64(x)
    return np.float64(x)


def _truncate(x: float, bits: int) -> int:
    """``x`` toward zero as a signed integer of 32 or 64 bits, "indefinite" if it does not fit."""
    limit: int = 2 ** (bits - 1)
    if math.isfinite(x) and -limit <= math.trunc(x) < limit:
        return math.trunc(x)
    return -limit


@python_implementation
def cast(x: Scalar, token: DtypeToken) -> Scalar:
    """Convert as ``ndarray.astype`` does; see the module's Numerics for what does not fit."""
    value, dtype = operand(x), token.dtype
    if value.dtype.kind != "f" or dtype.kind in "fb":
        with np.errstate(all="ignore"):
            return np.asarray(value).astype(dtype)[()]
    number = float(value)
    if dtype == np.uint64 and number >= 2.0**63:
        integer = _truncate(number - 2.0**63, 64) ^ (-(2**63))
    else:
        integer = _truncate(number, 32 if dtype.itemsize < 4 or dtype == np.int32 else 64)
    return np.int64(integer).astype(dtype)


def _same_dtype(name: str, kinds: str, *operands: Scalar) -> tuple[np.generic, ...]:
    values = tuple(operand(x) for x in operands)
    if len({v.dtype for v in values}) != 1 or values[0].dtype.kind not in kinds:
        raise TypeError(f"{name}: operands are {[str(v.dtype) for v in values]}")
    return values


def _numpy_implementation(name: str, kinds: str, ufunc: np.ufunc, doc: str) -> None:
    def evaluate(*operands: Scalar) -> Scalar:
        with np.errstate(all="ignore"):
            return ufunc(*_same_dtype(name, kinds, *operands))

    evaluate.__name__ = name
    evaluate.__doc__ = doc
    register(name, evaluate, jit_path(__name__, name))


for _name, _kinds, _ufunc, _doc in (
    ("int_floordiv", "iu", np.floor_divide, "``a // b``; 0 for b == 0, INT_MIN for INT_MIN // -1."),
    ("int_mod", "iu", np.remainder, "``a % b`` with the sign of b; 0 for b == 0."),
    ("scalar_floordiv", "iu", np.floor_divide, "`int_floordiv` of numbers on their own."),
    ("scalar_mod", "iu", np.remainder, "`int_mod` of numbers on their own."),
    ("near_mod", "iu", np.remainder, "`scalar_mod` of numbers near their remainder."),
    ("int_fmod", "iu", np.fmod, "``a - trunc(a / b) * b``; 0 for b == 0."),
    ("int_pow", "iu", np.power, "``a ** b`` modulo the width, for b >= 0."),
    ("int_abs", "iu", np.absolute, "``abs(a)``; INT_MIN stays INT_MIN."),
    ("int_add", "iu", np.add, "``a + b`` modulo the width."),
    ("int_sub", "iu", np.subtract, "``a - b`` modulo the width."),
    ("int_mul", "iu", np.multiply, "``a * b`` modulo the width."),
    ("int_neg", "iu", np.negative, "``-a`` modulo the width."),
    ("shift_left", "iu", np.left_shift, "``a << b``; 0 for b outside [0, width)."),
    ("shift_right", "iu", np.right_shift, "``a >> b``; the sign alone for b outside [0, width)."),
    ("float_floordiv", "f", np.floor_divide, "``a // b`` in NumPy's bits."),
    ("float_mod", "f", np.remainder, "``a % b`` in NumPy's bits, with the sign of b."),
    ("float_fmod", "f", np.fmod, "The remainder of ``a / b`` with the sign of a."),
    ("signbit", "f", np.signbit, "Whether the sign bit is set, of -0.0 and NaN too."),
):
    _numpy_implementation(_name, _kinds, _ufunc, _doc)
for _name, _function in FITS.items():
    _doc = f"Whether the result of {_name} has 64 bits."
    register(f"{_name}_fits", _function, jit_path(__name__, f"{_name}_fits"), _doc)

TOKENS = {name: DtypeToken(name) for name in DTYPE_TOKENS}
"""The dtype tokens in Python."""

for _name, _token in TOKENS.items():
    register(_name, _token, jit_path(__name__, _name), f"dtype {_token.dtype}")


@python_implementation
def unlikely(condition: Scalar) -> Scalar:
    """The condition of a branch that is seldom taken."""
    return condition


@python_implementation
def select(condition: Scalar, if_true: Scalar, if_false: Scalar) -> Scalar:
    """``if_true`` where the bool is true, else ``if_false``; both are computed."""
    if type(if_true) is not type(if_false):
        raise TypeError(f"select: {type(if_true).__name__} and {type(if_false).__name__}")
    return if_true if condition else if_false
