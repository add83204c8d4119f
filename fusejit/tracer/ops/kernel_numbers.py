"""Python numbers that only the kernel knows: computed from induction variables and elements.

They are traced arrays of rank 0 whose kind is `Kind.PYTHON`: weak in NEP 50, and combined with
each other they follow Python's rules for numbers (``1 / 2`` is a float, ``True + True`` is 2).
Integers have 64 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import Kind
from fusejit.tracer.ops.elementwise_op import emit_scalar
from fusejit.tracer.program.fallback import Fallback, numpy_raises
from fusejit.tracer.program.locations import unsupported
from fusejit.tracer.values.array import ARRAY_OPS, TracedArray
from fusejit.tracer.values.containers import TracedContainer
from fusejit.tracer.values.operand_types import BOOL, C128, F64, I64, Operand, operand_of
from fusejit.tracer.values.symbolic_number import SymbolicNumber, is_host_number
from fusejit.tracer.values.union_scalar import UNION_OPS, is_union_scalar

_OF_TYPE = {bool: BOOL, int: I64, float: F64, complex: C128}


def is_kernel_number(obj: Any) -> bool:
    """Whether it is a number that only the kernel knows: Python's or NumPy's."""
    return isinstance(obj, TracedArray) and obj.kind is not Kind.ARRAY


def is_python_number(obj: Any) -> bool:
    """Whether the program sees a Python number, wherever it is known."""
    if isinstance(obj, TracedArray):
        return obj.kind is Kind.PYTHON
    if isinstance(obj, SymbolicNumber):
        return not obj.is_strong
    return type(obj) in _OF_TYPE


def is_number(obj: Any) -> bool:
    """Whether the program sees a number: Python's or NumPy's, known here or not."""
    return is_kernel_number(obj) or is_host_number(obj) or type(obj) is complex


def number_type(obj: Any) -> tuple[Kind, np.dtype]:
    """Kind and dtype of a number."""
    if isinstance(obj, TracedArray):
        return obj.kind, obj.dtype
    value = obj.value if isinstance(obj, SymbolicNumber) else obj
    if isinstance(value, np.generic):
        return Kind.SCALAR, value.dtype
    return Kind.PYTHON, _OF_TYPE[type(value)]


def kernel_number(number: SymbolicNumber) -> TracedArray:
    """A number that depends on symbols of a block as a value of the kernel."""
    trace = number.trace
    if number.affine is None:
        assert number.condition is not None
        kind, affine, negated = number.condition
        left = kernel_number(SymbolicNumber.of_affine(trace, affine))
        ufunc = {("ge", False): np.greater_equal, ("ge", True): np.less}.get((kind, negated))
        ufunc = ufunc or (np.not_equal if negated else np.equal)
        compared: TracedArray = as_python(ARRAY_OPS.operator(ufunc, (left, 0)))
        return compared
    builder = PayloadBuilder([], [I64])
    payload = builder.finish([builder.index(trace.decisions.canonical(number.affine))])
    result = trace.new_value(I64, (), Kind.PYTHON)
    return TracedArray.of_value(trace, trace.emit_generic("index", result, (), payload))


def as_kernel_number(
    obj: Any, kind: Kind | None = None, dtype: np.dtype | None = None
) -> TracedArray:
    """A number as a value of the kernel, of the given kind and dtype."""
    if isinstance(obj, SymbolicNumber) and obj.is_local:
        obj = kernel_number(obj)
    own = number_type(obj)
    kind, dtype = kind or own[0], dtype or own[1]
    if isinstance(obj, TracedArray) and own == (kind, dtype):
        return obj
    operand = operand_of(obj)
    loop = operand.array.dtype if operand.array is not None else dtype
    return emit_scalar(
        "number", [operand], [loop], dtype, lambda b, refs: b.cast(refs[0], dtype), kind
    )


def int_value(number: TracedArray) -> Any:
    """An integer of the kernel, or a bool of Python's, as a value of dtype int64."""
    is_integer = number.dtype.kind in "iu" or (number.dtype == BOOL and number.kind is Kind.PYTHON)
    if not is_integer:
        raise numpy_raises("TypeError: an integer is needed")
    return python_number(number, I64).value()


def as_python(result: Any) -> Any:
    """A number that an operator of NumPy's has made, as Python's own."""
    if isinstance(result, TracedArray) and not result.ndim:
        result.value().kind = Kind.PYTHON
        result.kind = Kind.PYTHON
    return result


# ------------------------------------------------------------------------------------- arithmetic


def arithmetic(ufunc: np.ufunc, *operands: Any) -> TracedArray:
    """An operator on numbers, of which one is known only in the kernel."""
    result = ARRAY_OPS.operator(ufunc, operands)
    assert isinstance(result, TracedArray)
    return result


def as_strong(obj: Any) -> Any:
    """A kernel number whose dtype counts: Python's arithmetic here is on int64 and float64."""
    if isinstance(obj, TracedArray):
        return TracedArray(obj.storage, obj.map, obj.extents, Kind.SCALAR)
    return obj


def python_number(obj: Any, dtype: np.dtype) -> Any:
    """``int(x)``, ``float(x)`` or ``bool(x)`` of a number."""
    if not is_kernel_number(obj) and not (isinstance(obj, SymbolicNumber) and obj.is_local):
        return {"i": int, "f": float, "b": bool}[dtype.kind](obj)
    number = as_kernel_number(obj)
    if number.dtype.kind == "c" and dtype != BOOL:
        raise numpy_raises("TypeError: a complex number as a real one, or NumPy's warning")
    if dtype == I64 and number.dtype.kind == "u" and number.dtype.itemsize == 8:
        raise Fallback("an unsigned 64-bit element as a Python integer")
    if dtype == BOOL and number.dtype != BOOL:
        return as_python(ARRAY_OPS.operator(np.not_equal, (as_strong(number), 0)))
    return as_kernel_number(number, Kind.PYTHON, dtype)


def truth_of(obj: Any) -> Any:
    """What a condition asks: a bool if it is known here, else a kernel number of dtype bool."""
    if isinstance(obj, TracedArray):
        if obj.ndim:
            raise unsupported("asks for the truth of an array", "use .any() or .all()")
        if obj.dtype == BOOL:
            return obj
        return ARRAY_OPS.operator(np.not_equal, (as_strong(obj), 0))
    if isinstance(obj, SymbolicNumber) and obj.is_local:
        return truth_of(kernel_number(obj))
    if isinstance(obj, TracedContainer):
        return obj.truth()
    return UNION_OPS.truth(obj) if is_union_scalar(obj) else bool(obj)


def needs_kernel(obj: Any) -> bool:
    """Whether a number is known only in the kernel."""
    return is_kernel_number(obj) or (isinstance(obj, SymbolicNumber) and obj.is_local)


def is_kernel_integer(obj: Any) -> bool:
    """Whether it is an integer that is known only in the kernel."""
    return needs_kernel(obj) and number_type(obj)[1].kind in "iu"


def chosen(best: Any, item: Any, ufunc: np.ufunc) -> Any:
    """``item if item < best else best``, as Python's ``min`` compares."""
    if is_union_scalar(best) or is_union_scalar(item) or number_type(best) != number_type(item):
        return UNION_OPS.one_of_two(best, item, ufunc)
    kind, dtype = number_type(best)
    numbers = [as_kernel_number(o, kind) for o in (best, item)]
    operands = [Operand(dtype, array=as_strong(n)) for n in numbers]
    name = ufunc.__name__

    def compute(builder: PayloadBuilder, refs: list[int]) -> int:
        takes_item = builder.op(name, [refs[1], refs[0]], BOOL)
        return builder.op("select", [takes_item, refs[1], refs[0]], dtype)

    made = "min" if ufunc is np.less else "max"
    return emit_scalar(made, operands, [dtype, dtype], dtype, compute, kind)
