"""Python numbers that only the kernel knows: computed from induction variables and elements.

They are traced arrays of rank 0 whose kind is `Kind.PYTHON`: weak in NEP 50, and combined with
each other they follow Python's rules for numbers (``1 / 2`` is a float, ``True + True`` is 2).
Integers have 64 bits.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import fusejit.tracer.runtime.builtin_functions  # noqa: F401  its handlers are there first
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.scalar_ops.scalar_op_table import HOST_ROWS
from fusejit.ir.types import Kind
from fusejit.tracer.elementwise.domains import check_convertible, check_divisor, check_domain
from fusejit.tracer.elementwise.elementwise_op import emit_scalar
from fusejit.tracer.graph_breaks.fallback import Fallback, numpy_raises
from fusejit.tracer.runtime.active_trace import current_trace
from fusejit.tracer.runtime.locations import unsupported
from fusejit.tracer.runtime.primitives import PRIMITIVES, primitive
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import BOOL, C128, F64, I64, Operand, operand_of
from fusejit.tracer.values.symbolic_number import SymbolicNumber, apply_host, is_host_number
from fusejit.tracer.values.union_scalar import is_union_scalar

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


@primitive("kernel_number")
def kernel_number(number: SymbolicNumber) -> TracedArray:
    """A number that depends on symbols of a block as a value of the kernel."""
    trace = number.trace
    if number.affine is None:
        assert number.condition is not None
        kind, affine, negated = number.condition
        left = kernel_number(SymbolicNumber.of_affine(trace, affine))
        ufunc = {("ge", False): np.greater_equal, ("ge", True): np.less}.get((kind, negated))
        ufunc = ufunc or (np.not_equal if negated else np.equal)
        compared: TracedArray = as_python(PRIMITIVES["operator"](ufunc, (left, 0)))
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


@primitive("int_value")
def int_value(number: TracedArray) -> Any:
    """An integer of the kernel as a value of dtype int64."""
    if number.dtype.kind not in "iub":
        raise numpy_raises("TypeError: an integer is needed")
    return python_number(number, I64).value()


def as_python(result: Any) -> Any:
    """A number that an operator of NumPy's has made, as Python's own."""
    if isinstance(result, TracedArray) and not result.ndim:
        result.value().kind = Kind.PYTHON
        result.kind = Kind.PYTHON
    return result


# ------------------------------------------------------------------------------------- arithmetic
_UFUNCS: dict[str, np.ufunc | None] = {
    "pos": np.positive,
    **{name: row.ufunc for name, row in HOST_ROWS.items()},
}
_PYTHON_OPERATORS = frozenset(
    [
        *(np.add, np.subtract, np.multiply, np.true_divide, np.floor_divide, np.remainder),
        *(np.power, np.left_shift, np.right_shift, np.bitwise_and, np.bitwise_or, np.bitwise_xor),
        *(np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal),
        *(np.minimum, np.maximum, np.negative, np.positive, np.invert, np.absolute),
    ]
)
_ON_BOOLS = {np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.logical_and, np.logical_not}
_DIVISIONS = {np.true_divide, np.floor_divide, np.remainder}
_LARGEST_PRODUCT = 4  # the exponent up to which a power of an int is a product
_FLOAT_ONLY = frozenset(_UFUNCS) - {op for op, f in _UFUNCS.items() if f in _PYTHON_OPERATORS}
"""Functions of `math`: their arguments are converted to floats."""


@primitive("kernel_arithmetic")
def kernel_arithmetic(op: str, operands: tuple[Any, ...]) -> Any:
    """A row of `HOST_OPS` in the kernel."""
    if op == "pow" and all(number_type(o) == (Kind.PYTHON, I64) for o in operands):
        return _integer_power(*operands)  # which asks for the bounds of an induction variable
    operands = tuple(
        kernel_number(o) if isinstance(o, SymbolicNumber) and o.is_local else o for o in operands
    )
    if op in ("int", "float", "truth"):
        kind = {"int": I64, "float": F64, "truth": BOOL}[op]
        if op == "int":
            _check_convertible(operands[0])
        return python_number(operands[0], kind)
    if op in _ROUNDED:
        return _rounded(op, operands[0])
    if op in _FLOAT_ONLY:
        operands = tuple(python_number(o, F64) for o in operands)
        check_domain(op, *operands)
    if op not in _UFUNCS:
        raise unsupported(f"computes {op} of a number of the kernel", "use a NumPy function")
    ufunc = _UFUNCS[op]
    if ufunc is None:
        row = HOST_ROWS[op].name  # a function of `math` that NumPy has not
        return emit_scalar(op, operands, [F64], F64, lambda b, refs: b.op(row, refs, F64))
    return PRIMITIVES["operator"](ufunc, operands)


def python_arithmetic(ufunc: np.ufunc, operands: tuple[Any, ...]) -> Any:
    """An operator on Python numbers of which one is known only in the kernel."""
    kinds = [number_type(o)[1] for o in operands]
    if not (ufunc in _ON_BOOLS and all(k == BOOL for k in kinds)):
        operands = tuple(
            python_number(o, I64) if k == BOOL else o for o, k in zip(operands, kinds, strict=True)
        )
    if ufunc is np.bitwise_and:
        _decide_signs(operands)
    if ufunc in _DIVISIONS and not _needs_kernel(operands[1]) and operands[1] == 0:
        raise numpy_raises("ZeroDivisionError")
    if C128 in kinds:
        base = as_kernel_number(operands[0], Kind.PYTHON, C128)
        if ufunc is np.power:  # only by an int that is known
            return PRIMITIVES["python_complex"](ufunc, [base], operands[1])
        others = [as_kernel_number(o, Kind.PYTHON, C128) for o in operands[1:]]
        return PRIMITIVES["python_complex"](ufunc, [base, *others], None)
    if ufunc in _DIVISIONS and _needs_kernel(operands[1]):
        divisor = as_kernel_number(operands[1])
        operands = (operands[0], divisor)
        check_divisor(ufunc, divisor, any(k == F64 for k in kinds))
    if ufunc is np.power:
        if all(k != F64 for k in kinds):
            return _integer_power(*operands)
        if not _is_product(operands[1]):
            return PRIMITIVES["python_float_power"](*operands)
    return _on_strong(ufunc, operands)


def _decide_signs(operands: tuple[Any, ...]) -> None:
    """Masks that each call knows are told from negative numbers: then only low bits count."""
    for operand in operands:
        if isinstance(operand, SymbolicNumber) and not operand.is_local:
            is_int = type(operand.value) is int
            if is_int and bool(apply_host("ge", operand, 0)):
                trace = current_trace()
                trace.nonnegative.add(trace.scalar(operand))


def _integer_power(base: Any, exponent: Any) -> Any:
    if type(exponent) is not int:
        return PRIMITIVES["integer_power"](base, exponent)
    if exponent < 0:
        return PRIMITIVES["python_float_power"](base, exponent)
    if exponent > _LARGEST_PRODUCT:
        return PRIMITIVES["integer_power"](base, exponent)
    if exponent > 1:
        return functools.reduce(lambda x, y: _on_strong(np.multiply, (x, y)), [base] * exponent)
    return _on_strong(np.power, (base, exponent))


def _on_strong(ufunc: np.ufunc, operands: tuple[Any, ...]) -> Any:
    """The ufunc's loop for int64 or float64."""
    kernel = tuple(as_kernel_number(o) if isinstance(o, SymbolicNumber) else o for o in operands)
    strong = tuple(_strong(o) for o in kernel)
    return as_python(PRIMITIVES["ufunc_on"](ufunc, strong))


def _is_product(exponent: Any) -> bool:
    """Whether a power of a float is as many factors, of which no overflow is noticed."""
    is_known = type(exponent) in (int, float)
    return is_known and 0 <= exponent <= _LARGEST_PRODUCT and exponent == int(exponent)


def arithmetic(ufunc: np.ufunc, *operands: Any) -> TracedArray:
    """An operator on numbers, of which one is known only in the kernel."""
    result = PRIMITIVES["operator"](ufunc, operands)
    assert isinstance(result, TracedArray)
    return result


def _strong(obj: Any) -> Any:
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
        return as_python(PRIMITIVES["operator"](np.not_equal, (_strong(number), 0)))
    return as_kernel_number(number, Kind.PYTHON, dtype)


def _check_convertible(number: Any) -> None:
    if is_kernel_number(number) and number.dtype.kind == "f":
        check_convertible(number)


_ROUNDED = {"floor": np.floor, "ceil": np.ceil, "round": np.rint, "trunc": np.trunc}


def _rounded(op: str, number: Any) -> Any:
    number = as_kernel_number(number)
    if op == "round" and number.kind is Kind.SCALAR and number.dtype == BOOL:
        raise numpy_raises("TypeError: type numpy.bool doesn't define __round__ method")
    if number.dtype.kind != "f":
        return as_kernel_number(number, Kind.PYTHON, I64)
    _check_convertible(number)
    whole = PRIMITIVES["ufunc_on"](_ROUNDED[op], (_strong(number),))
    return as_kernel_number(whole, Kind.PYTHON, I64)


def truth_of(obj: Any) -> Any:
    """What a condition asks: a bool if it is known here, else a kernel number of dtype bool."""
    if isinstance(obj, TracedArray):
        if obj.ndim:
            raise unsupported("asks for the truth of an array", "use .any() or .all()")
        if obj.dtype == BOOL:
            return obj
        return PRIMITIVES["operator"](np.not_equal, (_strong(obj), 0))
    if isinstance(obj, SymbolicNumber) and obj.is_local:
        return truth_of(kernel_number(obj))
    return PRIMITIVES["union_truth"](obj) if is_union_scalar(obj) else bool(obj)


def _register_truths() -> None:
    """``any`` and ``all`` of numbers: of all of them, where Python may stop early."""

    def wrap(function: Callable[..., Any], ufunc: np.ufunc) -> None:
        def call(items: Any) -> Any:
            if isinstance(items, TracedArray):
                if items.ndim != 1:
                    return NotImplemented
                named = np.all if function is builtins.all else np.any
                return python_number(PRIMITIVES[named](items), BOOL)
            result: Any = function is builtins.all
            for item in items:
                truth = truth_of(item)
                if isinstance(truth, TracedArray):
                    is_first = not isinstance(result, TracedArray)
                    result = truth if is_first else arithmetic(ufunc, result, truth)
                elif truth is (function is builtins.any):
                    return truth
            return python_number(result, BOOL) if isinstance(result, TracedArray) else result

        call.__name__ = function.__name__
        PRIMITIVES[function] = call

    wrap(builtins.any, np.logical_or)
    wrap(builtins.all, np.logical_and)


def _register_conversions() -> None:
    def wrap(function: Callable[..., Any], op: str) -> None:
        before = PRIMITIVES[function]

        def call(*args: Any, **kwargs: Any) -> Any:
            if len(args) == 1 and not kwargs and is_kernel_number(args[0]):
                return kernel_arithmetic(op, args)
            return before(*args, **kwargs)

        call.__name__ = function.__name__
        PRIMITIVES[function] = call

    table: dict[Callable[..., Any], str] = {
        builtins.bool: "truth",
        builtins.int: "int",
        builtins.float: "float",
        builtins.round: "round",
    }
    for function, op in table.items():
        wrap(function, op)


def _register_extrema() -> None:
    def wrap(function: Callable[..., Any], ufunc: np.ufunc) -> None:
        before = PRIMITIVES[function]

        def call(*args: Any, **kwargs: Any) -> Any:
            items = args[0] if len(args) == 1 and isinstance(args[0], list | tuple) else args
            if kwargs or not any(map(_needs_kernel, items)) or not all(map(is_number, items)):
                return before(*args, **kwargs)
            return functools.reduce(lambda best, item: chosen(best, item, ufunc), items)

        call.__name__ = function.__name__
        PRIMITIVES[function] = call

    wrap(builtins.min, np.less)
    wrap(builtins.max, np.greater)


def _needs_kernel(obj: Any) -> bool:
    return is_kernel_number(obj) or (isinstance(obj, SymbolicNumber) and obj.is_local)


@primitive("chosen")
def chosen(best: Any, item: Any, ufunc: np.ufunc) -> Any:
    """``item if item < best else best``, as Python's ``min`` compares."""
    if is_union_scalar(best) or is_union_scalar(item) or number_type(best) != number_type(item):
        return PRIMITIVES["one_of_two"](best, item, ufunc)
    kind, dtype = number_type(best)
    numbers = [as_kernel_number(o, kind) for o in (best, item)]
    operands = [Operand(dtype, array=_strong(n)) for n in numbers]
    name = ufunc.__name__

    def compute(builder: PayloadBuilder, refs: list[int]) -> int:
        takes_item = builder.op(name, [refs[1], refs[0]], BOOL)
        return builder.op("select", [takes_item, refs[1], refs[0]], dtype)

    made = "min" if ufunc is np.less else "max"
    return emit_scalar(made, operands, [dtype, dtype], dtype, compute, kind)


_register_truths()
_register_conversions()
_register_extrema()
