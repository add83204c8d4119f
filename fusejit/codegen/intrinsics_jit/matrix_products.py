"""Jitted meaning of `codegen.intrinsics.matrix_products`: NumPy's loops, called by symbol."""

from __future__ import annotations

from typing import Any

from fusejit.codegen.intrinsics.matrix_products import DOT_SYMBOL, PRODUCT_SYMBOL
from fusejit.codegen.intrinsics_jit.module_symbols import (
    BYTE_POINTER,
    INT64,
    LOOP_TYPE,
    Value,
    int64,
)
from fusejit.codegen.intrinsics_jit.raw_memory import FlatPointer
from fusejit.codegen.machine.numba_api import TypingError, cgutils, intrinsic_of, ir, types

_TOKENS = {types.float32: ("f32", 4), types.float64: ("f64", 8)}


def _on_stack(builder: Any, element: Any, values: list[Value]) -> Value:
    """A pointer to the values side by side; the memory is the function's, whatever the loops."""
    memory = cgutils.alloca_once(builder, ir.ArrayType(element, len(values)))
    zero = int64(0)
    for number, value in enumerate(values):
        builder.store(value, builder.gep(memory, [zero, int64(number)]))
    return builder.gep(memory, [zero, zero])


def _call(
    builder: Any, symbol: str, starts: list[Value], lengths: list[Value], steps: list[Value]
) -> None:
    """Call a loop of NumPy once: with one outer dimension of length 1, and lengths from 0 on."""
    zero, one = int64(0), int64(1)
    positive = [builder.select(builder.icmp_signed(">", n, zero), n, zero) for n in lengths]
    loop = cgutils.get_or_insert_function(builder.module, LOOP_TYPE, symbol)
    builder.call(
        loop,
        [
            _on_stack(builder, BYTE_POINTER, starts),
            _on_stack(builder, INT64, [one, *positive]),
            _on_stack(builder, INT64, [zero, zero, zero, *steps]),
            ir.Constant(BYTE_POINTER, None),
        ],
    )


def _start(builder: Any, pointer: Value, at: Value) -> Value:
    return builder.bitcast(builder.gep(pointer, [at]), BYTE_POINTER)


def _check(name: str, pointers: tuple[Any, ...], numbers: tuple[Any, ...]) -> None:
    if (
        not all(isinstance(p, FlatPointer) for p in pointers)
        or len({p.dtype for p in pointers}) != 1
        or pointers[0].dtype not in _TOKENS
        or any(types.unliteral(number) != types.int64 for number in numbers)
    ):
        raise TypingError(f"{name}({pointers}, {numbers})")


def _matmul_into(*operands: Any) -> Any:
    pointers = operands[:12:4]
    _check("matmul_into", pointers, tuple(x for x in operands if x not in pointers))
    token, size = _TOKENS[pointers[0].dtype]

    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Value:
        bytes_per_step = int64(size)
        starts, steps = [], []
        for first in (0, 4, 8):
            pointer, at, outer, inner = values[first : first + 4]
            starts.append(_start(builder, pointer, at))
            steps += [builder.mul(step, bytes_per_step) for step in (outer, inner)]
        _call(builder, PRODUCT_SYMBOL + token, starts, list(values[12:]), steps)
        return context.get_dummy_value()

    return types.void(*map(types.unliteral, operands)), codegen


matmul_into = intrinsic_of("matmul_into", 15, _matmul_into, "One matrix product.")


def _dot_into(*operands: Any) -> Any:
    pointers = operands[:7:3]
    _check("dot_into", pointers, tuple(x for x in operands if x not in pointers))
    token, size = _TOKENS[pointers[0].dtype]

    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Value:
        left, left_at, left_step, right, right_at, right_step, out, length = values
        places = (left, left_at), (right, right_at), (out, int64(0))
        starts = [_start(builder, *place) for place in places]
        steps = [builder.mul(step, int64(size)) for step in (left_step, right_step)]
        _call(builder, DOT_SYMBOL + token, starts, [length], steps)
        return context.get_dummy_value()

    return types.void(*map(types.unliteral, operands)), codegen


dot_into = intrinsic_of("dot_into", 8, _dot_into, "One product of vectors.")
