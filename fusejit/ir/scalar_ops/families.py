"""What rows of the table have in common: numbers of identities, and families of rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fusejit.ir.scalar_ops import mlir_forms, op_ranges
from fusejit.ir.scalar_ops.combiners import COMBINERS
from fusejit.ir.scalar_ops.evaluation import of_numbers
from fusejit.ir.scalar_ops.math_functions import MathFunction
from fusejit.ir.scalar_ops.row import Identity, ScalarOp


# ------------------------------------------------------------------------------------ identities
def zero(dtype: np.dtype) -> Any:
    """0, or False."""
    return False if dtype.kind == "b" else 0


def one(dtype: np.dtype) -> Any:
    """1, or True."""
    return True if dtype.kind == "b" else 1


def minus_zero(dtype: np.dtype) -> Any:
    """The zero that added to any zero leaves it: -0.0 of floats."""
    return -0.0 if dtype.kind == "f" else 0


lowest = COMBINERS["max"].identity
"""No number is less."""

highest = COMBINERS["min"].identity
"""No number is larger."""


def all_ones(dtype: np.dtype) -> Any:
    """The integer of which all bits are set."""
    return True if dtype.kind == "b" else -1 if dtype.kind == "i" else np.iinfo(dtype).max


def true(dtype: np.dtype) -> bool:
    """True, whatever the operands are."""
    return True


def false(dtype: np.dtype) -> bool:
    """False, whatever the operands are."""
    return False


def neutral(kinds: str, number: Callable[[np.dtype], Any], is_symmetric: bool = True) -> Identity:
    """``op(x, number)`` is ``x``."""
    return Identity(kinds, number, is_symmetric=is_symmetric)


def absorbing(kinds: str, number: Callable[[np.dtype], Any]) -> Identity:
    """``op(x, number)`` is the number."""
    return Identity(kinds, number, number)


def itself(kinds: str, result: Callable[[np.dtype], Any] | None = None) -> Identity:
    """``op(x, x)`` is ``x``, or a number."""
    return Identity(kinds, None, result)


# ---------------------------------------------------------------------------------- kinds of rows
def of_numpy(
    ufunc: np.ufunc, templates: Mapping[str, str], cost_ns: float = 0.1, **columns: Any
) -> ScalarOp:
    """A function of NumPy, under its name."""
    return ScalarOp(ufunc.__name__, ufunc, ufunc.nin, templates, cost_ns, **columns)


def arithmetic(symbol: str, wrapping: str) -> dict[str, str]:
    """Integers that wrap around (Numba's own are widened, and undefined where they overflow)."""
    exact = f"{wrapping}({{0}}, {{1}})"
    return {"i": exact, "u": exact, "f": f"({{0}} {symbol} {{1}})"}


def floating(text: str) -> dict[str, str]:
    """A template for floats alone."""
    return {"f": text}


def integral(text: str, **others: str) -> dict[str, str]:
    """A template for integers; ``others`` by dtype class."""
    return {**dict.fromkeys("iu", text), **others}


Times = tuple[float, float]


def math_function(
    given: Callable[..., Any],
    libm: str,
    cost_ns: float,
    scalar_ns: Times,
    vector_ns: Times,
    *,
    mlir: str = "",
    **how: Any,
) -> ScalarOp:
    """A function of the C library, in vectors where there are such: see `MathFunction`.

    It is a ufunc, or one of Python's module `math` that NumPy has not, of one number.
    """
    ufunc = given if isinstance(given, np.ufunc) else None
    name, arity = given.__name__, 1 if ufunc is None else ufunc.nin
    function = MathFunction(name, libm, arity, scalar_ns, vector_ns, **how)
    return ScalarOp(
        name,
        ufunc,
        arity,
        floating(f"{name}({', '.join(f'{{{k}}}' for k in range(arity))})"),
        cost_ns,
        exact=False,
        math=function,
        function=of_numbers(given) if ufunc is None else None,
        host=libm if hasattr(math, libm) and name != "power" else "",
        mlir=mlir_forms.of_floats(f"math.{mlir}", arity) if mlir else {},
    )


def extremes(ufunc: np.ufunc, **columns: Any) -> ScalarOp:
    """The larger or smaller of two."""
    name = ufunc.__name__
    bools = "({0} | {1})" if name in ("maximum", "fmax") else "({0} & {1})"
    templates = {"b": bools, **dict.fromkeys("iuf", f"{name}({{0}}, {{1}})")}
    identities = (*columns.pop("identities", ()), itself("biuf"))
    return of_numpy(ufunc, templates, 0.15, identities=identities, **columns)


def rounding(ufunc: np.ufunc) -> ScalarOp:
    """A function that leaves integers as they are."""
    name = ufunc.__name__
    return of_numpy(
        ufunc,
        {**dict.fromkeys("biu", "{0}"), "f": f"{name}({{0}})"},
        mlir=mlir_forms.of_floats(f"math.{name}"),
    )


def integers(
    ufunc: np.ufunc, function: str, cost_ns: float, floating: str = "", **columns: Any
) -> ScalarOp:
    """A function of two integers, which `codegen.intrinsics.arithmetic` has."""
    templates = integral(f"{function}({{0}}, {{1}})", **({"f": floating} if floating else {}))
    return of_numpy(ufunc, templates, cost_ns, **columns)


def compared(
    ufunc: np.ufunc,
    symbol: str,
    host: str,
    mlir: mlir_forms.Forms,
    identity: Identity,
    **columns: Any,
) -> ScalarOp:
    """A comparison, of any two numbers of one dtype."""
    return of_numpy(
        ufunc,
        dict.fromkeys("biuf", f"({{0}} {symbol} {{1}})"),
        is_few_instructions=True,
        identities=(identity,),
        host=host,
        mlir=mlir,
        **columns,
    )


def logical(ufunc: np.ufunc, symbol: str, *identities: Identity, mlir: str = "") -> ScalarOp:
    """A connective of bools."""
    return of_numpy(
        ufunc,
        {"b": f"({{0}} {symbol} {{1}})"},
        is_few_instructions=True,
        commutative=True,
        identities=identities,
        mlir={"b": mlir_forms.binary(mlir)} if mlir else {},
    )


def bitwise(
    ufunc: np.ufunc,
    symbol: str,
    of_bools: str,
    host: str,
    range_of: Callable[..., op_ranges.Range],
    mlir: str,
    *identities: Identity,
) -> ScalarOp:
    """An operation on the bits of integers, and on bools."""
    return of_numpy(
        ufunc,
        integral(f"{{T}}({{0}} {symbol} {{1}})", b=f"({{0}} {of_bools} {{1}})"),
        is_few_instructions=True,
        commutative=True,
        identities=identities,
        range_of=range_of,
        keeps_low_bits=True,
        host=host,
        mlir=mlir_forms.by_class(mlir, mlir, boolean=mlir),
    )
