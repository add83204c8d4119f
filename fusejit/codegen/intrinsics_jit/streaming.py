"""Jitted meaning of `fusejit.codegen.intrinsics.streaming`: tiles around a compiled body."""

from __future__ import annotations

from typing import Any

from fusejit.codegen.intrinsics.streaming import FRESH_BELOW_BYTES, TILE_BYTES, stream_from_bytes
from fusejit.codegen.intrinsics_jit.module_symbols import INT64, Value, int64, new_function
from fusejit.codegen.intrinsics_jit.parallel import (
    Body,
    emit_parallel_for,
    loop_types,
    once_in_module,
    work_as_int64,
)
from fusejit.codegen.intrinsics_jit.raw_memory import FlatPointer
from fusejit.codegen.machine.numba_api import TypingError, cgutils, intrinsic, ir, types

_LINE = 64
_LINE_TYPE = ir.VectorType(INT64, _LINE // 8)


class _Tiles:
    """Calls of `body` on ``(lo, hi, streamed, result, *args)``; `streamed` is an i1."""

    def __init__(self, module: Any, body: Body, result: Any) -> None:
        self.module = module
        self.body = body
        self.itemsize = 1 if result.dtype == types.boolean else int(result.dtype.bitwidth) // 8

    @property
    def key(self) -> tuple[Any, ...]:
        return ("tiles", *self.body.key)

    def call(self, builder: Any, args: list[Value]) -> None:
        given = [a.type for a in args]
        key = (*self.key, tuple(map(str, given)))
        builder.call(once_in_module(self.module, key, lambda: self._define(given)), args)

    def _define(self, argument_types: list[Any]) -> Any:
        name = self.module.get_unique_name("fusejit_tiles")
        kind = ir.FunctionType(ir.VoidType(), argument_types)
        function = new_function(self.module, name, kind, "noinline")
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        lo, hi, streamed, result, *args = function.args
        tile = builder.alloca(_LINE_TYPE, size=int64(TILE_BYTES // _LINE))
        tile.align = _LINE
        with builder.if_else(streamed) as (then, otherwise):
            with then:
                self._emit_tiles(builder, tile, lo, hi, result, args)
            with otherwise:
                self.body.call(builder, [lo, hi, result, *args])
        builder.ret_void()
        return function

    def _emit_tiles(
        self, builder: Any, tile: Value, lo: Value, hi: Value, result: Value, args: list[Value]
    ) -> None:
        size = int64(self.itemsize)
        position = cgutils.alloca_once_value(builder, lo)
        loop, store, following, done = (
            builder.append_basic_block(f"tiles.{part}")
            for part in ("loop", "store", "following", "done")
        )
        builder.branch(loop)

        builder.position_at_end(loop)
        at = builder.load(position)
        offset = builder.mul(at, size)
        start = builder.add(builder.ptrtoint(result, INT64), offset)
        room = builder.sub(int64(TILE_BYTES), builder.and_(start, int64(TILE_BYTES - 1)))
        room = builder.udiv(room, size)
        rest = builder.sub(hi, at)
        is_segment = builder.icmp_signed("<", rest, room)
        n = builder.select(is_segment, rest, room)
        end = builder.add(at, n)
        builder.store(end, position)
        is_whole = builder.icmp_signed("==", n, int64(TILE_BYTES // self.itemsize))
        # so that element `at` of the body's result is the first one of the tile
        shifted = builder.sub(builder.ptrtoint(tile, INT64), offset)
        target = builder.select(is_whole, builder.inttoptr(shifted, result.type), result)
        self.body.call(builder, [at, end, target, *args])
        builder.cbranch(is_whole, store, following)

        builder.position_at_end(store)
        self._emit_stream(builder, builder.inttoptr(start, _LINE_TYPE.as_pointer()), tile)
        builder.branch(following)

        builder.position_at_end(following)
        builder.cbranch(builder.icmp_signed("<", end, hi), loop, done)

        # Streaming stores are not ordered by what orders other stores on x86: a full fence.
        builder.position_at_end(done)
        builder.fence("seq_cst")

    def _emit_stream(self, builder: Any, target: Value, tile: Value) -> None:
        """Store by store: LLVM compiles that faster than a loop."""
        hint = self.module.add_metadata([ir.Constant(ir.IntType(32), 1)])
        for k in range(TILE_BYTES // _LINE):
            line = builder.load(builder.gep(tile, [int64(k)]), align=_LINE)
            store = builder.store(line, builder.gep(target, [int64(k)]), align=_LINE)
            store.set_metadata("nontemporal", hint)


@intrinsic
def stream_for(
    typingctx: Any,
    body: Any,
    extent: Any,
    work_ns: Any,
    num_bytes: Any,
    fresh_bytes: Any,
    result: Any,
    *args: Any,
) -> Any:
    """`parallel_for` over tiles where `num_bytes` and `fresh_bytes` say so."""
    if not isinstance(result, FlatPointer):
        raise TypingError(f"stream_for({body}, {extent}, ..., {result}, ...)")
    work, extra, argtypes = loop_types(typingctx, body, extent, work_ns, (result,), args)
    limit = stream_from_bytes()

    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Value:
        tiles = _Tiles(builder.module, Body(context, builder.module, body, argtypes), result)
        _, count, nanoseconds, touched, fresh, pointer, star = values
        is_large = builder.icmp_signed(">=", touched, int64(limit))
        is_kept = builder.icmp_signed("<", fresh, int64(FRESH_BELOW_BYTES))
        streamed = builder.and_(is_large, is_kept)
        rest = cgutils.unpack_tuple(builder, star, len(extra))
        emit_parallel_for(
            builder,
            tiles,
            count,
            work_as_int64(builder, nanoseconds),
            [streamed, pointer, *rest],
        )
        return context.get_dummy_value()

    numbers = (types.int64, types.int64)
    return types.void(body, types.int64, work, *numbers, result, types.StarArgTuple(extra)), codegen
