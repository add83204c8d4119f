"""Jitted meaning of `codegen.intrinsics.undo_log`: LLVM IR that no signal and no exception can end.

An undo log is an array of words::

    0  entries so far        3  whether the arrays were copied
    1  room for entries      4 + 3 k  lowest address of array k, its bytes, its copy
    2  address of entries    then  room for the first entries

An entry is ``address << 4 | log2(bytes)`` and the bytes of an element as a word. Keeping one is
written out at its place; growing, copying and rolling back are functions of the module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fusejit.codegen.intrinsics.undo_log import FIRST_ENTRIES, GROWTH, SHARE
from fusejit.codegen.intrinsics_jit.module_symbols import (
    BYTE_POINTER,
    INT64,
    Value,
    call_c,
    call_cold,
    int64,
)
from fusejit.codegen.intrinsics_jit.raw_memory import FlatPointer, _itemsize, mark_scope
from fusejit.codegen.machine.numba_api import (
    TypingError,
    cgutils,
    emitted,
    intrinsic,
    intrinsic_of_literals,
    ir,
    is_stored_as_pointer,
    types,
)

_BOOL = ir.IntType(1)
_COUNT, _ROOM, _ENTRIES, _IS_COPIED, _ARRAYS = range(5)
_SCOPE = 32  # nothing but entries and the words of an undo log has it together with theirs


class UndoLogPointer(types.Type):  # type: ignore[misc]
    """An undo log for ``count`` arrays."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(name=f"UndoLog({count})")

    @property
    def key(self) -> int:
        """Numba types are equal when their keys are."""
        return self.count


is_stored_as_pointer(UndoLogPointer, lambda kind: INT64)


def _address(builder: Any, words: Value, at: int | Value) -> Value:
    return builder.gep(words, [int64(at) if isinstance(at, int) else at], inbounds=True)


def _read(builder: Any, words: Value, at: int | Value) -> Value:
    loaded = builder.load(_address(builder, words, at))
    mark_scope(builder.module, loaded, _SCOPE)
    return loaded


def _write(builder: Any, words: Value, at: int | Value, value: int | Value) -> None:
    word = int64(value) if isinstance(value, int) else value
    mark_scope(builder.module, builder.store(word, _address(builder, words, at)), _SCOPE)


def _entries(builder: Any, w: Value) -> Value:
    return builder.inttoptr(_read(builder, w, _ENTRIES), INT64.as_pointer())


def _bytes_at(builder: Any, address: Value) -> Value:
    return builder.inttoptr(address, BYTE_POINTER)


def _copy(builder: Any, target: Value, source: Value, num_bytes: Value) -> None:
    places = _bytes_at(builder, target), _bytes_at(builder, source)
    call_c(builder, "memcpy", BYTE_POINTER, *places, num_bytes)


def _free(builder: Any, address: Value) -> None:
    call_c(builder, "free", ir.VoidType(), _bytes_at(builder, address))


# ------------------------------------------------------------------------ functions of the module
def _call(builder: Any, what: Callable[[Any, Value, int], None], w: Value, count: int) -> Value:
    """Call a function ``int64 name(undo_log)`` of the module, written when it is first called."""
    name = f"fusejit_undo_log{what.__name__}_{count}"
    return call_cold(builder, name, INT64, lambda inside, w: what(inside, w, count), w)


def _first_entries(builder: Any, w: Value, count: int) -> Value:
    return builder.ptrtoint(_address(builder, w, _ARRAYS + 3 * count), INT64)


def _make_room(builder: Any, w: Value, count: int) -> None:
    """Room for more entries, or copies of the arrays."""
    room, total = _read(builder, w, _ROOM), int64(0)
    for k in range(count):
        total = builder.add(total, _read(builder, w, _ARRAYS + 3 * k + 1))
    is_small = builder.icmp_unsigned("<", room, builder.udiv(total, int64(SHARE)))
    with builder.if_then(builder.not_(is_small)):
        builder.ret(_call(builder, _copy_all, w, count))
    old, first = _read(builder, w, _ENTRIES), _first_entries(builder, w, count)
    more = builder.mul(room, int64(GROWTH))
    fresh = call_c(builder, "malloc", BYTE_POINTER, builder.shl(more, int64(4)))
    made = builder.ptrtoint(fresh, INT64)
    with builder.if_then(builder.icmp_unsigned("==", made, int64(0)), likely=False):
        builder.ret(int64(0))
    _copy(builder, made, old, builder.shl(room, int64(4)))
    with builder.if_then(builder.icmp_unsigned("!=", old, first)):
        _free(builder, old)
    _write(builder, w, _ENTRIES, made)
    _write(builder, w, _ROOM, more)
    builder.ret(int64(1))


def _copy_all(builder: Any, w: Value, count: int) -> None:
    """Copies of the arrays as they were; entries are not needed any more."""
    with builder.if_then(builder.icmp_unsigned("!=", _read(builder, w, _IS_COPIED), int64(0))):
        builder.ret(int64(1))
    for k in range(count):
        low, size = (_read(builder, w, _ARRAYS + 3 * k + part) for part in (0, 1))
        room = call_c(builder, "malloc", BYTE_POINTER, builder.add(size, int64(1)))
        made = builder.ptrtoint(room, INT64)
        _write(builder, w, _ARRAYS + 3 * k + 2, made)
        with builder.if_then(builder.icmp_unsigned("==", made, int64(0)), likely=False):
            builder.ret(int64(0))
        _copy(builder, made, low, size)
    _undo(builder, w, count, in_copies=True)
    _write(builder, w, _IS_COPIED, 1)
    _write(builder, w, _COUNT, _read(builder, w, _ROOM))  # the next `keep` looks here again
    builder.ret(int64(1))


def _roll_back(builder: Any, w: Value, count: int) -> None:
    """What the arrays held when the undo log began."""
    is_copied = builder.icmp_unsigned("!=", _read(builder, w, _IS_COPIED), int64(0))
    with builder.if_else(is_copied) as (then, otherwise):
        with then:
            for k in range(count):
                low, size, made = (_read(builder, w, _ARRAYS + 3 * k + p) for p in range(3))
                _copy(builder, low, made, size)
        with otherwise:
            _undo(builder, w, count, in_copies=False)
    _end_memory(builder, w, count)
    builder.ret(int64(1))


def _give_back(builder: Any, w: Value, count: int) -> None:
    """Give all memory back."""
    _end_memory(builder, w, count)
    builder.ret(int64(1))


def _end_memory(builder: Any, w: Value, count: int) -> None:
    entries, first = _read(builder, w, _ENTRIES), _first_entries(builder, w, count)
    with builder.if_then(builder.icmp_unsigned("!=", entries, first)):
        _free(builder, entries)
    for k in range(count):
        _free(builder, _read(builder, w, _ARRAYS + 3 * k + 2))


def _undo(builder: Any, w: Value, count: int, in_copies: bool) -> None:
    """Apply the entries backwards, to the arrays or to their copies."""
    number, entries = _read(builder, w, _COUNT), _entries(builder, w)
    moved = cgutils.alloca_once(builder, INT64)
    with cgutils.for_range(builder, number) as loop:
        at = builder.sub(builder.sub(number, loop.index), int64(1))
        key = _read(builder, entries, builder.shl(at, int64(1)))
        value = _read(builder, entries, builder.add(builder.shl(at, int64(1)), int64(1)))
        address = builder.lshr(key, int64(4))
        builder.store(address, moved)
        for k in range(count if in_copies else 0):
            low, size, made = (_read(builder, w, _ARRAYS + 3 * k + p) for p in range(3))
            distance = builder.sub(address, low)
            with builder.if_then(builder.icmp_unsigned("<", distance, size)):
                builder.store(builder.add(made, distance), moved)
        target, log2 = builder.load(moved), builder.and_(key, int64(15))
        for power in range(4):
            with builder.if_then(builder.icmp_unsigned("==", log2, int64(power))):
                kind = ir.IntType(8 << power)
                place = builder.inttoptr(target, kind.as_pointer())
                builder.store(builder.trunc(value, kind) if power < 3 else value, place, align=1)


# ------------------------------------------------------------------------------------- intrinsics
@intrinsic_of_literals
def undo_log(typingctx: Any, count: Any) -> Any:
    """An undo log on the stack."""
    if not isinstance(count, types.IntegerLiteral):
        raise TypingError(f"undo_log({count})")
    number = int(count.literal_value)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Value:
        size = _ARRAYS + 3 * number + 2 * FIRST_ENTRIES
        w = cgutils.alloca_once(builder, INT64, size=int64(size))
        for at, word in ((_COUNT, 0), (_ROOM, FIRST_ENTRIES), (_IS_COPIED, 0)):
            _write(builder, w, at, word)
        _write(builder, w, _ENTRIES, _first_entries(builder, w, number))
        return w

    return UndoLogPointer(number)(count), codegen


@intrinsic_of_literals
def undo_log_array(typingctx: Any, w: Any, at: Any, array: Any) -> Any:
    """Lowest address and bytes of an array."""
    if not isinstance(w, UndoLogPointer) or not isinstance(at, types.IntegerLiteral):
        raise TypingError(f"undo_log_array({w}, {at})")
    first = _ARRAYS + 3 * int(at.literal_value)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Value:
        position = context.data_model_manager[array].get_field_position
        low = builder.ptrtoint(builder.extract_value(args[2], position("data")), INT64)
        size, is_empty = int64(_itemsize(array.dtype)), ir.Constant(_BOOL, 0)
        zero = int64(0)
        for k in range(array.ndim):
            extent = builder.extract_value(args[2], [position("shape"), k])
            stride = builder.extract_value(args[2], [position("strides"), k])
            reach = builder.mul(builder.sub(extent, int64(1)), stride)
            is_below = builder.icmp_signed("<", reach, zero)
            low = builder.add(low, builder.select(is_below, reach, zero))
            size = builder.add(size, builder.select(is_below, builder.neg(reach), reach))
            is_empty = builder.or_(is_empty, builder.icmp_signed("==", extent, zero))
        _write(builder, args[0], first, low)
        _write(builder, args[0], first + 1, builder.select(is_empty, zero, size))
        _write(builder, args[0], first + 2, 0)
        return context.get_dummy_value()

    return types.void(w, at, array), codegen


@intrinsic
def keep(typingctx: Any, w: Any, pointer: Any, offset: Any) -> Any:
    """One more entry, two for a complex number of 16 bytes."""
    if not isinstance(w, UndoLogPointer) or not isinstance(pointer, FlatPointer):
        raise TypingError(f"keep({w}, {pointer})")
    itemsize = _itemsize(pointer.dtype)
    size = min(itemsize, 8)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Value:
        undo_log_words, base, index = args
        kind = ir.IntType(8 * size)
        element = builder.gep(base, [index], inbounds=True)
        start = builder.bitcast(element, kind.as_pointer())
        done = [
            _kept(builder, undo_log_words, start, k, pointer.scope) for k in range(itemsize // size)
        ]
        together = done[0]
        for each in done[1:]:
            together = builder.and_(together, each)
        return together

    def _kept(builder: Any, words: Value, start: Value, k: int, scope: int) -> Value:
        place = builder.gep(start, [int64(k)], inbounds=True)
        is_kept = cgutils.alloca_once_value(builder, ir.Constant(_BOOL, 1))
        is_full = builder.icmp_unsigned(
            "==", _read(builder, words, _COUNT), _read(builder, words, _ROOM)
        )
        with builder.if_then(is_full, likely=False):
            is_copied = builder.icmp_unsigned("!=", _read(builder, words, _IS_COPIED), int64(0))
            with builder.if_then(builder.not_(is_copied), likely=False):
                done = _call(builder, _make_room, words, w.count)
                builder.store(builder.icmp_unsigned("!=", done, int64(0)), is_kept)
        number = _read(builder, words, _COUNT)
        has_room = builder.icmp_unsigned("<", number, _read(builder, words, _ROOM))
        with builder.if_then(has_room, likely=True):
            found = builder.load(place, align=1)
            mark_scope(builder.module, found, scope)
            value = builder.zext(found, INT64) if size < 8 else found
            key = builder.shl(builder.ptrtoint(place, INT64), int64(4))
            key = builder.or_(key, int64(size.bit_length() - 1))
            entries, at = _entries(builder, words), builder.shl(number, int64(1))
            _write(builder, entries, at, key)
            _write(builder, entries, builder.add(at, int64(1)), value)
            _write(builder, words, _COUNT, builder.add(number, int64(1)))
        return builder.load(is_kept)

    return types.boolean(w, pointer, types.int64), codegen


def _is_undo_log(kind: Any) -> bool:
    return isinstance(kind, UndoLogPointer)


@emitted(_is_undo_log, types.boolean, of_type=True)
def keep_all(builder: Any, kind: Any, w: Value) -> Value:
    """Copies of the arrays; whether there was memory."""
    return builder.icmp_unsigned("!=", _call(builder, _copy_all, w, kind.count), int64(0))


@emitted(_is_undo_log, types.void, of_type=True)
def roll_back(builder: Any, kind: Any, w: Value) -> None:
    """What the arrays held when the undo log began."""
    _call(builder, _roll_back, w, kind.count)


@emitted(_is_undo_log, types.void, of_type=True)
def end_undo_log(builder: Any, kind: Any, w: Value) -> None:
    """Give memory back, if there is any beyond the stack."""
    room = _read(builder, w, _ROOM)
    has_grown = builder.icmp_unsigned("!=", room, int64(FIRST_ENTRIES))
    is_copied = builder.icmp_unsigned("!=", _read(builder, w, _IS_COPIED), int64(0))
    with builder.if_then(builder.or_(has_grown, is_copied), likely=False):
        _call(builder, _give_back, w, kind.count)


@emitted(_is_undo_log, types.boolean)
def keeps_all(builder: Any, w: Value) -> Value:
    """Whether the arrays were copied."""
    return builder.icmp_unsigned("!=", _read(builder, w, _IS_COPIED), int64(0))
