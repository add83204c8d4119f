"""Functions that read or store at integer places: take, choose, put_along_axis, ``ufunc.at``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.payload import I64, PayloadBuilder
from fusejit.ir.scalar_ops.scalar_op_table import UFUNC_ROWS
from fusejit.ir.types import Kind
from fusejit.ir.write_access import WriteAccess
from fusejit.tracer.builder.primitives import PRIMITIVES, primitive
from fusejit.tracer.indexing.basic import require_int_fits
from fusejit.tracer.indexing.creation import array_from
from fusejit.tracer.indexing.gathers import Picked, check_that, converted, gather, pick, scatter
from fusejit.tracer.indexing.index_arrays import index_array
from fusejit.tracer.indexing.reshape_functions import reshape_method
from fusejit.tracer.indexing.view_functions import array_operand, normalize_axis, target_operand
from fusejit.tracer.ops.axis_order import result_order
from fusejit.tracer.ops.elementwise_op import copy_of, emit_elementwise
from fusejit.tracer.ops.stores import require_writeable, store_result
from fusejit.tracer.program.fallback import Fallback, numpy_raises
from fusejit.tracer.program.locations import MOVE_OUTSIDE, unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.broadcasting import broadcast, broadcast_map
from fusejit.tracer.values.operand_types import BOOL, Operand, operand_of, resolve


# ------------------------------------------------------------------------------------------ reading
@primitive(np.take, complex=True)
def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Any:
    """``np.take``: along one axis, or of all elements in C order; a fresh C array, or ``out``."""
    array = array_operand(a)
    if isinstance(out, TracedArray) and out.ndim:
        if not np.can_cast(out.dtype, array.dtype, "safe"):
            raise numpy_raises("TypeError: Cannot cast array data according to the rule 'safe'")
        made = take(array, indices, axis, None, mode)
        if made.ndim != out.ndim:
            raise numpy_raises("ValueError: output array does not match result of ndarray.take")
        return store_result(made, out)
    if out is not None:
        raise Fallback(
            "out= is of rank 0, or is neither an argument nor an array that the function makes"
        )
    if axis is None:
        array, axis = PRIMITIVES[np.ravel](array), 0
    axis = normalize_axis(axis, array.ndim)
    places = _integers(indices, array, axis, mode)
    index = (*(slice(None),) * axis, places)
    if not places.ndim:
        places = _as_scalar(places)
        index = (*index[:-1], places)
    picked = pick(array, index, [*(None,) * axis, places])
    return gather(array, Picked(picked.extents, picked.subscripts, picked.has_slices, None))


def _integers(indices: Any, array: TracedArray, axis: int, mode: Any) -> TracedArray:
    """The places along an axis, those out of bounds handled as ``mode`` says."""
    places = array_from(indices)
    if places.dtype.kind not in "iub":
        raise numpy_raises("TypeError: Cannot cast array data according to the rule 'safe'")
    if mode == "raise":
        return places
    if mode not in ("wrap", "clip"):
        raise Fallback(f"np.take with mode={mode!r}")
    decisions = array.trace.decisions
    size = decisions.canonical(array.extents[axis])
    if decisions.equal(size, 0, "the axis that is taken from is empty"):
        raise numpy_raises("IndexError: cannot do a non-empty take from an empty axes.")

    def within(builder: PayloadBuilder, refs: list[int]) -> int:
        if mode == "wrap":
            return builder.op("remainder", [refs[0], builder.index(size)], I64)
        low = builder.op("maximum", [refs[0], builder.const(0, I64)], I64)
        return builder.op("minimum", [low, builder.index(size - 1)], I64)

    extents, kind = places.extents, places.kind
    return emit_elementwise(mode, [places], [I64], I64, within, extents=extents, kind=kind)


def _as_scalar(places: TracedArray) -> TracedArray:
    """An index of rank 0 as the number that it is."""
    if places.kind is Kind.SCALAR:
        return places
    return copy_of(places, places.dtype, None, "copy", Kind.SCALAR)


def _along(name: str, array: TracedArray, indices: Any, axis: int) -> Picked:
    """The places of ``take_along_axis``: integers along one axis, each position's own elsewhere."""
    places = index_array(indices)
    if places is None:
        raise numpy_raises("IndexError: `indices` must be an integer array")
    if places.ndim != array.ndim:
        raise numpy_raises(f"ValueError: {name}: `indices` and `arr` must have the same dimensions")
    trace = array.trace
    decisions = trace.decisions
    one = AffineExpr.const(1)
    others = tuple(one if d == axis else e for d, e in enumerate(array.extents))
    extents = broadcast(decisions, [others, places.extents])
    to_places = broadcast_map(decisions, places.extents, extents)
    subscripts: list[AffineExpr | tuple[TracedArray, Any]] = []
    for d, extent in enumerate(array.extents):
        if d == axis:
            subscripts.append((places, to_places))
        else:
            is_one = decisions.constant(extent) == 1
            subscripts.append(AffineExpr.const(0) if is_one else AffineExpr.dim(d))
    return Picked(extents, tuple(subscripts), False, result_order(trace, [places], extents))


@primitive(np.take_along_axis, complex=True)
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> TracedArray:
    """``out[i, j, k] = arr[i, indices[i, j, k], k]`` along axis 1, for example."""
    array = array_operand(arr)
    if axis is None:
        array, axis = PRIMITIVES[np.ravel](array), 0
    return gather(
        array, _along("take_along_axis", array, indices, normalize_axis(axis, array.ndim))
    )


@primitive(np.choose)
def choose(a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> TracedArray:
    """``out[i] = choices[a[i]][i]``: one select per choice."""
    if out is not None or mode not in ("raise", "wrap", "clip"):
        raise unsupported("np.choose with out= is not traced", "assign: out[...] = np.choose(..)")
    selector = array_operand(a)
    trace = selector.trace
    if isinstance(choices, TracedArray):
        count = trace.decisions.exactly(choices.extents[0], "the number of choices")
        choices = [choices[k] for k in range(count)]
    arrays = [array_operand(c) for c in choices]
    if not arrays or not np.can_cast(selector.dtype, I64, "safe"):
        raise numpy_raises("TypeError or ValueError: no choices, or no integers")
    last = len(arrays) - 1
    if mode == "raise":
        check_that(trace, selector, _choice_reach, AffineExpr.const(last + 1), error="choice")
    dtype = np.result_type(*(c.dtype for c in arrays))

    def chosen(builder: PayloadBuilder, refs: list[int]) -> int:
        at = refs[0]
        if mode == "wrap":
            at = builder.op("remainder", [at, builder.const(last + 1, I64)], I64)
        result = refs[-1]
        for k in reversed(range(last)):
            compare = "equal" if mode != "clip" or k else "less_equal"
            here = builder.op(compare, [at, builder.const(k, I64)], BOOL)
            result = builder.op("select", [here, refs[1 + k], result], dtype)
        return result

    operands, loop = [selector, *arrays], [I64, *(dtype for _ in arrays)]
    made = emit_elementwise("choose", operands, loop, dtype, chosen, kind=Kind.ARRAY, order=None)
    return made if made.ndim else made[()]


def _choice_reach(builder: PayloadBuilder, ref: int, dtype: np.dtype) -> int:
    """The entry itself, a negative one as the largest of all integers."""
    is_negative = builder.op("less", [ref, builder.const(0, dtype)], BOOL)
    largest = builder.const(np.iinfo(dtype).max, dtype)
    return builder.op("select", [is_negative, largest, ref], dtype)


# ------------------------------------------------------------------------------------------ storing
@primitive(np.put_along_axis)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """``arr[i, indices[i, j, k], k] = values[i, j, k]`` along axis 1, for example."""
    target = target_operand(arr)
    require_writeable(target)
    if axis is None:
        raise unsupported("np.put_along_axis with axis=None", "use x.reshape(-1)[i] = v")
    picked = _along("put_along_axis", target, indices, normalize_axis(axis, target.ndim))
    scatter(target, picked, converted(target, picked, operand_of(values)))


@primitive(np.put)
def put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> None:
    """``a.ravel()[ind] = v`` into ``a`` itself; values are as many as places, or one."""
    array = target_operand(a)
    require_writeable(array)
    flat = array if array.ndim == 1 else reshape_method(array, -1)
    if flat.storage.root.copied_from or flat.storage.root is not array.storage.root:
        raise Fallback("np.put into an array that is not contiguous")
    places = _integers(ind, flat, 0, mode)
    values = operand_of(v)
    require_int_fits(values, flat.dtype)
    if values.array is not None and values.array.ndim:
        decisions = flat.trace.decisions
        same = values.array.ndim == places.ndim == 1 and decisions.equal(
            values.array.extents[0], places.extents[0], "as many values as places"
        )
        if not same:
            raise unsupported("np.put repeats its values", "use x.ravel()[i] = v")
    places = places if places.ndim else _as_scalar(places)
    picked = pick(flat, (places,), [places])
    scatter(flat, picked, converted(flat, picked, values))


def _at(ufunc: np.ufunc) -> Callable[..., None]:
    def at(a: Any, indices: Any, b: Any = None) -> None:
        target = target_operand(a)
        if target.stores is not WriteAccess.WRITEABLE:  # NumPy stores into it all the same
            what = f"np.{ufunc.__name__}.at into a read-only array is not traced"
            raise unsupported(what, MOVE_OUTSIDE)
        require_writeable(target)
        index = indices if isinstance(indices, tuple) else (indices,)
        if any(getattr(i, "dtype", None) == BOOL or isinstance(i, bool) for i in index):
            what = f"np.{ufunc.__name__}.at with a mask is not traced"
            raise unsupported(what, "x[mask] op= v does the same")
        integers = list(map(index_array, index))
        if all(i is None for i in integers):
            what = f"np.{ufunc.__name__}.at without an array of integers is not traced"
            raise unsupported(what, "use x[...] op= v")
        operand = operand_of(b)
        dtypes = resolve(ufunc, [Operand(target.dtype, array=target), operand])
        if set(dtypes) != {target.dtype}:
            raise Fallback(f"np.{ufunc.__name__}.at that computes in {dtypes[-1]}")
        picked = pick(target, index, integers)
        value = converted(target, picked, operand, order=None)
        scatter(target, picked, value, UFUNC_ROWS[ufunc].name)

    at.__doc__ = f"``np.{ufunc.__name__}.at(a, indices, b)``: repeated indices count each time."
    return at


for _ufunc in (
    np.add,
    np.subtract,
    np.multiply,
    np.true_divide,
    np.maximum,
    np.minimum,
    np.fmax,
    np.fmin,
    np.bitwise_and,
    np.bitwise_or,
    np.bitwise_xor,
):
    primitive(_ufunc.at)(_at(_ufunc))
