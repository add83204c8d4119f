"""Jitted meaning of `codegen.intrinsics.raw_memory`: pointers whose type has their alias scope."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any

import llvmlite.binding as llvm

from fusejit.codegen.intrinsics.raw_memory import MAX_SCOPES, MAX_STACK_BYTES
from fusejit.codegen.intrinsics_jit.arithmetic import token_type
from fusejit.codegen.intrinsics_jit.module_symbols import INT64, Value, call_c, int64
from fusejit.codegen.machine.numba_api import (
    TypingError,
    cgutils,
    emitted,
    intrinsic,
    intrinsic_of,
    intrinsic_of_literals,
    ir,
    is_stored_as_pointer,
    types,
)
from fusejit.codegen.machine.probe import probe

_PAGE = 4096
_HUGE_FROM = 4 << 20  # bytes
_MADV_HUGEPAGE = 14  # from linux/mman.h
_CACHE_LINE = 64


class FlatPointer(types.Type):  # type: ignore[misc]
    """A pointer to elements of `dtype`; non-zero scopes that differ never alias."""

    def __init__(self, dtype: Any, scope: int = 0) -> None:
        self.dtype = dtype
        self.scope = scope
        super().__init__(name=f"FlatPointer({dtype}, {scope})")

    @property
    def key(self) -> tuple[Any, int]:
        """Numba types are equal when their keys are."""
        return self.dtype, self.scope


is_stored_as_pointer(FlatPointer, lambda kind: memory_type(kind.dtype))


def memory_type(dtype: Any) -> Any:
    if dtype == types.boolean:
        return ir.IntType(8)
    if isinstance(dtype, types.Integer):
        return ir.IntType(dtype.bitwidth)
    if dtype == types.float32:
        return ir.FloatType()
    if dtype == types.float64:
        return ir.DoubleType()
    if isinstance(dtype, types.Complex):
        return ir.LiteralStructType([memory_type(dtype.underlying_float)] * 2)
    raise TypingError(f"no pointers to {dtype}")


def _itemsize(dtype: Any) -> int:
    return 1 if dtype == types.boolean else int(dtype.bitwidth) // 8


def _alignment(dtype: Any) -> int:
    return _itemsize(dtype.underlying_float if isinstance(dtype, types.Complex) else dtype)


def _literal(value: Any, name: str) -> int:
    if not isinstance(value, types.IntegerLiteral):
        raise TypingError(f"{name} must be a literal int, not {value}")
    return int(value.literal_value)


def _scope_number(value: Any, name: str) -> int:
    scope = 0 if value is None else _literal(value, name)
    if not 0 <= scope <= MAX_SCOPES:
        raise TypingError(f"{name}: scope {scope} is not in [0, {MAX_SCOPES}]")
    return scope


def mark_scope(module: Any, access: Any, scope: int) -> None:
    """Say that `access` meets no access of another scope (LLVM's ScopedNoAliasAA)."""
    if scope == 0:
        return
    known = module.__dict__.setdefault("_fusejit_scopes", {})
    if not known:
        domain = module.add_metadata(["fusejit"])
        known["nodes"] = [module.add_metadata([f"scope{k}", domain]) for k in range(MAX_SCOPES + 1)]
    if scope not in known:
        nodes = known["nodes"]
        others = [node for k, node in enumerate(nodes) if k not in (0, scope)]
        known[scope] = module.add_metadata([nodes[scope]]), module.add_metadata(others)
    access.set_metadata("alias.scope", known[scope][0])
    access.set_metadata("noalias", known[scope][1])


_preferred_bits: ContextVar[int] = ContextVar("fusejit_preferred_bits", default=0)


@contextlib.contextmanager
def vector_width(bits: int) -> Iterator[None]:
    """Within, functions that use `flat` or `put` prefer registers of `bits`; 0: LLVM decides."""
    token = _preferred_bits.set(bits)
    try:
        yield
    finally:
        _preferred_bits.reset(token)


def prefer_vector_width(function: Any, needed: int = 0) -> None:
    """Ask for registers of as many bits as `vector_width` says, or else as are ``needed``."""
    bits = _preferred_bits.get() or needed
    if bits:  # llvmlite's set refuses names that it does not know; the base class does not
        set.add(function.attributes, f'"prefer-vector-width"="{bits}"')


def prefer_widest(function: Any) -> None:
    """Ask for the widest registers, where LLVM by itself prefers those of 256 bits.

    For what takes several instructions an element (extrema that know NaN, comparisons, folds) they
    are faster in the nearest cache. Plain arithmetic is not: loads across two cache lines.
    """
    if probe().vector_bits > 256:
        prefer_vector_width(function, probe().vector_bits)


def _emit_flat(context: Any, builder: Any, signature: Any, args: Any) -> Value:
    prefer_vector_width(builder.function)
    array = context.make_array(signature.args[0])(context, builder, args[0])
    return builder.bitcast(array.data, context.get_value_type(signature.return_type))


def _check_array(name: str, array: Any) -> None:
    if not isinstance(array, types.Array):
        raise TypingError(f"{name}: {array} is not an array")


@intrinsic
def flat(typingctx: Any, array: Any) -> Any:
    """Pointer to the first element, promising nothing."""
    _check_array("flat", array)
    memory_type(array.dtype)
    return FlatPointer(array.dtype)(array), _emit_flat


@intrinsic_of_literals
def flat_scoped(typingctx: Any, array: Any, scope: Any) -> Any:
    """Pointer to the first element in alias scope `scope`."""
    _check_array("flat_scoped", array)
    number = _scope_number(scope, "flat_scoped")
    return FlatPointer(array.dtype, number)(array, scope), _emit_flat


def _element(builder: Any, pointer: Value, offset: Value) -> Value:
    return builder.gep(pointer, [offset], inbounds=True)


def _part_addresses(builder: Any, pointer: Value, offset: Value, dtype: Any) -> list[Value]:
    """The addresses of an element's numbers: complex numbers have two, which LLVM sees apart."""
    if not isinstance(dtype, types.Complex):
        return [_element(builder, pointer, offset)]
    number, index = memory_type(dtype.underlying_float), ir.IntType(32)
    start = builder.bitcast(_element(builder, pointer, offset), number.as_pointer())
    return [builder.gep(start, [ir.Constant(index, k)], inbounds=True) for k in range(2)]


def _is_pointer(kind: Any) -> bool:
    return isinstance(kind, FlatPointer)


def complex_value(builder: Any, parts: Sequence[Value]) -> Value:
    """A complex number of two floats."""
    made = ir.Constant(ir.LiteralStructType([part.type for part in parts]), ir.Undefined)
    for at, part in enumerate(parts):
        made = builder.insert_value(made, part, at)
    return made


def _is_index(offset: Any) -> bool:
    return bool(types.unliteral(offset) == types.int64)


@emitted(lambda p, at: _is_pointer(p) and _is_index(at), lambda p, at: p.dtype, of_type=True)
def get(builder: Any, kind: Any, pointer: Value, offset: Value) -> Value:
    """Load one element."""
    numbers = []
    for place in _part_addresses(builder, pointer, offset, kind.dtype):
        loaded = builder.load(place, align=_alignment(kind.dtype))
        mark_scope(builder.module, loaded, kind.scope)
        numbers.append(loaded)
    if isinstance(kind.dtype, types.Complex):
        return complex_value(builder, numbers)
    if kind.dtype == types.boolean:
        return builder.icmp_unsigned("!=", loaded, ir.Constant(loaded.type, 0))
    return loaded


@intrinsic
def put(typingctx: Any, pointer: Any, offset: Any, value: Any) -> Any:
    """Store one element of exactly the pointer's dtype."""
    if not isinstance(pointer, FlatPointer) or not _is_index(offset):
        raise TypingError(f"put({pointer}, {offset}, {value})")
    dtype = pointer.dtype
    if types.unliteral(value) != dtype:
        raise TypingError(f"put: {value} into memory of {dtype}: cast it first")

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Value:
        base, offset_value, stored = args
        prefer_vector_width(builder.function)
        if dtype == types.boolean:
            stored = builder.zext(stored, ir.IntType(8))
        numbers = [stored]
        if isinstance(dtype, types.Complex):
            numbers = [builder.extract_value(stored, at) for at in range(2)]
        places = _part_addresses(builder, base, offset_value, dtype)
        for number, place in zip(numbers, places, strict=True):
            store = builder.store(number, place, align=_alignment(dtype))
            mark_scope(builder.module, store, pointer.scope)
        return context.get_dummy_value()

    return types.void(pointer, types.int64, dtype), codegen


@intrinsic_of_literals
def scratch(typingctx: Any, n: Any, token: Any, scope: Any = None) -> Any:
    """Stack memory, allocated in the function's entry block."""
    dtype, count = token_type(token), _literal(n, "scratch")
    if dtype is None or count < 0 or count * _itemsize(dtype) > MAX_STACK_BYTES:
        raise TypingError(f"scratch({n}, {token}): at most {MAX_STACK_BYTES} bytes")
    pointer_type = FlatPointer(dtype, _scope_number(scope, "scratch"))

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Value:
        with builder.goto_block(builder.function.entry_basic_block):
            builder.position_at_start(builder.function.entry_basic_block)
            memory = builder.alloca(memory_type(dtype), size=int64(count))
            memory.align = _CACHE_LINE
        return memory

    return pointer_type(n, token, types.none if scope is None else scope), codegen


def _ask_for_huge_pages(builder: Any, memory: Value, num_bytes: Value) -> None:
    """As NumPy does for its own arrays: a page of 4 KiB costs a fault of its own."""
    start = builder.ptrtoint(memory, INT64)
    large = builder.icmp_unsigned(">=", num_bytes, int64(_HUGE_FROM))
    known = builder.icmp_unsigned("!=", start, int64(0))
    with builder.if_then(builder.and_(large, known), likely=False):
        page = int64(_PAGE)
        offset = builder.urem(builder.sub(page, builder.urem(start, page)), page)
        advice = ir.Constant(ir.IntType(32), _MADV_HUGEPAGE)
        length = builder.sub(num_bytes, offset)
        aligned = builder.add(start, offset)
        call_c(builder, "madvise", ir.IntType(32), aligned, length, advice)


@intrinsic_of_literals
def heap_scratch(typingctx: Any, n: Any, token: Any, scope: Any = None) -> Any:
    """Heap memory from ``aligned_alloc``."""
    dtype = token_type(token)
    if dtype is None or not _is_index(n):
        raise TypingError(f"heap_scratch({n}, {token})")
    pointer_type = FlatPointer(dtype, _scope_number(scope, "heap_scratch"))

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Value:
        count = args[0]
        zero, line = int64(0), int64(_CACHE_LINE)
        count = builder.select(builder.icmp_signed(">", count, zero), count, zero)
        num_bytes = builder.mul(count, int64(_itemsize(dtype)))
        lines = builder.udiv(builder.add(num_bytes, int64(2 * _CACHE_LINE - 1)), line)
        void_pointer, total = ir.IntType(8).as_pointer(), builder.mul(lines, line)
        memory = call_c(builder, "aligned_alloc", void_pointer, line, total)
        memory.callee.return_value.add_attribute("noalias")
        if sys.platform == "linux":
            _ask_for_huge_pages(builder, memory, num_bytes)
        return builder.bitcast(memory, memory_type(dtype).as_pointer())

    return pointer_type(types.int64, token, types.none if scope is None else scope), codegen


def _prefer_scalar_loads(context: Any, function: Any) -> None:
    """On AMD's processors a gather takes longer than as many loads, which LLVM does not reckon."""
    if llvm.get_host_cpu_name().startswith("znver"):
        features = f"{context.codegen()._tm_features},+prefer-no-gather,+prefer-no-scatter"
        set.add(function.attributes, f'"target-features"="{features}"')


@intrinsic
def any_step(typingctx: Any, n: Any) -> Any:
    """The number plus a zero that an empty piece of assembler hands through."""
    if not _is_index(n):
        raise TypingError(f"any_step({n})")

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Value:
        kind = ir.FunctionType(INT64, [INT64])
        _prefer_scalar_loads(context, builder.function)
        zero = builder.asm(kind, "", "=r,0", [int64(0)], side_effect=False)
        return builder.add(args[0], zero, flags=["nsw"])

    return types.int64(types.int64), codegen


@emitted(_is_pointer, types.boolean)
def is_null(builder: Any, pointer: Value) -> Value:
    """True for the null pointer."""
    return cgutils.is_null(builder, pointer)


@emitted(_is_pointer, types.void)
def free_scratch(builder: Any, pointer: Value) -> None:
    """Give heap memory back."""
    start = builder.bitcast(pointer, ir.IntType(8).as_pointer())
    call_c(builder, "free", ir.VoidType(), start)


def _array_query(name: str, result: Any, emit: Any) -> Any:
    def query(array: Any) -> Any:
        _check_array(name, array)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Value:
            position = context.data_model_manager[array].get_field_position

            def numbers(field: str) -> list[Value]:
                place = position(field)
                return [builder.extract_value(args[0], [place, k]) for k in range(array.ndim)]

            start = builder.ptrtoint(builder.extract_value(args[0], position("data")), INT64)
            shape, strides = numbers("shape"), numbers("strides")
            return emit(builder, start, shape, strides, _itemsize(array.dtype))

        return result(array), codegen

    return intrinsic_of(name, 1, query)


def _emit_aligned(builder: Any, start: Value, shape: Any, strides: Any, itemsize: int) -> Value:
    together = start
    for stride in strides:
        together = builder.or_(together, stride)
    low_bits = builder.and_(together, int64(itemsize - 1))
    return builder.icmp_unsigned("==", low_bits, int64(0))


def _emit_bound(
    sign: str, builder: Any, start: Value, shape: Any, strides: Any, itemsize: int
) -> Value:
    """`start` plus all reaches of one sign, an element more at the end; `start` if it is empty."""
    zero, one = int64(0), int64(1)
    bound = builder.add(start, int64(itemsize if sign == ">" else 0))
    empty = ir.Constant(ir.IntType(1), 0)
    for extent, stride in zip(shape, strides, strict=True):
        reach = builder.mul(builder.sub(extent, one), stride)
        counted = builder.select(builder.icmp_signed(sign, reach, zero), reach, zero)
        bound = builder.add(bound, counted)
        empty = builder.or_(empty, builder.icmp_signed("==", extent, zero))
    return builder.select(empty, start, bound)


address = _array_query("address", types.int64, lambda builder, start, *others: start)
itemsize_aligned = _array_query("itemsize_aligned", types.boolean, _emit_aligned)
low_address = _array_query("low_address", types.int64, partial(_emit_bound, "<"))
high_address = _array_query("high_address", types.int64, partial(_emit_bound, ">"))
