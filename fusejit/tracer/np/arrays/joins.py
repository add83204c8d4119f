"""``concatenate`` and its family: one buffer, one store for each part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import PRIMITIVES, primitive
from fusejit.tracer.builder.trace import Trace, current_trace
from fusejit.tracer.indexing.basic import require_int_fits, require_scalar_fits
from fusejit.tracer.indexing.creation import array_from
from fusejit.tracer.indexing.view_functions import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    normalize_axis,
    permuted,
)
from fusejit.tracer.np.arrays.parts import ZERO, new_array, section, store
from fusejit.tracer.ops.elementwise_op import array_of_number, copy_of, full, require_extents
from fusejit.tracer.ops.join_order import joined_order
from fusejit.tracer.ops.lengths import require_some
from fusejit.tracer.program.fallback import Fallback, numpy_raises
from fusejit.tracer.program.locations import needs_python, unsupported
from fusejit.tracer.values.array import ARRAY_OPS, TracedArray
from fusejit.tracer.values.containers import TracedContainer
from fusejit.tracer.values.operand_types import (
    can_cast,
    contains_traced,
    dtype_argument,
    operand_of,
    supported,
)
from fusejit.tracer.values.symbolic_number import value_of
from fusejit.tracer.values.traced_primitives import primitive_of

_REMEDY = "make an array of it: np.array(xs)"


def sequence_of(arrays: Any, name: str) -> list[Any]:
    """The items of a sequence of arrays; an array is the sequence of its rows."""
    if isinstance(arrays, TracedArray):
        return list(arrays)
    if isinstance(arrays, list | tuple):
        return list(arrays)
    if isinstance(arrays, np.ndarray):
        return list(array_from(arrays))
    if isinstance(arrays, TracedContainer):
        raise needs_python(f"joins the items of a container by np.{name}", _REMEDY)
    raise numpy_raises(f"TypeError: the argument of {name} is no sequence")


# ------------------------------------------------------------- the arrays in a list of the kernel
def _items_of(container: Any, name: str, out: Any, dtype: Any) -> TracedArray:
    """The array of the items; Python runs calls that convert it, or store it into another array."""
    if out is not None or dtype is not None:
        raise needs_python(f"joins the arrays of a list by np.{name} with out= or dtype=", _REMEDY)
    size = container.size()
    if type(size) is int and not size:
        raise numpy_raises(f"ValueError: need at least one array to {name}")
    require_some(size)
    made: TracedArray = container.as_array()
    return made


def _moved(items: TracedArray, axis: Any) -> TracedArray:
    """The first axis, which counts the items, as another one."""
    at = normalize_axis(axis, items.ndim)
    if not at:
        return items
    axes = (*range(1, at + 1), 0, *range(at + 1, items.ndim))
    return copy_of(permuted(items, axes), items.dtype, None, "copy", Kind.ARRAY)


def _joined_items(items: TracedArray, axis: Any) -> TracedArray:
    """The items one after the other along an axis of theirs."""
    if items.ndim == 1:
        raise numpy_raises("ValueError: zero-dimensional arrays cannot be concatenated")
    at = None if axis is None else normalize_axis(axis, items.ndim - 1)
    if at is None or items.ndim == 2:
        return ARRAY_OPS.reshape(items, -1, copy=False).as_owner()
    shape: tuple[Any, ...] = items.shape
    before, others = shape[1 : at + 1], shape[at + 2 :]
    joined = (*before, shape[0] * shape[at + 1], *others)
    return ARRAY_OPS.reshape(_moved(items, at), joined, copy=False).as_owner()


@primitive(np.concatenate, complex=True)
def concatenate(
    arrays: Any,
    /,
    axis: Any = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: Any = "same_kind",
) -> Any:
    """``np.concatenate``: one buffer, each part stored into its place.

    The axes lie in memory as those of the parts do (K order), see `joined_order`.
    """
    if isinstance(arrays, TracedContainer):
        return _joined_items(_items_of(arrays, "concatenate", out, dtype), axis)
    given = sequence_of(arrays, "concatenate")
    if not contains_traced(given) and out is None:
        return NotImplemented
    if axis is None:
        return _flattened(given, out, dtype, casting)
    parts = [array_from(a) for a in given]
    if not parts:
        raise numpy_raises("ValueError: need at least one array to concatenate")
    if not parts[0].ndim:
        raise numpy_raises("ValueError: zero-dimensional arrays cannot be concatenated")
    axis = normalize_axis(axis, parts[0].ndim)
    promoted = [p.dtype for p in parts]
    return join(parts, axis, out, _result_dtype(parts, promoted, out, dtype, casting))


def _flattened(given: list[Any], out: Any, dtype: Any, casting: Any) -> TracedArray:
    """``axis=None``: all parts flattened in C order, scalars among them."""
    operands = [operand_of(a) for a in given]
    if not operands:
        raise numpy_raises("ValueError: need at least one array to concatenate")
    parts: list[TracedArray] = [PRIMITIVES[np.ravel](array_from(a)) for a in given]
    promoted = [o.promotion for o in operands]
    return join(parts, 0, out, _result_dtype(parts, promoted, out, dtype, casting))


def _result_dtype(
    parts: Sequence[TracedArray], promoted: Sequence[Any], out: Any, dtype: Any, casting: Any
) -> np.dtype:
    if out is not None and dtype is not None:
        raise numpy_raises("TypeError: concatenate() only takes `out` or `dtype`, not both")
    if out is not None and not isinstance(out, TracedArray):
        raise Fallback("out= is neither an argument nor an array that the function makes")
    if out is not None:
        wanted = out.dtype
    elif dtype is not None:
        wanted = dtype_argument(dtype)
    else:
        wanted = supported(np.result_type(*promoted))
    for part in parts:
        if not can_cast(part.dtype, wanted, casting):
            raise numpy_raises(f"TypeError: Cannot cast {part.dtype} to {wanted}: {casting}")
    return wanted


def join(parts: Sequence[TracedArray], axis: int, out: Any, dtype: np.dtype) -> TracedArray:
    """The parts one after the other along an axis."""
    trace = parts[0].trace
    decisions = trace.decisions
    for part in parts[1:]:
        if part.ndim != parts[0].ndim:
            raise numpy_raises("ValueError: all the input array dimensions must match exactly")
        for k, (a, b) in enumerate(zip(parts[0].extents, part.extents, strict=True)):
            if k != axis and not decisions.equal(
                a, b, "arrays that are joined have one shape", or_raises=True
            ):
                raise numpy_raises("ValueError: all the input array dimensions except one match")
    ends = [ZERO]
    for part in parts:
        ends.append(decisions.canonical(ends[-1] + part.extents[axis]))
    _order_ends(trace, [p.extents[axis] for p in parts])
    extents = list(parts[0].extents)
    extents[axis] = ends[-1]
    if out is not None:
        require_extents(tuple(extents), out.extents)
        result: TracedArray = out
    else:
        order = joined_order(parts, axis)
        if len(parts) == 1:
            return copy_of(parts[0], dtype, order, "copy", Kind.ARRAY)
        result = new_array(tuple(extents), dtype, order)
    # as in NumPy, a part that shares memory with `out` is read when those before it are stored
    for start, part in zip(ends, parts, strict=False):
        store(section(result, axis, start, part.extents[axis]), part)
    return result


def _order_ends(trace: Trace, lengths: Sequence[AffineExpr]) -> None:
    """Know that parts of fixed lengths are together no longer than any other one.

    What reads neighbours in the joined array is then cut into regions whose order is known.
    """
    fixed = [trace.decisions.constant(n) for n in lengths]
    total = sum(n for n in fixed if n is not None)
    for n, known in zip(lengths, fixed, strict=True):
        if total and known is None:
            trace.decisions.nonnegative(n - total, "short parts beside a long one")


# --------------------------------------------------------------------------------- stacked arrays
@primitive(np.stack, complex=True)
def stack(
    arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind"
) -> Any:
    """``np.stack``: arrays of one shape along a new axis."""
    if isinstance(arrays, TracedContainer):
        return _moved(_items_of(arrays, "stack", out, dtype), axis)
    given = sequence_of(arrays, "stack")
    if not contains_traced(given) and out is None:
        return NotImplemented
    parts = [_as_array(a) for a in given]
    if not parts:
        raise numpy_raises("ValueError: need at least one array to stack")
    for part in parts[1:]:
        same = part.ndim == parts[0].ndim and all(
            part.trace.decisions.equal(
                a, b, "arrays that are stacked have one shape", or_raises=True
            )
            for a, b in zip(part.extents, parts[0].extents, strict=True)
        )
        if not same:
            raise numpy_raises("ValueError: all input arrays must have the same shape")
    at = normalize_axis(axis, parts[0].ndim + 1)
    index = (slice(None),) * at + (None, Ellipsis)
    expanded = [p[index] for p in parts]
    return concatenate(expanded, at, out, dtype=dtype, casting=casting)


def _as_array(obj: Any) -> TracedArray:
    return array_of_number(array_from(obj))


def _at_least(function: Any, given: list[Any]) -> list[TracedArray]:
    return [function(_as_array(a)) for a in given]


@primitive(np.vstack, complex=True)
def vstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    """``np.vstack``: along the first axis, arrays of rank 1 as rows."""
    if isinstance(tup, TracedContainer):
        items = _items_of(tup, "vstack", None, dtype)
        if items.ndim == 1:
            return ARRAY_OPS.reshape(items, (-1, 1), copy=False).as_owner()
        return items if items.ndim == 2 else _joined_items(items, 0)
    given = sequence_of(tup, "vstack")
    if not contains_traced(given):
        return NotImplemented
    return concatenate(_at_least(atleast_2d, given), 0, dtype=dtype, casting=casting)


@primitive(np.hstack, complex=True)
def hstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    """``np.hstack``: along the second axis, arrays of rank 1 along their only one."""
    if isinstance(tup, TracedContainer):
        items = _items_of(tup, "hstack", None, dtype)
        return items if items.ndim == 1 else _joined_items(items, 0 if items.ndim == 2 else 1)
    given = sequence_of(tup, "hstack")
    if not contains_traced(given):
        return NotImplemented
    parts = _at_least(atleast_1d, given)
    return concatenate(parts, 0 if parts[0].ndim == 1 else 1, dtype=dtype, casting=casting)


@primitive(np.dstack, complex=True)
def dstack(tup: Any) -> Any:
    """``np.dstack``: along the third axis."""
    given = sequence_of(tup, "dstack")
    if not contains_traced(given):
        return NotImplemented
    return concatenate(_at_least(atleast_3d, given), 2)


@primitive(np.column_stack, complex=True)
def column_stack(tup: Any) -> Any:
    """``np.column_stack``: along the second axis, arrays of rank 1 as columns."""
    given = sequence_of(tup, "column_stack")
    if not contains_traced(given):
        return NotImplemented
    columns = []
    for array in map(_as_array, given):
        if array.ndim < 2:
            array = atleast_2d(array)
            array = permuted(array, (1, 0))
        columns.append(array)
    return concatenate(columns, 1)


@primitive_of("arr values", np.append, complex=True)
def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """``np.append``: two arrays joined, flattened without ``axis``."""
    first, second = _as_array(arr), _as_array(values)
    if axis is None:
        ravel = PRIMITIVES[np.ravel]
        return concatenate([ravel(first), ravel(second)], 0)
    return concatenate([first, second], axis)


@primitive_of("arr obj values", np.insert, complex=True)
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """``np.insert`` of numbers, or of a vector, before one place of a vector."""
    array, at = _as_array(arr), value_of(obj)
    given = _inserted(values, array.dtype)
    is_vector = array.ndim == 1 and given.ndim == 1 and axis in (None, 0, -1)
    if not is_vector or isinstance(at, bool) or not isinstance(at, int | np.integer):
        what = "np.insert but of numbers at one place of a vector is not traced"
        raise unsupported(what, "join the parts with np.concatenate instead")
    size: Any = array.shape[0]
    if obj < -size or obj > size:
        raise numpy_raises(f"IndexError: index {at} is out of bounds")
    place = obj + size if obj < 0 else obj
    return concatenate([array[:place], given, array[place:]], 0)


def _inserted(values: Any, dtype: np.dtype) -> TracedArray:
    """``np.array(values, dtype, ndmin=1)``: a Python integer has to fit."""
    if not contains_traced([values]):
        try:
            made: TracedArray = current_trace().captured_reads.constant(
                np.array(values, dtype, ndmin=1)
            )
            return made
        except (OverflowError, ValueError, TypeError) as error:
            raise numpy_raises(error) from error
    require_int_fits(operand_of(values), dtype)
    if isinstance(values, TracedArray):
        vector: TracedArray = atleast_1d(ARRAY_OPS.astype(values, dtype))
        return vector
    made = array_from(values)
    result = new_array(made.extents or (AffineExpr.const(1),), dtype)
    store(result, values)
    return result


# --------------------------------------------------------------------------- lists of traced values
def array_of_list(obj: Any, dtype: np.dtype | None = None) -> TracedArray:
    """``np.array`` of nested lists with traced numbers and arrays in them."""
    parts = [_item(o, dtype) for o in obj]
    shapes = {p.ndim for p in parts}
    if len(shapes) != 1:
        raise numpy_raises("ValueError: setting an array element with a sequence")
    trace = current_trace()
    for part in parts[1:]:
        for a, b in zip(parts[0].extents, part.extents, strict=True):
            if not trace.decisions.equal(a, b, "items of a list have one shape", or_raises=True):
                raise numpy_raises("ValueError: setting an array element with a sequence")
    wanted = dtype or supported(np.result_type(*(p.dtype for p in parts)))
    extents = (AffineExpr.const(len(parts)), *parts[0].extents)
    result = new_array(extents, wanted)
    for at, part in enumerate(parts):
        store(section(result, 0, at, 1)[0, ...], part)
    return result


def _item(obj: Any, dtype: np.dtype | None) -> TracedArray:
    if isinstance(obj, list | tuple) and contains_traced(obj):
        return array_of_list(obj, dtype)
    if dtype is not None and dtype.kind in "iu" and not isinstance(obj, list | tuple):
        operand = operand_of(obj)
        require_scalar_fits(operand, dtype)
        if operand.array is None:  # known before the kernel runs
            return full((), operand, dtype, name="array")
    return array_from(obj)
