"""Jitted meaning of `fusejit.codegen.intrinsics.complex_intrinsics`."""

from __future__ import annotations

from typing import Any

from fusejit.codegen.intrinsics_jit.module_symbols import Value
from fusejit.codegen.intrinsics_jit.raw_memory import FlatPointer, complex_value, memory_type
from fusejit.codegen.machine.numba_api import emitted, types


def _part(at: int) -> Any:
    @emitted(lambda x: isinstance(x, types.Complex), lambda x: x.underlying_float)
    def part(builder: Any, x: Value) -> Value:
        return builder.extract_value(x, at)

    return part


real_part, imag_part = _part(0), _part(1)
_COMPLEX = {types.float32: types.complex64, types.float64: types.complex128}


@emitted(lambda real, imag: real in _COMPLEX and real == imag, lambda real, imag: _COMPLEX[real])
def complex_of(builder: Any, real: Value, imag: Value) -> Value:
    """Two floats as a complex number."""
    return complex_value(builder, (real, imag))


@emitted(lambda a, b, c: isinstance(a, types.Float) and a == b == c, lambda a, b, c: a)
def fma(builder: Any, a: Value, b: Value, c: Value) -> Value:
    """LLVM's ``fma``: one instruction where the machine has it, else a call."""
    return builder.fma(a, b, c)


@emitted(
    lambda p: isinstance(p, FlatPointer) and isinstance(p.dtype, types.Complex),
    lambda p: FlatPointer(p.dtype.underlying_float, p.scope),
    of_type=True,
)
def parts(builder: Any, kind: Any, pointer: Value) -> Value:
    """The same address as a pointer to floats."""
    return builder.bitcast(pointer, memory_type(kind.dtype.underlying_float).as_pointer())
