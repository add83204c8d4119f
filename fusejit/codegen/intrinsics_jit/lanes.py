"""Jitted meaning of `fusejit.codegen.intrinsics.lanes`: wide loads, then halves of vectors."""

from __future__ import annotations

from typing import Any

from fusejit.codegen.intrinsics.lanes import EXTREMA, FEW, LANES
from fusejit.codegen.intrinsics_jit.module_symbols import Value, int64
from fusejit.codegen.intrinsics_jit.raw_memory import FlatPointer, mark_scope, prefer_widest
from fusejit.codegen.intrinsics_jit.vector_loops import joined, load_vector, repeated, vector_loop
from fusejit.codegen.machine.numba_api import are_int64, cgutils, emitted, ir, types

_REGISTER = 16
_OPEN_ZERO = ("nsz",)  # three instructions a register instead of five; totals get + 0.0


def _larger_or_smaller(builder: Any, merged: str, left: Value, right: Value) -> Value:
    """``llvm.maximum`` or ``minimum`` without a promise about the sign of a zero."""
    element = left.type.element if isinstance(left.type, ir.VectorType) else left.type
    name = "f64" if isinstance(element, ir.DoubleType) else "f32"
    if isinstance(left.type, ir.VectorType):
        name = f"v{left.type.count}{name}"
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(left.type, [left.type, left.type]), f"llvm.{merged}.{name}"
    )
    return builder.call(function, [left, right], fastmath=_OPEN_ZERO)


def is_of_floats(kind: Any) -> bool:
    """Whether an operand is a pointer to floats."""
    return isinstance(kind, FlatPointer) and isinstance(kind.dtype, types.Float)


def _halved(builder: Any, merged: str, vector: Value) -> Value:
    """Merge the numbers of a vector: its halves, until one number is left."""
    return joined(
        builder, vector, lambda left, right: _larger_or_smaller(builder, merged, left, right)
    )


def _fold(combiner: str, lanes: int) -> Any:
    merged = EXTREMA[combiner].__name__

    @emitted(is_of_floats, lambda p: p.dtype)
    def fold(builder: Any, pointer: Value) -> Value:
        """Merge the lanes."""
        return _halved(builder, merged, load_vector(builder, pointer, lanes, 64))

    return fold


fold_max, fold_min = (_fold(c, LANES) for c in EXTREMA)
small_max, small_min = (_fold(c, FEW) for c in EXTREMA)


def _tile_fold(combiner: str) -> Any:
    merged = EXTREMA[combiner].__name__

    @emitted(lambda p, *n: is_of_floats(p) and are_int64(*n), lambda p, *n: p.dtype)
    def fold(builder: Any, pointer: Value, start: Value, numbers: Value) -> Value:
        """The extremum of at least one number: all lanes at a time, a register, single numbers."""
        prefer_widest(builder.function)
        begin = builder.gep(pointer, [start], inbounds=True)
        element = pointer.type.pointee
        total = ir.Constant(element, float("-inf" if combiner == "max" else "inf"))
        at = int64(0)
        for width in (LANES, _REGISTER, 1):

            def merge(inside: Any, k: Value, lanes: list[Value], width: int = width) -> list[Value]:
                place = inside.gep(begin, [k], inbounds=True)
                new = load_vector(inside, place, width) if width > 1 else inside.load(place)
                return [_larger_or_smaller(inside, merged, lanes[0], new)]

            end = builder.and_(numbers, int64(-width))
            lanes = [repeated(builder, total, width)]
            (lane,) = vector_loop(builder, at, end, width, lanes, merge)
            total, at = lane if width == 1 else _halved(builder, merged, lane), end
        return total

    return fold


tile_max, tile_min = map(_tile_fold, EXTREMA)


def _extremum(merged: str) -> Any:
    @emitted(lambda a, b: isinstance(a, types.Float) and a == b, lambda a, b: a)
    def extremum(builder: Any, left: Value, right: Value) -> Value:
        """The larger or the smaller number."""
        prefer_widest(builder.function)
        return _larger_or_smaller(builder, merged, left, right)

    return extremum


lane_max, lane_min = (_extremum(ufunc.__name__) for ufunc in EXTREMA.values())


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
