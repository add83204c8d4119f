"""Jitted meaning of `fusejit.codegen.intrinsics.complex_intrinsics`."""

from __future__ import annotations

from typing import Any

from fusejit.codegen.intrinsics_jit.module_symbols import Value
from fusejit.codegen.intrinsics_jit.raw_memory import FlatPointer
from fusejit.codegen.machine.numba_api import (
    TypingError,
    emitted,
    intrinsic,
    intrinsic_of,
    ir,
    types,
)


def _part(name: str, at: int) -> Any:
    def part(x: Any) -> Any:
        if not isinstance(x, types.Complex):
            raise TypingError(f"{name}: {x}")

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Value:
            return builder.extract_value(args[0], at)

        return x.underlying_float(x), codegen

    return intrinsic_of(name, 1, part)


real_part, imag_part = _part("real_part", 0), _part("imag_part", 1)
_COMPLEX = {types.float32: types.complex64, types.float64: types.complex128}


@intrinsic
def complex_of(typingctx: Any, real: Any, imag: Any) -> Any:
    """Two floats as a complex number."""
    result = _COMPLEX.get(real)
    if result is None or real != imag:
        raise TypingError(f"complex_of: {real}, {imag}")

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Value:
        made = ir.Constant(context.get_value_type(result), ir.Undefined)
        for at, part in enumerate(args):
            made = builder.insert_value(made, part, at)
        return made

    return result(real, imag), codegen


@emitted(lambda a, b, c: isinstance(a, types.Float) and a == b == c, lambda a, b, c: a)
def fma(builder: Any, a: Value, b: Value, c: Value) -> Value:
    """LLVM's ``fma``: one instruction where the machine has it, else a call."""
    return builder.fma(a, b, c)


@intrinsic
def parts(typingctx: Any, pointer: Any) -> Any:
    """The same address as a pointer to floats."""
    if not isinstance(pointer, FlatPointer) or not isinstance(pointer.dtype, types.Complex):
        raise TypingError(f"parts: {pointer}")
    result = FlatPointer(pointer.dtype.underlying_float, pointer.scope)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Value:
        return builder.bitcast(args[0], context.get_value_type(result))

    return result(pointer), codegen
