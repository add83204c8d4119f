"""Stores into traced arrays: ``x[...] = v``, ``x += v``, ``out=``."""

from __future__ import annotations

from typing import Any

from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import Kind
from fusejit.ir.write_access import WriteAccess
from fusejit.tracer.ops.elementwise_op import emit_elementwise, require_extents, stored_value
from fusejit.tracer.program.fallback import Fallback, numpy_raises
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import Operand


def require_writeable(target: TracedArray) -> None:
    """Fall back where NumPy refuses to store."""
    if target.kind is Kind.SCALAR:
        raise numpy_raises("TypeError: a NumPy scalar does not support item assignment")
    require_access(target)
    storage = target.storage
    if storage.root.copied_from:
        if storage.root.be_memory is not None:
            storage.root.be_memory()
        storage.root.require_own()
        raise Fallback(f"a store into {storage.root.copied_why}")
    if storage.root.stands_for:
        raise Fallback(f"a store into {storage.root.stands_for}, in a loop")
    if any(storage.has_overlap(axis) for axis in range(storage.rank)):
        raise Fallback("a store into an array whose elements overlap")


def require_access(target: TracedArray) -> None:
    """Fall back where NumPy refuses to store, and leave to Python what it warns of."""
    stores = target.stores
    if stores is WriteAccess.READ_ONLY:
        raise numpy_raises("ValueError: assignment destination is read-only")
    if stores is WriteAccess.WARNS:
        raise needs_python("stores into what np.broadcast_arrays made", "store into a copy")


def note_store_of_itself(target: TracedArray) -> None:
    """``x[...] = x`` changes nothing, but NumPy refuses it for a read-only array."""
    require_access(target)
    buffer = target.storage.root.buffer
    if buffer is not None:
        buffer.writeable = True


def store_order(target: TracedArray) -> tuple[int, ...] | None:
    """The axis order that a value stored into all of ``target`` should have."""
    return target.storage.order if target.is_whole else None


def assign(target: TracedArray, value: TracedArray) -> None:
    """Store a fresh value of the target's dtype and extents into all of it.

    All of an array that is still a pure value is simply replaced, for every view of it.
    """
    if target.storage.copy_source is not None and target.is_whole:
        target.storage.copy_source.store(target, value)
        return
    require_writeable(target)
    storage = target.storage
    made = value.value()
    if storage.buffer is None and target.is_whole:
        storage.replace(made)
        storage.root.num_stores += 1
        return
    view = target.memory()
    storage.trace.store(view, made)
    storage.root.num_stores += 1
    if target.is_whole:
        storage.forward(made)


def assign_operand(target: TracedArray, operand: Operand | TracedArray) -> None:
    """``target[...] = operand`` with NumPy's unsafe casting and broadcasting."""
    if isinstance(operand, TracedArray):
        operand = Operand(operand.dtype, array=operand)
    require_writeable(target)
    if operand.array is not None and len(operand.extents) > target.ndim:
        operand = Operand(operand.token, array=without_leading_ones(operand.array, target.ndim))
    array = operand.array
    if array is not None and _can_be_stored(array, target):
        assign(target, array)
        return
    assign(target, stored_value(target.extents, operand, target.dtype, store_order(target)))


def store_result(result: TracedArray, out: TracedArray) -> TracedArray:
    """Store the result of a function into ``out``, which has its shape; return that."""
    require_extents(result.extents, out.extents)
    assign_operand(out, result)
    return out


def stored_into(made: Any, out: Any, name: str) -> TracedArray:
    """``out=`` of a host call, whose result is stored where nothing is converted on the way."""
    if isinstance(out, tuple) and len(out) == 1:
        (out,) = out
    if not isinstance(made, TracedArray) or not isinstance(out, TracedArray):
        raise needs_python(f"{name} with out= of this kind", MOVE_OUTSIDE)
    if made.dtype != out.dtype or made.ndim != out.ndim:
        raise needs_python(f"{name} with out= of another dtype or rank", MOVE_OUTSIDE)
    return store_result(made, out)


def _can_be_stored(array: TracedArray, target: TracedArray) -> bool:
    """Whether no conversion is needed; a pure value that is replaced needs a fresh one."""
    replaced = target.storage.buffer is None and target.is_whole
    canonical = array.trace.decisions.canonical
    return (
        not replaced
        and array.dtype == target.dtype
        and [canonical(e) for e in array.extents] == [canonical(e) for e in target.extents]
    )


def assign_masked(target: TracedArray, mask: TracedArray, operand: Operand) -> None:
    """``target[mask] = number``, the mask having the target's shape."""
    require_writeable(target)
    if _is_written_while_read(mask, target):
        what = "stores through a mask that shares memory with the array that is stored into"
        raise needs_python(what, "copy the mask first: m.copy()")
    dtype, extents, storage = target.dtype, target.extents, target.storage

    def chosen(builder: PayloadBuilder, refs: list[int]) -> int:
        return builder.op("select", [refs[0], builder.cast(refs[1], dtype), refs[2]], dtype)

    if storage.buffer is None and target.is_whole:
        made = emit_elementwise(
            "masked_store",
            [mask, operand, target],
            None,
            dtype,
            chosen,
            extents=extents,
            kind=Kind.ARRAY,
            order=storage.order,
        )
        assign(target, made)
        return
    value = stored_value(extents, operand, dtype, store_order(target), "full")
    storage.trace.store(target.memory(), value.value(), mask.value())
    storage.root.num_stores += 1


def _is_written_while_read(mask: TracedArray, target: TracedArray) -> bool:
    """Whether a store changes other elements of the mask than the one that it has asked."""
    if mask.storage.root is target.storage.root:
        return mask.storage is not target.storage or mask.map != target.map
    return mask.storage.may_overlap(target.storage)


def without_leading_ones(array: TracedArray, rank: int) -> TracedArray:
    """A value may have more axes than its target if the first ones have length 1."""
    extra = array.ndim - rank
    for extent in array.extents[:extra]:
        if not array.trace.decisions.equal(
            extent, 1, "a leading axis of length 1 is dropped", or_raises=True
        ):
            what = "ValueError: setting an array element with a sequence"
            raise numpy_raises(what, "what is stored has more axes, and no elements")
    index: tuple[Any, ...] = (0,) * extra + (Ellipsis,)
    return array[index]
