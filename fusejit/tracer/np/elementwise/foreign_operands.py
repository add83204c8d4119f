"""Operands of Python's operators that are neither numbers nor arrays, such as ``Decimal``.

NumPy computes with them element by element, which is not traced: Python runs the statement. A
number of Python's comes as a whole to the method of the program's class, and that is traced. Where
no class of the two can compute, both raise.
"""

from __future__ import annotations

import enum
import fractions
import types
from typing import Any

from fusejit.ir.types import Kind
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python
from fusejit.tracer.values.masked import MaskedElements
from fusejit.tracer.values.operand_types import contains_traced
from fusejit.tracer.values.operator_names import OPERATORS
from fusejit.tracer.values.symbolic_number import SymbolicNumber
from fusejit.tracer.values.undefined import Undefined
from fusejit.tracer.values.union_scalar import UnionScalar

_OF_NO_ARITHMETIC = (type(None), str, bytes, dict, set, frozenset, list, tuple)
_REFLECTED = [f"__{prefix}{name}__" for name in OPERATORS for prefix in ("", "r")]


def require_python(foreign: Any, kind: Kind) -> None:
    """Raise where Python is to run an operator on ``foreign`` and a traced value of this kind.

    Raises
    ------
    NeedsPython
        If there may be a result, which is not traced.
    """
    type_ = type(foreign)
    if isinstance(foreign, _OF_NO_ARITHMETIC) or contains_traced(foreign):
        return
    if isinstance(foreign, Undefined):
        return  # says itself what it is
    if getattr(type_, "__array_ufunc__", True) is None:
        return  # NumPy leaves it to its methods
    if kind is Kind.PYTHON and _is_of_the_program(type_):
        return
    what = f"an operand of type {type_.__name__}, with which NumPy computes item by item"
    raise needs_python(what, MOVE_OUTSIDE)


def not_a_number(op: str, number: SymbolicNumber, other: Any) -> Any:
    """An operator on a number of the call, which gives way to arrays and to other classes."""
    if number.is_strong and op != "mul" and isinstance(other, str | bytes | list | tuple):
        what = f"an operand of type {type(other).__name__}, which NumPy converts to an array"
        raise needs_python(what, MOVE_OUTSIDE)
    if not isinstance(other, UnionScalar | MaskedElements):
        require_python(other, Kind.SCALAR if number.is_strong else Kind.PYTHON)
    return NotImplemented


def _is_of_the_program(type_: type) -> bool:
    """Whether a class has operators written in Python that take a traced value.

    Those of Fraction and Enum check the type of the operand.
    """
    if issubclass(type_, fractions.Fraction | enum.Enum):
        return False
    methods = (vars(base).get(name) for base in type_.__mro__ for name in _REFLECTED)
    return any(isinstance(method, types.FunctionType) for method in methods)
