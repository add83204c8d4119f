"""Math functions of generated source: names, Python implementations, and NumPy's rules for powers.

Every name is NumPy's own name for the function. Operands of a call have one dtype, float32 or
float64 (`maximum`, `minimum`, `fmax`, `fmin`: integers and booleans too), and so has the result.
Numba is not imported here.

======================================  =======================================================
names                                   jitted meaning
======================================  =======================================================
rows of `math_table.MATH_FUNCTIONS`     C library, in vectors where libmvec has them (`probe`)
sqrt fabs floor ceil trunc rint         LLVM intrinsics; NumPy's bits
copysign
maximum minimum fmax fmin               LLVM intrinsics, or compare and select for integers
======================================  =======================================================

Powers
------
What NumPy 2.4 computes for ``x ** p`` and ``np.power(x, p)``, for float32 and float64, found by
comparing bits (tests/codegen/test_vector_math.py does so again):

=======================================  =====  ===============================================
exponent ``p``                           value  bits of
=======================================  =====  ===============================================
uniform: Python number, NumPy scalar,    2      ``x * x``
0-d, length-1 or broadcast array (all    0.5    ``sqrt(x)``: nan for -inf, -0.0 for -0.0
that have stride 0); base an array       -1     ``1 / x``
..                                       1      ``x``
..                                       0      ``1``, also for nan
..                                       other  ``pow(x, p)``, also 3, 4, -2, 1.5, -0.5
array that varies along the loop         any    ``pow(x[i], p[i])``, also where ``p[i]`` is 2;
                                                ``(-inf) ** 0.5`` is inf, ``(-0.0) ** 0.5`` 0.0
any; base a NumPy scalar                 any    ``pow(x, p)``
=======================================  =====  ===============================================

`fusejit.tracer.ops.powers` has the first five.

Numerics
--------
At most 4 ulp; docs/semantics.md has the measured table. The bits of an element do not depend on
its position, on chunks, threads or the vector width of the loop. They do depend on the CPU's
widest vectors and on the C library.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.codegen.intrinsics.intrinsic_table import jit_path, register
from fusejit.ir.scalar_ops.scalar_op_table import MATH_FUNCTIONS

Scalar = Any

EXACT_FUNCTIONS = ("sqrt", "fabs", "floor", "ceil", "trunc", "rint", "copysign")
"""Float functions with NumPy's bits."""

EXTREMA = ("maximum", "minimum", "fmax", "fmin")
"""The first two return NaN if either operand is NaN, the last two only if both are."""


def _checked(name: str, kinds: str, operands: tuple[Scalar, ...]) -> tuple[np.generic, ...]:
    # A Python float stands for float64, as in jitted code.
    values = tuple(np.float64(x) if type(x) is float else x for x in operands)
    dtypes = {getattr(x, "dtype", np.dtype(object)) for x in values}
    if len(dtypes) != 1 or dtypes.pop().kind not in kinds:
        raise TypeError(f"{name}: operands are {[type(x).__name__ for x in operands]}")
    return values


def _of_numpy(name: str, kinds: str, evaluate: Callable[..., Scalar]) -> Callable[..., Scalar]:
    def function(*operands: Scalar) -> Scalar:
        values = _checked(name, kinds, operands)
        with np.errstate(all="ignore"):
            return values[0].dtype.type(evaluate(*values))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{name}`` of NumPy scalars of one dtype, without floating-point warnings."
    return function


def _with_ordered_zeros(name: str) -> Callable[..., Scalar]:
    """As jitted: -0.0 < 0.0, so that the order of a reduction does not show (NumPy: either)."""
    ufunc: np.ufunc = getattr(np, name)

    def evaluate(x: Scalar, y: Scalar) -> Scalar:
        if x.dtype.kind == "f" and x == 0 and y == 0:
            return x + y if ufunc(0, 1) == 1 else -(-x - y)
        return ufunc(x, y)

    return evaluate


def _power(x: Scalar, y: Scalar) -> Scalar:
    """``pow``: NumPy takes `np.power` with one exponent for sqrt where that is 0.5."""
    return np.power(np.array([x]), np.array([y]))[0]


_IMPLEMENTED_HERE: dict[str, Callable[..., Scalar]] = {
    "erf": math.erf,
    "erfc": math.erfc,
    "power": _power,
    **{name: _with_ordered_zeros(name) for name in EXTREMA},
}


def _register_all() -> None:
    for name in (*MATH_FUNCTIONS, *EXACT_FUNCTIONS, *EXTREMA):
        kinds = "fiub" if name in EXTREMA else "f"
        evaluate = _IMPLEMENTED_HERE.get(name) or getattr(np, name)
        register(name, _of_numpy(name, kinds, evaluate), jit_path(__name__, name))


_register_all()
