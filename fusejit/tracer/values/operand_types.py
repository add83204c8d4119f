"""Operands of array operations: what they are to NEP 50 and how a payload reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import Kind, canonical_dtype, is_supported
from fusejit.tracer.builder.shapes import Extents
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.program.fallback import Fallback, numpy_raises
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python, unsupported
from fusejit.tracer.values.array import ARRAY_OPS, TracedArray
from fusejit.tracer.values.containers import TracedContainer
from fusejit.tracer.values.masked import MaskedElements
from fusejit.tracer.values.subclass_numbers import number_of_subclass
from fusejit.tracer.values.symbolic_number import SymbolicNumber

BOOL = np.dtype(np.bool_)
F64 = np.dtype(np.float64)
I64 = np.dtype(np.int64)
U64 = np.dtype(np.uint64)
C128 = np.dtype(np.complex128)
_WEAK = {"i": int, "f": float, "c": complex}

_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand: an array, a number of each call, or a number in the program's text.

    ``token`` is what NumPy's promotion sees: a dtype, or the type of a weak Python number.
    """

    token: Any
    array: TracedArray | None = None
    number: SymbolicNumber | None = None
    literal: Any = None

    @property
    def extents(self) -> Extents:
        """The shape."""
        return () if self.array is None else self.array.extents

    @property
    def is_weak_int(self) -> bool:
        """Whether it is a Python int, whose value must fit the loop's dtype."""
        return self.token is int

    @property
    def promotion(self) -> Any:
        """A substitute for ``np.result_type``."""
        if any(self.token is weak for weak in _WEAK.values()):  # not ==: np.dtype("f8") == float
            return self.token(0)
        return self.token


def operand_of(obj: Any) -> Operand:
    """What an operand of an array operation is; falls back objects that are neither."""
    if isinstance(obj, TracedArray):
        if obj.kind is Kind.PYTHON and obj.dtype.kind != "b":
            return Operand(_WEAK[obj.dtype.kind], array=obj)
        return Operand(obj.dtype, array=obj)
    if isinstance(obj, SymbolicNumber):
        if obj.is_strong:
            return Operand(obj.dtype, number=obj)
        kind = type(obj.value)
        return Operand(BOOL if kind is bool else kind, number=obj)
    if type(obj) is bool:
        return Operand(BOOL, literal=obj)
    if type(obj) in (int, float, complex):
        return Operand(type(obj), literal=obj)
    if isinstance(obj, np.generic) and is_supported(obj.dtype):
        return Operand(obj.dtype, literal=obj)
    if type(obj) in (list, tuple):
        if contains_traced(obj):
            return operand_of(ARRAY_OPS.array_of_list(obj))
        try:
            made = np.asarray(obj)
        except (TypeError, ValueError, OverflowError) as error:  # rows of several lengths
            raise numpy_raises(error) from error
        return operand_of(current_trace().captured_reads.constant(made))
    if type(obj) is np.ndarray:
        return operand_of(current_trace().captured_reads.unfollowed(obj))
    if isinstance(obj, MaskedElements):
        return operand_of(obj.selected())
    if isinstance(obj, TracedContainer):
        return operand_of(obj.as_array())
    number = number_of_subclass(obj, Kind.ARRAY)
    if number is not None:
        return Operand(number.dtype, literal=number)
    raise Fallback(f"an operand of type {type(obj).__name__}")


def contains_traced(obj: Any) -> bool:
    """Whether a traced value occurs in nested sequences."""
    if isinstance(obj, list | tuple):
        return any(map(contains_traced, obj))
    return isinstance(obj, TracedArray | SymbolicNumber | TracedContainer)


def supported(dtype: np.dtype) -> np.dtype:
    """The dtype in its canonical form; falls back dtypes that are not compiled."""
    if not is_supported(dtype):
        raise Fallback(f"dtype {dtype}")
    return canonical_dtype(dtype)


def dtype_argument(dtype: Any) -> np.dtype:
    """The ``dtype=`` argument of a function."""
    if isinstance(dtype, TracedArray) and dtype.kind is not Kind.SCALAR:  # it has a dtype itself
        raise numpy_raises("TypeError: an array or a complex number is not a dtype")
    try:
        return supported(np.dtype(dtype))
    except TypeError as error:
        raise numpy_raises(error) from error


def can_cast(dtype: Any, wanted: np.dtype, casting: Any) -> bool:
    """``np.can_cast``; other rules than those about dtypes ask the elements, which NumPy does."""
    if casting not in _CASTINGS:
        raise needs_python(f"casts by the rule {casting!r}", MOVE_OUTSIDE)
    return np.can_cast(dtype, wanted, casting)


def resolve(
    ufunc: np.ufunc, operands: Sequence[Operand], dtype: np.dtype | None = None
) -> tuple[np.dtype, ...]:
    """The loop's dtypes, as NumPy itself resolves them: operands, then the result."""
    tokens = (*(o.token for o in operands), None)
    signature: dict[str, Any] = (
        {} if dtype is None else {"signature": (*(None for _ in operands), dtype)}
    )
    try:
        resolved = ufunc.resolve_dtypes(tokens, **signature)
    except TypeError as error:
        raise numpy_raises(error) from error
    return tuple(map(supported, resolved))


def literal_as(value: Any, dtype: np.dtype) -> Any:
    """A number of the program's text in a loop's dtype, as NumPy converts it."""
    try:
        with np.errstate(all="ignore"):
            made = np.zeros((), dtype)
            made[...] = value
    except (OverflowError, ValueError, TypeError) as error:
        raise numpy_raises(error) from error
    return made.item()


def int_fits(number: SymbolicNumber, dtype: np.dtype) -> tuple[bool, bool]:
    """Decide whether a Python int of each call is (not too small, not too large) for ``dtype``."""
    assert number.affine is not None
    decisions = number.trace.decisions
    info = np.iinfo(dtype)
    if number.is_local and dtype == I64:
        return True, True
    reason = "a Python integer fits the dtype it meets"
    above = decisions.at_most(int(info.min), number.affine, reason)
    if info.max >= np.iinfo(np.int64).max:
        return above, True  # symbols have less than 63 bits
    return above, decisions.at_most(number.affine, int(info.max), reason)


def require_number_fits(operand: Operand, dtype: np.dtype) -> None:
    """Fall back where NumPy would refuse to convert a Python number to ``dtype``."""
    number = operand.number
    if operand.array is not None and operand.array.kind is Kind.PYTHON and dtype.kind in "iu":
        if operand.array.dtype.kind == "f":
            raise unsupported(
                f"stores a float into an array of {dtype}", "convert it with int(...)"
            )
        if dtype != I64 and operand.array.dtype.kind != "b":
            ARRAY_OPS.check_fits(operand.array, dtype)
    if number is None or dtype.kind not in "iu":
        return
    if operand.is_weak_int:
        if not all(int_fits(number, dtype)):
            raise numpy_raises(f"OverflowError: a Python integer does not fit {dtype}")
    elif operand.token is float:
        what = f"fusejit does not store the run-time float {number.expr} into an array of {dtype}"
        raise unsupported(what, "convert it with int(...) outside the decorated function")


def number_ref(builder: PayloadBuilder, ref: int, operand: Operand, dtype: np.dtype) -> int:
    """A run-time number in the loop's dtype: Python ints go to float32 through float64."""
    if operand.is_weak_int and dtype.kind == "f":
        ref = builder.cast(ref, F64)
    return builder.cast(ref, dtype)


def represented_type(obj: Any) -> type:
    """The type of what a traced object stands for."""
    if isinstance(obj, SymbolicNumber):
        return type(obj.value)
    if isinstance(obj, TracedArray):
        if obj.numpy_class is None:
            raise needs_python("asks for the class of an array that may be a memmap", MOVE_OUTSIDE)
        return obj.scalar_type or obj.numpy_class
    return obj.python_type if isinstance(obj, TracedContainer) else type(obj)
