"""`ScalarOp`: all that the compiler knows of one elementwise function, and what columns hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass, field
from fusejit.ir.scalar_ops.evaluation import extremum, power
from fusejit.ir.scalar_ops.math_functions import MathFunction
from fusejit.ir.scalar_ops.op_overflow import Question
from fusejit.ir.scalar_ops.op_ranges import Range

Lines = tuple[str, ...]
"""Operations of MLIR: see `fusejit.mlir.export.mlir_op_table` for what stands in braces."""

_BOOL = np.dtype(np.bool_)

EXTREMA = ("maximum", "minimum", "fmax", "fmin")
"""Rows of which NumPy does not say which of two zeros they return."""


@dataclass(frozen=True, eq=False)
class Identity:
    """What an op of an operand and a certain number is, where that needs no computation.

    Attributes
    ----------
    kinds : str
        Dtype kinds of operands for which it holds.
    number : callable
        The second operand, given the dtype; None: the first one again.
    result : callable or None
        The number that comes out, given the dtype; None: the first operand.
    is_symmetric : bool
        Whether the two operands may stand the other way round.
    """

    kinds: str
    number: Callable[[np.dtype], Any] | None
    result: Callable[[np.dtype], Any] | None = None
    is_symmetric: bool = True


@dataclass(frozen=True, eq=False)
class ScalarOp:
    """One elementwise function: ``result = ufunc(operands)``.

    Parameters
    ----------
    name : str
        Name in printed IR.
    ufunc : np.ufunc or None
        NumPy's function of the same meaning; decides result dtypes. None where there is none.
    arity : int
        Number of operands.
    templates : mapping
        Dtype class to Python expression (see `fusejit.ir.scalar_ops.scalar_op_table`). A missing
        class is not compiled.
    cost_ns : float
        Rough time per element when vectorised, for the cost model.
    is_few_instructions : bool
        Whether it is a few instructions without a jump, and raises nothing: cheaper than a branch.
    commutative : bool
        Whether the operands may be swapped without changing a bit.
    exact : bool
        Whether kernels give NumPy's bits; otherwise within 4 ulp.
    math : MathFunction or None
        The function of the C library, and its forms in vectors, where it is one.
    scalar_templates : mapping
        Templates for numbers on their own, where other code is faster than what vectorises.
    function : callable or None
        What it computes on scalars or arrays, where that is no ufunc of NumPy's.
    identities : tuple of Identity
        Tried in this order. Those that look at how operands were made are in
        `fusejit.fuse.canonical.identities`.
    opposite, opposite_if_ordered : str
        The comparison that is true where this one is false; for operands of which none is a NaN.
    range_of : callable or None
        What it makes of ranges of integers, if these had no end.
    keeps_low_bits : bool
        Whether the low bits of a result follow from those of the operands: those of shifts from
        the first one's.
    fits : callable or None
        The question whether what wraps at 64 bits is what Python computes.
    host : str
        The op of `fusejit.ir.host` that Python computes on numbers.
    mlir : mapping
        Dtype class to its operations in MLIR.
    mlir_defines : callable or None
        Whether MLIR defines the operation for a constant second operand, given the dtype; None
        where it does for all operands.
    """

    name: str
    ufunc: np.ufunc | None
    arity: int
    templates: Mapping[str, str]
    cost_ns: float = 0.1
    is_few_instructions: bool = False
    commutative: bool = False
    exact: bool = True
    math: MathFunction | None = None
    scalar_templates: Mapping[str, str] = field(default_factory=dict)
    function: Callable[..., Any] | None = None
    identities: tuple[Identity, ...] = ()
    opposite: str = ""
    opposite_if_ordered: str = ""
    range_of: Callable[..., Range] | None = None
    keeps_low_bits: bool = False
    fits: Callable[[Question], int] | None = None
    host: str = ""
    mlir: Mapping[str, Lines] = field(default_factory=dict)
    mlir_defines: Callable[[int, np.dtype], bool] | None = None

    def evaluate(self, operands: Sequence[Any], dtype: np.dtype) -> Any:
        """Compute with NumPy, on scalars or arrays whose dtypes are the loop's."""
        if self.function is not None:
            return self.function(*operands)
        if self.ufunc is None:
            condition, if_true, if_false = operands
            return np.where(condition, if_true, if_false).astype(dtype)[()]
        if self.name in EXTREMA and dtype.kind == "f":
            return extremum(self.ufunc, *operands)
        if self.name == "power" and dtype.kind == "f":
            base, exponent = operands
            return power(base, exponent, dtype)
        return self.ufunc(*operands, dtype=None if dtype == _BOOL else dtype)

    def template(self, dtype: np.dtype, *, scalar_form: bool = False) -> str | None:
        """The template for operands of ``dtype``, or None where it is not compiled.

        ``scalar_form``: for numbers on their own, where no loop could be vectorised.
        """
        if scalar_form and dtype.kind in self.scalar_templates:
            return self.scalar_templates[dtype.kind]
        return self.templates.get(dtype.kind)
