"""Arguments of the loops of NumPy's generalised ufuncs, laid out on the stack."""

from __future__ import annotations

from typing import Any

from fusejit.codegen.intrinsics_jit.module_symbols import BYTE_POINTER, INT64, Value, int64
from fusejit.codegen.machine.numba_api import cgutils, ir


def loop_arguments(
    builder: Any, starts: list[Value], lengths: list[Value], steps: list[Value]
) -> list[Value]:
    """The arguments of a loop for one point of the outer dimensions.

    ``steps`` are those of the core dimensions, in bytes. Lengths below 0 count as 0.
    """
    zero, one = int64(0), int64(1)
    positive = [builder.select(builder.icmp_signed(">", n, zero), n, zero) for n in lengths]
    pointers = [builder.bitcast(start, BYTE_POINTER) for start in starts]
    return [
        _on_stack(builder, BYTE_POINTER, pointers),
        _on_stack(builder, INT64, [one, *positive]),
        _on_stack(builder, INT64, [*(zero for _ in starts), *steps]),
        ir.Constant(BYTE_POINTER, None),
    ]


def _on_stack(builder: Any, element: Any, values: list[Value]) -> Value:
    """A pointer to the values side by side; the memory is the function's, whatever the loops."""
    memory = cgutils.alloca_once(builder, ir.ArrayType(element, len(values)))
    zero = int64(0)
    for number, value in enumerate(values):
        builder.store(value, builder.gep(memory, [zero, int64(number)]))
    return builder.gep(memory, [zero, zero])
