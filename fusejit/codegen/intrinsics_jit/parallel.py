"""Jitted meaning of `codegen.intrinsics.parallel`: one body for the serial and the threaded path.

The arguments go into a struct on the stack; a small internal function with the C signature of
Numba's pools reads them back and calls the body for its range of chunks.

Source
------
``numba_parallel_for`` in numba/np/ufunc/tbbpool.cpp: ``void (fn, char **args, intp *dims, intp
*steps, void *data, intp inner_ndim, intp array_count, intp num_threads)``. With one "array" of null
base and step 1, ``args[0]`` is the number of the first chunk of a call and ``dims[0]`` how many
there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from fusejit.codegen.intrinsics.parallel import (
    BORDER_MULTIPLE,
    CHUNK_NS,
    CHUNKS_PER_THREAD,
    ROUNDED_FROM,
    SERIAL_BELOW_NS,
    UNEVEN_CHUNKS_PER_THREAD,
)
from fusejit.codegen.intrinsics_jit.module_symbols import (
    BYTE_POINTER,
    INT64,
    LOOP_TYPE,
    Value,
    call_c,
    external,
    int64,
    new_function,
)
from fusejit.codegen.machine.numba_api import TypingError, cgutils, intrinsic, ir, types
from fusejit.codegen.machine.pool import (
    CAN_FORK,
    POOL_SYMBOL,
    WORD_BUSY,
    WORD_LAUNCH,
    WORD_OTHERS,
    WORD_STARTER,
    WORD_THREADS,
)

_TASK = LOOP_TYPE.as_pointer()
_LAUNCH_TYPE = ir.FunctionType(ir.VoidType(), [_TASK, *LOOP_TYPE.args, INT64, INT64, INT64])


def _smaller(builder: Any, a: Value, b: Value) -> Value:
    return builder.select(builder.icmp_signed("<", a, b), a, b)


def _ceil_div(builder: Any, a: Value, b: Value) -> Value:
    return builder.sdiv(builder.sub(builder.add(a, b), int64(1)), b)


def _pool_word(builder: Any, number: int) -> Value:
    words = external(builder.module, POOL_SYMBOL, ir.ArrayType(INT64, 8))
    return builder.gep(words, [int64(0), int64(number)], inbounds=True)


class Callee(Protocol):
    """What runs a range of the loop: called with ``(lo, hi, *args)``."""

    @property
    def key(self) -> tuple[Any, ...]: ...

    def call(self, builder: Any, args: list[Value]) -> None: ...


class LoopBody(types.Type):  # type: ignore[misc]
    """A chunk function that `fusejit.codegen.backend.llvm_emitter` writes.

    ``write(name, argument types)`` gives the LLVM function, and which argument it takes where.
    """

    def __init__(self, name: str, write: Callable[[str, tuple[Any, ...]], Any]) -> None:
        self.definition = name
        self.write = write
        super().__init__(name=f"LoopBody({name}, {id(write)})")

    def get_call_type(self, typingctx: Any, argtypes: tuple[Any, ...], kws: Any) -> Any:
        """Its type as a function; what it does not accept shows when it is written."""
        return types.none(*argtypes)


def is_body(body: Any) -> bool:
    """Whether a type is that of a chunk function."""
    return isinstance(body, types.Dispatcher | LoopBody)


class Body:
    """The compiled body and how to call it out of line."""

    def __init__(self, context: Any, module: Any, body: Any, argtypes: tuple[Any, ...]) -> None:
        self.context = context
        self.argtypes = argtypes
        self.order = tuple(range(len(argtypes)))
        self.restype = types.none
        if isinstance(body, LoopBody):
            self.function, self.order = body.write(body.definition, argtypes)
            self.argtypes = tuple(argtypes[at] for at in self.order)
            return
        compiled = body.dispatcher.overloads[argtypes]
        context.add_linking_libs([compiled.library])
        self.restype = compiled.signature.return_type
        self.function = context.declare_function(module, compiled.fndesc)

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for bodies that do the same with the same arguments."""
        return self.function.name, self.order

    def call(self, builder: Any, args: list[Value]) -> None:
        ordered = [args[at] for at in self.order]
        self.context.call_conv.call_function(
            builder, self.function, self.restype, self.argtypes, ordered, attrs=("noinline",)
        )


def once_in_module(module: Any, key: tuple[Any, ...], make: Callable[[], Value]) -> Value:
    """What ``make`` adds to a module, added once for each key."""
    made = module.__dict__.setdefault("_fusejit_made", {})
    if key not in made:
        made[key] = make()
    return made[key]


def _emit_task(module: Any, body: Callee, data_type: Any) -> Value:
    """The function a pool thread calls; `data` is {extent, chunk length, args...}."""
    name = module.get_unique_name("fusejit_chunks")
    task = new_function(module, name, LOOP_TYPE)
    builder = ir.IRBuilder(task.append_basic_block("entry"))
    first_pointer, count_pointer, _, raw_data = task.args
    first = builder.ptrtoint(builder.load(first_pointer), INT64)
    count = builder.load(count_pointer)
    data = builder.load(builder.bitcast(raw_data, data_type.as_pointer()))
    fields = [builder.extract_value(data, k) for k in range(len(data_type.elements))]
    extent, length, *args = fields
    lo = builder.mul(first, length)
    hi = _smaller(builder, builder.mul(builder.add(first, count), length), extent)
    body.call(builder, [lo, hi, *args])
    builder.ret_void()
    return task


def _emit_launch(module: Any) -> Value:
    """The function that cuts a loop and runs its chunks on the pool, one for all loops.

    ``launch(task, data, extent, work_ns, chunks_per_thread) -> i1``: false if there are no threads
    to be had. ``data`` begins with the extent and room for the length of a chunk.
    """
    function_type = ir.FunctionType(ir.IntType(1), [_TASK, BYTE_POINTER, INT64, INT64, INT64])
    name = module.get_unique_name("fusejit_launch")
    function = new_function(module, name, function_type, "noinline")
    task, data, extent, work_ns, per_thread = function.args
    start, reserve, ask_again, launch, release, declined = (
        function.append_basic_block(name)
        for name in ("start", "reserve", "ask_again", "launch", "release", "declined")
    )
    builder = ir.IRBuilder(start)
    threads_word = _pool_word(builder, WORD_THREADS)
    threads = builder.load(threads_word)
    running = builder.icmp_unsigned("!=", builder.load(_pool_word(builder, WORD_LAUNCH)), int64(0))
    several = builder.and_(
        builder.icmp_signed(">", threads, int64(1)), builder.icmp_signed(">", extent, int64(1))
    )
    builder.cbranch(builder.and_(running, several), reserve, declined)
    builder.position_at_end(declined)
    builder.ret(ir.Constant(ir.IntType(1), 0))

    builder.position_at_end(reserve)
    busy = _pool_word(builder, WORD_BUSY)
    exchanged = builder.cmpxchg(busy, int64(0), int64(1), "seq_cst", "monotonic")
    builder.cbranch(builder.extract_value(exchanged, 1), ask_again, declined)

    # A fork sets the threads to 1 and then waits until the pool is not busy: it must not miss
    # a launch that has read the threads before and marks the pool as busy afterwards.
    builder.position_at_end(ask_again)
    threads = builder.load_atomic(threads_word, "seq_cst", 8)
    builder.cbranch(builder.icmp_signed(">", threads, int64(1)), launch, release)
    builder.position_at_end(release)
    builder.store_atomic(int64(0), busy, "release", 8)
    builder.branch(declined)

    builder.position_at_end(launch)
    if CAN_FORK:
        _note_other_thread(builder)
    length = _chunk_length(builder, extent, work_ns, builder.mul(threads, per_thread))
    lengths = builder.bitcast(data, INT64.as_pointer())
    builder.store(length, builder.gep(lengths, [int64(1)]))
    bases = cgutils.alloca_once_value(builder, ir.Constant(BYTE_POINTER, None))
    dims = cgutils.alloca_once(builder, INT64, size=int64(2))
    steps = cgutils.alloca_once(builder, INT64, size=int64(2))
    for pointer, value in ((dims, _ceil_div(builder, extent, length)), (steps, int64(1))):
        builder.store(value, pointer)
        builder.store(int64(0), builder.gep(pointer, [int64(1)]))
    pool = builder.inttoptr(
        builder.load(_pool_word(builder, WORD_LAUNCH)), _LAUNCH_TYPE.as_pointer()
    )
    builder.call(pool, [task, bases, dims, steps, data, int64(1), int64(1), threads])
    builder.store_atomic(int64(0), busy, "release", 8)
    builder.ret(ir.Constant(ir.IntType(1), 1))
    return function


def _note_other_thread(builder: Any) -> None:
    """Set `WORD_OTHERS` if this is not the thread that started the pool."""
    starter = builder.load(_pool_word(builder, WORD_STARTER))
    others = _pool_word(builder, WORD_OTHERS)
    is_other = builder.icmp_unsigned("!=", call_c(builder, "pthread_self", INT64), starter)
    builder.store(builder.or_(builder.load(others), builder.zext(is_other, INT64)), others)


def _chunk_length(builder: Any, extent: Value, work_ns: Value, most: Value) -> Value:
    """As `fusejit.codegen.intrinsics.parallel.chunk_length` cuts, into at most so many."""
    wanted = _smaller(builder, builder.sdiv(work_ns, int64(CHUNK_NS)), most)
    length = _ceil_div(builder, extent, wanted)
    border = int64(BORDER_MULTIPLE)
    rounded = builder.mul(_ceil_div(builder, length, border), border)
    is_long = builder.icmp_signed(">=", length, int64(ROUNDED_FROM))
    return builder.select(is_long, rounded, length)


def emit_parallel_for(
    builder: Any,
    body: Callee,
    extent: Value,
    work_ns: Value,
    args: list[Value],
    chunks_per_thread: int = CHUNKS_PER_THREAD,
) -> None:
    """``body(lo, hi, *args)`` over all chunks: on the pool, or as one call."""
    append, module = builder.append_basic_block, builder.module
    large, serial, done = (append(f"parallel.{name}") for name in ("large", "serial", "done"))
    enough = builder.icmp_signed(">=", work_ns, int64(SERIAL_BELOW_NS))
    builder.cbranch(enough, large, serial)

    builder.position_at_end(large)
    fields = [extent, int64(0), *args]
    data_type = ir.LiteralStructType([field.type for field in fields])
    data = cgutils.alloca_once(builder, data_type)
    for k, field in enumerate(fields):
        builder.store(field, cgutils.gep_inbounds(builder, data, 0, k))
    key = ("task", *body.key, str(data_type))
    task = once_in_module(module, key, lambda: _emit_task(module, body, data_type))
    raw_data = builder.bitcast(data, BYTE_POINTER)
    most = int64(chunks_per_thread)
    launch = once_in_module(module, ("launch",), lambda: _emit_launch(module))
    launched = builder.call(launch, [task, raw_data, extent, work_ns, most])
    builder.cbranch(launched, done, serial)

    builder.position_at_end(serial)
    body.call(builder, [int64(0), extent, *args])
    builder.branch(done)
    builder.position_at_end(done)


def work_as_int64(builder: Any, value: Value) -> Value:
    """Nanoseconds, an int64 or a float64, as an int64."""
    if not isinstance(value.type, ir.DoubleType):
        return value
    limit = ir.Constant(value.type, 1e15)
    small = builder.fcmp_ordered("<", value, limit)
    return builder.select(small, builder.fptosi(value, INT64), int64(10**15))


@intrinsic
def parallel_for(typingctx: Any, body: Any, extent: Any, work_ns: Any, *args: Any) -> Any:
    """Run ``body(lo, hi, *args)`` over ``[0, extent)``, on the pool's threads where that pays."""
    return _typed(typingctx, CHUNKS_PER_THREAD, body, extent, work_ns, args)


@intrinsic
def uneven_for(typingctx: Any, body: Any, extent: Any, work_ns: Any, *args: Any) -> Any:
    """`parallel_for` in more and smaller chunks."""
    return _typed(typingctx, UNEVEN_CHUNKS_PER_THREAD, body, extent, work_ns, args)


def loop_types(
    typingctx: Any, body: Any, extent: Any, work_ns: Any, own: Sequence[Any], args: Sequence[Any]
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """The types of the work, of the star arguments, and of what a chunk takes, ``own`` before."""
    # Numba hands the star arguments over either as a tuple of types or as one tuple type.
    packed = args[0] if len(args) == 1 and isinstance(args[0], types.BaseTuple) else args
    extra = tuple(types.unliteral(a) for a in packed)
    work = types.unliteral(work_ns)
    if not is_body(body) or types.unliteral(extent) != types.int64:
        raise TypingError(f"a parallel loop of {body}, {extent}, ...")
    if work not in (types.int64, types.float64):
        raise TypingError(f"a parallel loop: work_ns is {work_ns}")
    argtypes = (types.int64, types.int64, *own, *extra)
    body.get_call_type(typingctx, argtypes, {})
    return work, extra, argtypes


def _typed(
    typingctx: Any, per_thread: int, body: Any, extent: Any, work_ns: Any, args: tuple[Any, ...]
) -> Any:
    work, extra, argtypes = loop_types(typingctx, body, extent, work_ns, (), args)

    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Value:
        compiled = Body(context, builder.module, body, argtypes)
        star = cgutils.unpack_tuple(builder, values[3], len(extra))
        work_value = work_as_int64(builder, values[2])
        emit_parallel_for(builder, compiled, values[1], work_value, list(star), per_thread)
        return context.get_dummy_value()

    return types.void(body, types.int64, work, types.StarArgTuple(extra)), codegen
