"""Ufuncs: every row of the scalar op table, driven by NumPy's own type resolution."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fusejit.dataclass import replace
from fusejit.ir.host import NUMPY_FUNCTIONS
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.scalar_ops.row import ScalarOp
from fusejit.ir.scalar_ops.scalar_op_table import UFUNC_ROWS
from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import PRIMITIVES, primitive
from fusejit.tracer.host.host_call_tracing import host_call
from fusejit.tracer.host.numpy_forms import with_host_fallback
from fusejit.tracer.np.elementwise.foreign_operands import require_python
from fusejit.tracer.np.numbers.complex_ufuncs import complex_computation, operator_of_power
from fusejit.tracer.np.numbers.python_arithmetic import python_arithmetic
from fusejit.tracer.ops.comparisons import (
    COMPARISONS,
    compare_signed_with_unsigned,
    decide_comparison,
)
from fusejit.tracer.ops.elementwise_op import Compute, emit_elementwise, require_extents
from fusejit.tracer.ops.kernel_numbers import is_kernel_number, is_python_number
from fusejit.tracer.ops.powers import float_power, power
from fusejit.tracer.ops.stores import assign, store_order, store_result
from fusejit.tracer.ops.traced_text import is_string
from fusejit.tracer.ops.union_operators import in_place
from fusejit.tracer.program.fallback import Fallback, numpy_raises
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python, unsupported
from fusejit.tracer.values.array import ARRAY_OPS, TracedArray
from fusejit.tracer.values.broadcasting import broadcast
from fusejit.tracer.values.graph_scalars import scalar_value
from fusejit.tracer.values.masked import MaskedElements
from fusejit.tracer.values.operand_types import (
    BOOL,
    C128,
    F64,
    Operand,
    contains_traced,
    dtype_argument,
    operand_of,
    resolve,
    supported,
)
from fusejit.tracer.values.operator_names import OPERATORS
from fusejit.tracer.values.subclass_numbers import is_of_subclass, number_of_subclass
from fusejit.tracer.values.symbolic_number import (
    SymbolicNumber,
    apply_host,
    is_host_number,
    value_of,
)
from fusejit.tracer.values.union_scalar import is_union_scalar

CLIP: np.ufunc = np._core.umath.clip  # type: ignore[attr-defined]
_IGNORED = {"casting": "same_kind", "order": "K", "subok": True, "where": True}
_HOST_NAMES: dict[np.ufunc, str] = {
    np.add: "add",
    np.subtract: "sub",
    np.multiply: "mul",
    np.true_divide: "truediv",
    np.power: "pow",
    np.negative: "neg",
    np.less: "lt",
    np.less_equal: "le",
    np.greater: "gt",
    np.greater_equal: "ge",
    np.equal: "eq",
    np.not_equal: "ne",
}


def call_method(ufunc: np.ufunc, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``ufunc.method(*args, **kwargs)``, from ``__array_ufunc__``."""
    # `np.int32(3) >= x`: NumPy itself has made an array of the scalar on the left
    args = tuple(a[()] if type(a) is np.ndarray and not a.ndim else a for a in args)
    if method == "__call__":
        handler = PRIMITIVES.get(ufunc) or functools.partial(call_ufunc, ufunc)
        return with_host_fallback(ufunc, handler)(*args, **kwargs)
    bound = getattr(ufunc, method)
    handler = PRIMITIVES.get(bound) or functools.partial(_without_kernel, ufunc, method)
    return with_host_fallback(bound, handler)(*args, **kwargs)


def _without_kernel(ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
    raise unsupported(f"fusejit does not trace np.{ufunc.__name__}.{method}", MOVE_OUTSIDE)


def call_ufunc(
    ufunc: np.ufunc, *args: Any, out: Any = None, dtype: Any = None, **kwargs: Any
) -> Any:
    """A call of a ufunc with its keyword arguments."""
    where = kwargs.pop("where", True)
    is_masked = where is not True and contains_traced([*args, out, where])
    if not is_masked and where is not True:
        kwargs["where"] = where
    for key, value in kwargs.items():
        if key not in _IGNORED:
            raise unsupported(f"np.{ufunc.__name__} with {key}= is not traced", MOVE_OUTSIDE)
        if type(value) is not type(_IGNORED[key]) or value != _IGNORED[key]:
            given = "an array" if isinstance(value, TracedArray) else repr(value)
            remedy = "choose with np.where(mask, x, y) instead" if key == "where" else MOVE_OUTSIDE
            raise unsupported(f"np.{ufunc.__name__} with {key}={given} is not traced", remedy)
    if is_masked:
        return ARRAY_OPS.compute_where(ufunc, args, out, dtype, where)
    masked = next((a for a in args if isinstance(a, MaskedElements)), None)
    if masked is not None:
        options = {} if out is None else {"out": out}
        return masked.__array_ufunc__(ufunc, "__call__", *args, **options, **kwargs)
    if isinstance(out, tuple):
        (out,) = out
    if len(args) == ufunc.nin + 1 and out is None:
        *args, out = args  # type: ignore[assignment]
    if len(args) != ufunc.nin:
        raise numpy_raises(f"TypeError: {ufunc.__name__}() takes {ufunc.nin} arguments")
    if out is None and not contains_traced(list(args)):
        return ufunc(*args) if dtype is None else ufunc(*args, dtype=dtype)
    if out is not None and not isinstance(out, TracedArray):
        raise Fallback("out= is neither an argument nor an array that the function makes")
    wanted = None if dtype is None else dtype_argument(dtype)
    if wanted is None and out is None and all(map(is_host_number, args)):
        name = _HOST_NAMES.get(ufunc)
        if name is not None and any(_is_strong(a) for a in args):
            return apply_host(name, *args)
        if ufunc in NUMPY_FUNCTIONS and _is_double(args[0]):
            return apply_host(f"np_{ufunc.__name__}", *args)
    return apply_ufunc(ufunc, args, out, wanted)


def _is_double(obj: Any) -> bool:
    """Whether a number is a float64 that each call knows before its kernels run."""
    return isinstance(value_of(obj), float) and not getattr(obj, "is_local", False)


def _is_strong(obj: Any) -> bool:
    return isinstance(obj, np.generic) or (isinstance(obj, SymbolicNumber) and obj.is_strong)


def operator_call(
    ufunc: np.ufunc, operands: tuple[Any, ...], out: TracedArray | None = None
) -> Any:
    """A Python operator on arrays; falls back to objects that are not numbers or arrays."""
    operands = _without_subclasses(ufunc, operands)
    if any(map(is_union_scalar, operands)):
        return NotImplemented if out is None else in_place(ufunc, operands, out)
    if len(operands) == 2 and not all(map(_is_operand, operands)):
        if ufunc in (np.equal, np.not_equal):  # Python would fall back to identity
            if any(map(is_kernel_number, operands)) and any(map(is_string, operands)):
                return ufunc is np.not_equal
            foreign = next(type(o).__name__ for o in operands if not _is_operand(o))
            raise Fallback(f"a comparison of an array with a {foreign}")
        for each in operands:
            if not (_is_operand(each) or isinstance(each, MaskedElements)):
                traced = next(o for o in operands if isinstance(o, TracedArray))
                hint = traced.trace.decisions.hint
                if any(hint(e) == 0 for e in traced.extents):  # nothing raises
                    raise needs_python("computes with an object and no elements", MOVE_OUTSIDE)
                require_python(each, traced.kind)
        return NotImplemented
    if ufunc is np.multiply and _is_repetition(*operands):
        return NotImplemented  # Python repeats the list, and asks how often
    operands = _as_complex_takes_them(operands)
    if any(map(is_kernel_number, operands)) and all(map(is_python_number, operands)):
        return python_arithmetic(ufunc, operands)
    if ufunc is np.matmul:
        return PRIMITIVES[np.matmul](*operands, **({} if out is None else {"out": out}))
    if ufunc is np.power and _is_square(*operands):
        return apply_ufunc(np.square, operands[:1], out)
    if ufunc is np.power and _is_complex_array(operands[0]):
        short = operator_of_power(operands[1])
        if short is not None:
            return apply_ufunc(short, operands[:1], out)
    return apply_ufunc(ufunc, operands, out)


def _without_subclasses(ufunc: np.ufunc, operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """The numbers that instances of the user's number classes are beside an array or number."""
    if len(operands) != 2 or not any(map(is_of_subclass, operands)):
        return operands
    kind = next((o.kind for o in operands if isinstance(o, TracedArray)), None)
    if kind is None:
        return operands
    names = [name for name, row in OPERATORS.items() if row is ufunc]
    found = [number_of_subclass(o, kind, at == 0, names) for at, o in enumerate(operands)]
    return tuple(o if n is None else n for o, n in zip(operands, found, strict=True))


def _as_complex_takes_them(operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """``1j - x[0]``: Python's complex numbers take a float64 for the float that it is."""
    if len(operands) != 2 or not isinstance(operands[1], TracedArray):
        return operands
    left, right = operands
    is_complex = type(left) is complex or (
        isinstance(left, TracedArray) and left.kind is Kind.PYTHON and left.dtype.kind == "c"
    )
    if is_complex and right.kind is Kind.SCALAR and right.dtype == F64:
        return left, PRIMITIVES[float](right)
    return operands


def _is_repetition(left: Any, right: Any) -> bool:
    """``[1] * n``: a list times a number, not an array, is repeated, also by NumPy's integers."""
    for items, number in ((left, right), (right, left)):
        if type(items) in (list, tuple) and isinstance(number, TracedArray):
            return number.kind is not Kind.ARRAY
    return False


def _is_square(base: Any, exponent: Any) -> bool:
    """``array ** 2`` is np.square, which for bools gives another dtype than np.power."""
    if not isinstance(base, TracedArray) or base.kind is not Kind.ARRAY:
        return False
    if type(exponent) is int or (
        isinstance(exponent, SymbolicNumber) and type(exponent.value) is int and base.dtype == BOOL
    ):
        return bool(exponent == 2)
    return False


def _is_complex_array(base: Any) -> bool:
    return isinstance(base, TracedArray) and base.kind is Kind.ARRAY and base.dtype.kind == "c"


def _is_operand(obj: Any) -> bool:
    return isinstance(obj, TracedArray | SymbolicNumber | np.generic) or (
        type(obj) in (bool, int, float, complex, np.ndarray, list, tuple)
    )


def ufunc_on(ufunc: np.ufunc, operands: tuple[Any, ...]) -> TracedArray:
    """A ufunc on operands as they are."""
    return apply_ufunc(ufunc, operands)


def apply_ufunc(
    ufunc: np.ufunc,
    args: Sequence[Any],
    out: TracedArray | None = None,
    dtype: np.dtype | None = None,
) -> TracedArray:
    """``ufunc(*args)`` as a generic op, stored into ``out`` where given."""
    operands = [operand_of(a) for a in args]
    if ufunc in COMPARISONS:
        operands = decide_comparison(operands)
    *loop, result = resolve(ufunc, operands, dtype)
    name = _NAMES.get(ufunc, ufunc.__name__)
    special = _SPECIAL.get(ufunc)
    if any(dtype.kind == "c" for dtype in loop):
        known = complex_computation(ufunc, operands, loop)
        if known is None:
            return _by_numpy(ufunc, args, out, dtype)
        compute = known
    elif special is not None:
        compute = special(operands, loop)
    elif ufunc in COMPARISONS and loop[0] != loop[1]:
        compute = compare_signed_with_unsigned(ufunc, loop)
    else:
        compute, loop = _row_computation(ufunc, loop, result)
    if out is None:
        return emit_elementwise(name, operands, loop, result, compute)
    if not np.can_cast(result, out.dtype, "same_kind"):
        raise numpy_raises(f"UFuncTypeError: cannot cast the result of {name} to {out.dtype}")
    shapes = [out.extents, *(o.extents for o in operands)]
    require_extents(broadcast(out.trace.decisions, shapes), out.extents)

    def cast_result(builder: PayloadBuilder, refs: list[int]) -> int:
        return builder.cast(compute(builder, refs), result)

    value = emit_elementwise(
        name,
        operands,
        loop,
        out.dtype,
        cast_result,
        extents=out.extents,
        kind=Kind.ARRAY,
        order=store_order(out),
    )
    assign(out, value)
    return out


def _by_numpy(
    ufunc: np.ufunc, args: Sequence[Any], out: TracedArray | None, dtype: np.dtype | None
) -> TracedArray:
    """A ufunc of complex numbers for which kernels have no form: NumPy runs it between them."""
    options = {} if dtype is None else {"dtype": dtype}
    made = host_call(f"numpy.{ufunc.__name__}", ufunc, args, options)
    assert isinstance(made, TracedArray)
    if out is None:
        return made
    if not np.can_cast(made.dtype, out.dtype, "same_kind"):
        raise numpy_raises(f"UFuncTypeError: cannot cast the result to {out.dtype}")
    return store_result(made, out)


def _first(builder: PayloadBuilder, refs: list[int]) -> int:
    return refs[0]


def _clip(operands: Sequence[Operand], loop: list[np.dtype]) -> Compute:
    """``minimum(maximum(x, low), high)``: NaN if any of the three is NaN."""

    def compute(builder: PayloadBuilder, refs: list[int]) -> int:
        at_least = builder.op("maximum", refs[:2], loop[0])
        return builder.op("minimum", [at_least, refs[2]], loop[0])

    return compute


# Ufuncs that are not the row of their name: (operands, loop) -> what they compute.
_SPECIAL: dict[np.ufunc, Callable[[Sequence[Operand], list[np.dtype]], Compute]] = {
    np.positive: lambda operands, loop: _first,
    np.conjugate: lambda operands, loop: _first,
    np.power: power,
    np.float_power: float_power,
    CLIP: _clip,
}
_NAMES: dict[np.ufunc, str] = {np.positive: "copy"}


def _row_computation(
    ufunc: np.ufunc, loop: list[np.dtype], result: np.dtype
) -> tuple[Compute, list[np.dtype]]:
    """The row of the scalar op table for a ufunc, and the dtypes its operands are cast to."""
    row = UFUNC_ROWS.get(ufunc)
    if row is None:
        raise unsupported(f"fusejit does not trace np.{ufunc.__name__}", MOVE_OUTSIDE)
    loop = _compiled_loop(row, loop, result)

    def compute(builder: PayloadBuilder, refs: list[int]) -> int:
        return builder.op(row.name, refs, result)

    return compute, loop


def _compiled_loop(row: ScalarOp, loop: list[np.dtype], result: np.dtype) -> list[np.dtype]:
    """Operand dtypes for which the row has a template: logical functions take truth values."""
    if len(set(loop)) == 1 and row.template(loop[0]) is not None:
        return loop
    if result == BOOL and len(set(loop)) == 1:
        if set(row.templates) == {"b"}:
            return [BOOL] * len(loop)
        if set(row.templates) == {"f"}:  # isnan of integers
            return [F64] * len(loop)
    what = f"fusejit does not compile np.{row.name} for {', '.join(map(str, loop))}"
    raise unsupported(what, "convert the operands with astype instead")


# ---------------------------------------------------------------------------------------- where
@primitive(np.where, complex=True)
def where(condition: Any, *choices: Any) -> Any:
    """``np.where(condition, x, y)``: choose element by element; of one argument `np.nonzero`."""
    if not choices:
        places: Any = PRIMITIVES[np.nonzero](condition)
        return places
    if len(choices) != 2:
        raise numpy_raises("ValueError: either both or neither of x and y should be given")
    if not contains_traced([condition, *choices]):
        result: TracedArray = np.where(condition, *choices)
        return result
    operands = [operand_of(a) for a in (condition, *choices)]
    dtype = np.result_type(*(o.promotion for o in operands[1:]))
    dtype = supported(dtype)
    operands[1:] = map(_as_converted, operands[1:])  # not as in arithmetic: 300 becomes 44 in uint8

    def compute(builder: PayloadBuilder, refs: list[int]) -> int:
        chosen = [builder.cast(ref, dtype) for ref in refs[1:]]
        return builder.op("select", [builder.cast(refs[0], BOOL), *chosen], dtype)

    first = operands[0]
    if first.array is not None:
        loop = first.array.dtype
    elif first.number is not None:
        loop = scalar_value(first.number).type.dtype
    else:
        loop = BOOL
    loops = [loop, *(dtype if o.array is not None else o.token for o in operands[1:])]
    return emit_elementwise("where", operands, loops, dtype, compute, kind=Kind.ARRAY)


def _as_converted(operand: Operand) -> Operand:
    """A Python number as ``np.asarray`` makes it: strong, so that it is cast, never refused."""
    if operand.is_weak_int:
        if operand.literal is not None:
            return operand_of(np.asarray(operand.literal)[()])
        return replace(operand, token=np.dtype(np.int64))
    if operand.token is complex:
        return replace(operand, token=C128)
    return replace(operand, token=F64) if operand.token is float else operand


# ----------------------------------------------------------------------------- other names, rows
@primitive(abs, complex=True)
def absolute(x: Any) -> Any:
    """``abs(x)``."""
    return abs(x)


def _register() -> None:
    def handler(ufunc: np.ufunc) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            return call_ufunc(ufunc, *args, **kwargs)

        call.__name__ = ufunc.__name__
        return call

    for ufunc in [*UFUNC_ROWS, np.float_power, np.conjugate, *OPERATORS.values()]:
        if ufunc not in PRIMITIVES and ufunc is not np.matmul:
            primitive(ufunc, complex=ufunc.nout == 1)(handler(ufunc))


_register()
