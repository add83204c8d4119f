"""Jitted meaning of `codegen.intrinsics.matrix_products`: NumPy's loops, called by symbol."""

from __future__ import annotations

from typing import Any

from fusejit.codegen.intrinsics.matrix_products import DOT_SYMBOL, PRODUCT_SYMBOL
from fusejit.codegen.intrinsics_jit.gufunc_calls import loop_arguments
from fusejit.codegen.intrinsics_jit.module_symbols import LOOP_TYPE, Value, int64
from fusejit.codegen.intrinsics_jit.raw_memory import FlatPointer
from fusejit.codegen.machine.numba_api import TypingError, cgutils, intrinsic_of, types

_TOKENS = {types.float32: ("f32", 4), types.float64: ("f64", 8)}


def _call(
    builder: Any, symbol: str, starts: list[Value], lengths: list[Value], steps: list[Value]
) -> None:
    """Call a loop of NumPy once."""
    loop = cgutils.get_or_insert_function(builder.module, LOOP_TYPE, symbol)
    builder.call(loop, loop_arguments(builder, starts, lengths, steps))


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
            starts.append(builder.gep(pointer, [at]))
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
        starts = [builder.gep(pointer, [at]) for pointer, at in places]
        steps = [builder.mul(step, int64(size)) for step in (left_step, right_step)]
        _call(builder, DOT_SYMBOL + token, starts, [length], steps)
        return context.get_dummy_value()

    return types.void(*map(types.unliteral, operands)), codegen


dot_into = intrinsic_of("dot_into", 8, _dot_into, "One product of vectors.")
