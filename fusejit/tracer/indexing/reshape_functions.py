"""``reshape``, ``ravel`` and ``flatten``: views where NumPy gives views, copies where it copies.

An axis that is split by constants is an affine view, ``(d0, d1) -> (2 * d0 + d1)``. Everything
else is a storage of its own in the memory of the array's (`fusejit.tracer.indexing.reshaped`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr, Dim
from fusejit.ir.host import HostExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.reassociation import Reassociation
from fusejit.ir.types import Kind
from fusejit.ir.values import Layout
from fusejit.ir.write_access import WriteAccess
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.shapes import Extents
from fusejit.tracer.indexing.extent_products import product
from fusejit.tracer.indexing.reassociate import Group, finest, match_axes, new_extents
from fusejit.tracer.indexing.reshaped import reshaped_storage
from fusejit.tracer.indexing.view_functions import array_of_scalar, array_operand, permuted
from fusejit.tracer.ops.axis_order import result_order
from fusejit.tracer.ops.elementwise_op import copy_of
from fusejit.tracer.program.fallback import Fallback, numpy_raises
from fusejit.tracer.program.locations import needs_python, unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.storage import Storage
from fusejit.tracer.values.symbolic_number import affine_number


# ------------------------------------------------------------------------------------- functions
@primitive(np.reshape, complex=True)
def reshape_function(a: Any, /, shape: Any, order: Any = "C", *, copy: Any = None) -> TracedArray:
    """``np.reshape(a, shape)``."""
    return _reshape(array_operand(a), _sizes(shape), order, copy)


@primitive(np.ndarray.reshape, complex=True)
def reshape_method(
    array: TracedArray, *shape: Any, order: Any = "C", copy: Any = None
) -> TracedArray:
    """``a.reshape(2, -1)`` or ``a.reshape((2, -1))``."""
    if not shape:
        raise numpy_raises("TypeError: reshape() takes a shape")
    return _reshape(array, _sizes(shape[0] if len(shape) == 1 else shape), order, copy)


@primitive(np.ravel, complex=True)
def ravel(a: Any, order: Any = "C") -> TracedArray:
    """``np.ravel``: a view of a contiguous array, else a copy."""
    array = _ordered(*_in_memory_order(array_of_scalar(array_operand(a)), order), "ravel")
    core = without_ones(array)
    is_copied = not is_contiguous(core)
    if is_copied:
        core = _contiguous_copy(core)
    result = _reshaped(core, (product(core.trace, core.extents),), None)
    return result.as_owner() if is_copied else result


@primitive(np.ndarray.flatten, complex=True)
def flatten(array: TracedArray, order: Any = "C") -> TracedArray:
    """``a.flatten()``: always a copy."""
    core = without_ones(_ordered(*_in_memory_order(array_of_scalar(array), order), "flatten"))
    core = _contiguous_copy(core, is_decided=False)
    return _reshaped(core, (product(core.trace, core.extents),), None).as_owner()


def _sizes(shape: Any) -> Sequence[Any]:
    if isinstance(shape, np.ndarray):
        return tuple(shape.tolist()) if shape.ndim else (int(shape),)
    if isinstance(shape, TracedArray):
        what = "a shape that is an array is known only when compiled code runs"
        raise unsupported(what, "pass the sizes as Python ints")
    return tuple(shape) if isinstance(shape, tuple | list | range) else (shape,)


def _ordered(array: TracedArray, order: Any, name: str) -> TracedArray:
    """The array whose C order is the wanted order."""
    if order in ("C", "c", None):
        return array
    if order in ("F", "f"):
        return permuted(array, tuple(range(array.ndim))[::-1])
    raise numpy_raises(f"ValueError: order of {name} must be one of C, F, A, K (got {order!r})")


def resolved_order(array: TracedArray, order: Any) -> Any:
    """``order="A"``: Fortran's of an array that is laid out so; of one axis it has no say."""
    if order not in ("A", "a"):
        return order
    is_fortran = array.ndim > 1 and not is_in_order(array, "C") and is_in_order(array, "F")
    return "F" if is_fortran else "C"


def _in_memory_order(array: TracedArray, order: Any) -> tuple[TracedArray, Any]:
    """``order="K"``: the axes as they lie in memory, whose C order that is; no negative steps."""
    if order not in ("K", "k"):
        return array, resolved_order(array, order)
    # as a copy is made: an axis of a broadcast array stays where it is
    axes = result_order(array.trace, [array], array.extents)
    return (array if axes is None else permuted(array, axes)), "C"


def _reshape(array: TracedArray, shape: Sequence[Any], order: Any, copy: Any) -> TracedArray:
    if array.kind is Kind.SCALAR and not len(shape):
        return array
    array = array_of_scalar(array)
    order = resolved_order(array, order)
    if order in ("F", "f"):
        reverse = _ordered(array, "F", "reshape")
        result = _reshape(reverse, tuple(shape)[::-1], "C", copy)
        return permuted(result, tuple(range(result.ndim))[::-1])
    array = _ordered(array, order, "reshape")
    extents = new_extents(array.trace, array.extents, shape)
    if copy:
        array = _contiguous_copy(array, is_decided=False)
    return _reshaped(array, extents, copy)


# ------------------------------------------------------------------------------------- mechanism
def without_ones(array: TracedArray) -> TracedArray:
    """The array without the axes that are known to have length 1."""
    constant = array.trace.decisions.constant
    ones = [constant(e) == 1 for e in array.extents]
    if not any(ones):
        return array
    return array[(*(0 if one else slice(None) for one in ones), Ellipsis)]


def _reshaped(array: TracedArray, extents: Extents, copy: Any) -> TracedArray:
    """``array`` with other extents, in C order."""
    trace = array.trace
    core = without_ones(array)
    kept = [k for k, e in enumerate(extents) if trace.decisions.constant(e) != 1]
    wanted = tuple(extents[k] for k in kept)
    groups = match_axes(trace, core.extents, wanted)
    if not all(g.is_trivial for g in groups):
        if not _is_view(core, groups):
            groups = finest(trace, core.extents, wanted, groups)
        if not _is_view(core, groups):
            if copy is not None and not copy:
                raise numpy_raises("ValueError: unable to avoid creating a copy")
            core = _contiguous_copy(core)
        view = _view(core, groups, wanted)
        core = _detached(core, groups, wanted) if view is None else view
    at = {k: n for n, k in enumerate(kept)}
    index = tuple(slice(None) if k in at else None for k in range(len(extents)))
    return core[(*index, Ellipsis)]


def _is_view(array: TracedArray, groups: Sequence[Group]) -> bool:
    """Whether the axes that are merged move as one."""
    merged = [pair for g in groups for pair in zip(g.old, g.old[1:], strict=False)]
    return all(_moves_as_one(array, *pair) for pair in merged)


def _detached(array: TracedArray, groups: Sequence[Group], extents: Extents) -> TracedArray:
    """A copy in place of a view that no reshape of the storage is.

    Nobody can tell, as long as nothing is stored into the copy, and it is not read after a store
    into the array. It is handed out only where its strides are those of the view, and what it
    would share memory with is not.
    """
    if array.sorted_order() is not None:
        raise Fallback("a reshape of a view whose axes are not in C order")
    copied = copy_of(array, array.dtype, None, "copy", Kind.ARRAY)
    base, storage = array.storage, copied.storage
    is_whole = array.map.is_permutation and _covers(array)
    storage.note_copied(base.root, base.path is None and base.is_dense and is_whole)
    result = _view(copied, groups, extents)
    assert result is not None
    result.access = array.access
    return result


def _covers(array: TracedArray) -> bool:
    """Whether the axes of an array are all of the axes of its storage."""
    canonical = array.trace.decisions.canonical
    return all(
        canonical(extent) == canonical(array.extents[d])
        for extent, d in zip(
            array.storage.extents, (r.as_dim() for r in array.map.results), strict=True
        )
        if d is not None
    )


def _contiguous_copy(array: TracedArray, is_decided: bool = True) -> TracedArray:
    """A fresh array in C order; ``is_decided`` if NumPy copies only because of the strides."""
    decisions = array.trace.decisions
    if is_decided:
        require_elements(array)
        for extent in array.extents:
            if decisions.equal(extent, 1, "an axis of length 1 has no stride"):
                raise Fallback("a reshape for which an axis happens to have length 1")
    return copy_of(array, array.dtype, None, "copy", Kind.ARRAY)


def require_elements(array: TracedArray) -> None:
    """A copy can be told from a view without elements if that cannot be written."""
    root = array.storage.root
    if array.stores is WriteAccess.WRITEABLE:
        if root.path is not None:
            array.trace.captured_reads.writeable.add(root.path)
        return
    for extent in array.extents:
        if array.trace.decisions.equal(extent, 0, "an array without elements is in order"):
            raise needs_python("views a read-only array without elements", "leave it out")


def _moving_axis(array: TracedArray, axis: int) -> tuple[int, int] | None:
    """The axis of the storage along which an axis moves, and by how many; None if by 0."""
    for at, result in enumerate(array.map.results):
        if axis in result.dims():
            if array.storage.stride_is_zero(at):
                return None
            return at, result.coefficient(Dim(axis))
    return None


def merge_in_memory(array: TracedArray, outer: int, inner: int) -> bool:
    """Whether NumPy goes along two axes as along one; along two that do not move at all, too."""
    still = [_moving_axis(array, axis) is None for axis in (outer, inner)]
    return all(still) if any(still) else _moves_as_one(array, outer, inner)


def _is_diagonal(array: TracedArray, axis: int) -> bool:
    """Whether an axis moves along several of the storage."""
    return sum(axis in result.dims() for result in array.map.results) > 1


def _moves_as_one(array: TracedArray, outer: int, inner: int) -> bool:
    """Whether a step of ``outer`` is a whole run of ``inner``, decided on sizes or strides."""
    if _is_diagonal(array, outer) or _is_diagonal(array, inner):
        raise needs_python("merges a diagonal with another axis", "copy it")
    places = _moving_axis(array, outer), _moving_axis(array, inner)
    if places[0] is None or places[1] is None:
        if places[0] is places[1]:
            require_elements(array)
            raise Fallback("a reshape of a broadcast array")
        return False
    (at, step), (inner_at, inner_step) = places[0], places[1]
    storage, trace = array.storage, array.trace
    extent = array.extents[inner]
    reason = "neighbouring axes lie in memory as one"
    if at == inner_at:
        return trace.decisions.equal(extent * inner_step, step, reason)
    if storage.is_dense:
        order = storage.order or tuple(range(storage.rank))
        first, last = order.index(at), order.index(inner_at)
        if first > last:  # the outer axis has the smaller stride: only for lengths of 1
            return False
        between = product(trace, [storage.extents[k] for k in order[first + 1 : last + 1]])
        return trace.decisions.equal(between * step, extent * inner_step, reason)
    left = HostExpr("mul", (storage.stride_expr(at), HostExpr.const(step)))
    run = HostExpr("mul", (storage.stride_expr(inner_at), HostExpr.const(inner_step)))
    number = affine_number(trace, extent)
    size = HostExpr.const(number) if isinstance(number, int) else number.expr
    expr = HostExpr("eq", (left, HostExpr("mul", (run, size))))
    assert storage.array is not None
    strides = storage.array.strides
    hint = trace.decisions.hint(extent)
    answer = strides[at] * step == strides[inner_at] * inner_step * hint
    return trace.decisions.condition(expr, answer, reason)


def is_contiguous(array: TracedArray) -> bool:
    """Whether NumPy calls it C contiguous (axes of length 1 are gone already)."""
    if not array.ndim:
        return True
    if any(_is_diagonal(array, k) for k in range(array.ndim)):
        return False
    place = _moving_axis(array, array.ndim - 1)
    if place is None or abs(place[1]) != 1 or array.storage.has_gaps:
        return False
    storage, trace = array.storage, array.trace
    is_forward = place[1] == 1
    order = storage.order or tuple(range(storage.rank))
    inner = order[order.index(place[0]) + 1 :]
    if storage.is_dense:
        sizes = [trace.decisions.constant(storage.extents[k]) for k in inner]
        is_unit = is_forward and all(size == 1 for size in sizes)
    elif storage.buffer is not None and storage.buffer.layout is Layout.UNIT and not inner:
        is_unit = is_forward
    else:
        assert storage.array is not None
        itemsize = storage.dtype.itemsize * place[1]
        expr = HostExpr("eq", (storage.stride_expr(place[0]), HostExpr.const(itemsize)))
        unit = storage.array.strides[place[0]] == itemsize
        is_unit = trace.decisions.condition(expr, unit, "the innermost stride is one item")
    return is_unit and all(_moves_as_one(array, k, k + 1) for k in range(array.ndim - 1))


def is_in_order(array: TracedArray, order: str) -> bool:
    """Whether NumPy calls it contiguous in ``order``, "C" or "F"."""
    if not array.ndim or _is_laid_out(array, order):
        return True
    equal = array.trace.decisions.equal
    if any(equal(e, 0, "an array without elements is in order") for e in array.extents):
        return True
    is_long = [not equal(e, 1, "an axis of length 1") for e in array.extents]
    return not all(is_long) and _is_laid_out(array, order)


def _is_laid_out(array: TracedArray, order: str) -> bool:
    return is_contiguous(without_ones(array if order == "C" else array.T))


# ------------------------------------------------------------------------------------------ views
def _view(array: TracedArray, groups: Sequence[Group], extents: Extents) -> TracedArray | None:
    """The view for groups whose axes move as one; None if no reshape of the storage is that."""
    plan = _Plan(array, extents)
    if not all(map(plan.add, groups)):
        return None
    result = plan.finish()
    result.access = array.access
    return result


class _Plan:
    """Collects, group by group, what happens to the axes of the storage."""

    def __init__(self, array: TracedArray, extents: Extents) -> None:
        self.array = array
        self.extents = extents
        self.storage: Storage = array.storage
        self.dims: dict[int, AffineExpr] = {}  # old axis -> affine in the new ones
        self.runs: dict[int, tuple[tuple[int, ...], tuple[int, ...], AffineExpr]] = {}

    def add(self, group: Group) -> bool:
        """One group: affine if it can be, else a change of the storage if that can be."""
        if not group.old:
            return True  # new axes of one place each
        if self._is_affine(group):
            step = 1
            total = AffineExpr.const(0)
            for k in reversed(group.new):
                total = total + AffineExpr.dim(k) * step
                step *= self._constant(self.extents[k]) or 0
            # the old axes before the last one move along with it
            self.dims[group.old[-1]] = total
            for k in group.old[:-1]:
                self.dims[k] = AffineExpr.const(0)
            return True
        return self._add_run(group)

    def _constant(self, extent: AffineExpr) -> int | None:
        return self.array.trace.decisions.constant(extent)

    def _is_affine(self, group: Group) -> bool:
        """One axis of the storage, split by constants."""
        places = {_moving_axis(self.array, k) and _moving_axis(self.array, k)[0] for k in group.old}  # type: ignore[index]
        return len(places) == 1 and all(
            self._constant(self.extents[k]) is not None for k in group.new[1:]
        )

    def _add_run(self, group: Group) -> bool:
        """Whole axes of the storage that are merged and split; the outermost may be a slice."""
        storage, canonical = self.storage, self.array.trace.decisions.canonical
        axes: list[int] = []
        start = AffineExpr.const(0)
        for position, k in enumerate(group.old):
            place = _moving_axis(self.array, k)
            if place is None or place[1] != 1 or _is_diagonal(self.array, k):
                return False  # a step, or the same element again and again
            axes.append(place[0])
            offset = self.array.map.results[place[0]] - AffineExpr.dim(k)
            is_whole = canonical(self.array.extents[k]) == canonical(storage.extents[place[0]])
            if offset == AffineExpr.const(0) and is_whole:
                continue
            if position or len(group.new) > 1 or offset.dims():
                return False  # part of an axis, split by sizes that are not fixed
            start = offset
        if axes != list(range(axes[0], axes[0] + len(axes))):
            return False  # transposed, and in memory that is not in C order
        inner = [storage.extents[k] for k in axes[1:]]
        if not start.is_constant and inner:
            start = product(self.array.trace, [start, *inner])
        elif inner:
            start = product(self.array.trace, inner) * start.constant
        self.runs[axes[0]] = (tuple(axes), group.new, start)
        return True

    def finish(self) -> TracedArray:
        """The view: the storage merged, then split, and the map to it."""
        trace = self.array.trace
        merges: list[int] = []
        splits: list[int] = []
        merged: list[AffineExpr] = []
        fine: list[AffineExpr] = []
        results: list[AffineExpr] = []
        axis = 0
        while axis < self.storage.rank:
            run = self.runs.get(axis)
            if run is None:
                merges.append(1)
                splits.append(1)
                merged.append(self.storage.extents[axis])
                fine.append(self.storage.extents[axis])
                results.append(self.array.map.results[axis].substitute(dims=self.dims))
                axis += 1
                continue
            axes, new, start = run
            whole = product(trace, [self.storage.extents[k] for k in axes])
            merges.append(len(axes))
            splits.append(len(new))
            merged.append(whole)
            if len(new) == 1:
                fine.append(whole)
                results.append(AffineExpr.dim(new[0]) + start)
            else:
                fine += [self.extents[k] for k in new]
                results += [AffineExpr.dim(k) for k in new]
            axis += len(axes)
        storage = self.storage
        if any(n > 1 for n in merges):
            storage = reshaped_storage(
                storage, Reassociation.of_lengths(merges, False), tuple(merged)
            )
        if any(n > 1 for n in splits):
            storage = reshaped_storage(storage, Reassociation.of_lengths(splits, True), tuple(fine))
        return TracedArray(storage, IndexingMap(len(self.extents), tuple(results)), self.extents)
