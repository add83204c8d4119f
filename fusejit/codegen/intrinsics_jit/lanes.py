"""Jitted meaning of `fusejit.codegen.intrinsics.lanes`: one wide load, then halves of vectors."""

from __future__ import annotations

import functools
from typing import Any

from fusejit.codegen.intrinsics.lanes import FEW, FOLDS
from fusejit.codegen.intrinsics_jit.module_symbols import Value, int64
from fusejit.codegen.intrinsics_jit.raw_memory import FlatPointer, mark_scope, prefer_widest
from fusejit.codegen.machine.numba_api import are_int64, cgutils, emitted, ir, types
from fusejit.ir.interpreter.summation import FEWEST, LANES

_INT32 = ir.IntType(32)
_OPEN_ZERO = ("nsz",)  # three instructions a register instead of five; totals get + 0.0


def _half(builder: Any, vector: Value, start: int, count: int) -> Value:
    mask = ir.Constant(ir.VectorType(_INT32, count), list(range(start, start + count)))
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), mask)


def _merge(builder: Any, merged: str, left: Value, right: Value) -> Value:
    if merged == "add":
        return builder.fadd(left, right)
    if merged == "multiply":
        return builder.fmul(left, right)
    element = "f64" if isinstance(left.type.element, ir.DoubleType) else "f32"
    function = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(left.type, [left.type, left.type]),
        f"llvm.{merged}.v{left.type.count}{element}",
    )
    return builder.call(function, [left, right], fastmath=_OPEN_ZERO)


def _load(builder: Any, pointer: Value, count: int) -> Value:
    wide = ir.VectorType(pointer.type.pointee, count).as_pointer()
    return builder.load(builder.bitcast(pointer, wide), align=64)


def _tree(builder: Any, merged: str, pointer: Value, count: int) -> Value:
    """Merge ``count`` lanes in a halving tree of vector registers."""
    vector = _load(builder, pointer, count)
    while count > 1:
        count //= 2
        left = _half(builder, vector, 0, count)
        right = _half(builder, vector, count, count)
        vector = _merge(builder, merged, left, right)
    return builder.extract_element(vector, ir.Constant(_INT32, 0))


def _in_turn(builder: Any, merged: str, pointer: Value) -> Value:
    """Merge lanes one after the other: those that fewer than `FEWEST` numbers fill."""
    vector = _load(builder, pointer, FEWEST)
    lanes = [_half(builder, vector, at, 1) for at in range(FEWEST - 1)]
    total = functools.reduce(functools.partial(_merge, builder, merged), lanes)
    return builder.extract_element(total, ir.Constant(_INT32, 0))


def _is_ordered(merged: str) -> bool:
    """Whether the order of merging shows."""
    return merged in ("add", "multiply")


def _is_of_floats(kind: Any) -> bool:
    return isinstance(kind, FlatPointer) and isinstance(kind.dtype, types.Float)


def _fold(combiner: str) -> Any:
    lanes, merged = FOLDS[combiner]

    @emitted(lambda p, n: _is_of_floats(p) and are_int64(n), lambda p, n: p.dtype)
    def fold(builder: Any, pointer: Value, numbers: Value) -> Value:
        """Merge the lanes, into which so many numbers were put."""
        if not _is_ordered(merged):
            return _tree(builder, merged, pointer, lanes)
        total = cgutils.alloca_once(builder, pointer.type.pointee)
        is_few = builder.icmp_signed("<", numbers, int64(FEWEST))
        with builder.if_else(is_few) as (few, many):
            with few:
                builder.store(_in_turn(builder, merged, pointer), total)
            with many:
                builder.store(_tree(builder, merged, pointer, lanes), total)
        return builder.load(total)

    return fold


def _small_fold(combiner: str, lanes: int) -> Any:
    merged = FOLDS[combiner][1]
    is_in_turn = lanes == FEWEST and _is_ordered(merged)

    @emitted(_is_of_floats, lambda p: p.dtype)
    def fold(builder: Any, pointer: Value) -> Value:
        """Merge the lanes."""
        if is_in_turn:
            return _in_turn(builder, merged, pointer)
        return _tree(builder, merged, pointer, lanes)

    return fold


fold_add, fold_multiply, fold_max, fold_min = map(_fold, FOLDS)
small_add, small_multiply, small_max, small_min = (_small_fold(c, FEW) for c in FOLDS)
sequential_add, sequential_multiply, sequential_max, sequential_min = (
    _small_fold(c, FEWEST) for c in FOLDS
)


def _extremum(llvm_name: str) -> Any:
    @emitted(lambda a, b: isinstance(a, types.Float) and a == b, lambda a, b: a)
    def extremum(builder: Any, left: Value, right: Value) -> Value:
        """``llvm.maximum`` or ``minimum`` without a promise about the sign of a zero."""
        element = left.type
        function_type = ir.FunctionType(element, [element, element])
        function = builder.module.declare_intrinsic(llvm_name, [element], function_type)
        prefer_widest(builder.function)
        return builder.call(function, [left, right], fastmath=_OPEN_ZERO)

    return extremum


lane_max = _extremum("llvm.maximum")
lane_min = _extremum("llvm.minimum")


def _is_filled(pointer: Any, start: Any, count: Any, value: Any) -> bool:
    return isinstance(pointer, FlatPointer) and value == pointer.dtype and are_int64(start, count)


@emitted(_is_filled, types.void, of_type=True)
def fill(
    builder: Any, kind: Any, pointer: Value, start: Value, count: Value, stored: Value
) -> None:
    """``fill``: a loop that LLVM turns into vector stores."""
    if kind.dtype == types.boolean:
        stored = builder.zext(stored, ir.IntType(8))
    begin = builder.gep(pointer, [start], inbounds=True)
    with cgutils.for_range(builder, count) as loop:
        store = builder.store(stored, builder.gep(begin, [loop.index], inbounds=True))
        mark_scope(builder.module, store, kind.scope)


@emitted(are_int64, types.int64)
def lane_width(builder: Any, n: Value) -> Value:
    """``1 << bits(min(n, LANES) - 1)``, and 1 for n below FEWEST."""
    one, most = int64(1), int64(LANES)
    capped = builder.select(builder.icmp_signed("<", n, most), n, most)
    below = builder.sub(capped, one)
    zeros = builder.ctlz(below, ir.Constant(ir.IntType(1), 0))
    width = builder.shl(one, builder.sub(int64(64), zeros))
    are_few = builder.icmp_signed("<", capped, int64(FEWEST))
    return builder.select(are_few, one, width)


@emitted(are_int64, types.int64)
def lane_spacing(builder: Any, n: Value) -> Value:
    """``LANES``, and 1 for n below FEWEST."""
    return builder.select(builder.icmp_signed("<", n, int64(FEWEST)), int64(1), int64(LANES))


@emitted(are_int64, types.int64)
def reverse_bits(builder: Any, value: Value, width: Value) -> Value:
    """``bitreverse`` shifted down to ``width``."""
    turned = builder.lshr(builder.bitreverse(value), int64(1))
    bits = builder.cttz(width, ir.Constant(ir.IntType(1), 0))
    return builder.lshr(turned, builder.sub(int64(63), bits))
