"""Jitted meaning of `fusejit.codegen.intrinsics.linear_algebra`: NumPy's loops, called by symbol.

A loop reports that a matrix is singular by the floating-point flag for invalid operations. Nothing
else may set it meanwhile, so a function that is not inlined clears it, calls and tests it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fusejit.codegen.intrinsics_jit.gufunc_calls import loop_arguments
from fusejit.codegen.intrinsics_jit.module_symbols import (
    LOOP_TYPE,
    Value,
    call_c,
    int64,
    new_function,
)
from fusejit.codegen.intrinsics_jit.raw_memory import FlatPointer
from fusejit.codegen.machine.numba_api import TypingError, cgutils, intrinsic_of, ir, types
from fusejit.ir.inline_calls.inline_linalg import FE_INVALID, INLINE_LINALG, InlineLinalg

_BOOL, _I32 = ir.IntType(1), ir.IntType(32)


def _checked_loop(module: Any, symbol: str) -> Value:
    """The function that calls a loop and returns whether it reports no error."""
    name = f"{symbol}_checked"
    known = module.globals.get(name)
    if known is not None:
        return known
    kind = ir.FunctionType(_BOOL, LOOP_TYPE.args)
    made = new_function(module, name, kind, "noinline")
    builder = ir.IRBuilder(made.append_basic_block("entry"))
    flag = ir.Constant(_I32, FE_INVALID)
    call_c(builder, "feclearexcept", _I32, flag)
    builder.call(cgutils.get_or_insert_function(module, LOOP_TYPE, symbol), made.args)
    found = call_c(builder, "fetestexcept", _I32, flag)
    builder.ret(builder.icmp_unsigned("==", found, ir.Constant(_I32, 0)))
    return made


def _typer(row: InlineLinalg) -> Callable[..., Any]:
    num_pointers = row.num_operands + bool(row.error)

    def typed(*operands: Any) -> Any:
        pointers, numbers = operands[:num_pointers], operands[num_pointers:]
        if (
            not all(isinstance(p, FlatPointer) for p in pointers)
            or any(p.dtype != types.float64 for p in pointers)
            or any(types.unliteral(number) != types.int64 for number in numbers)
        ):
            raise TypingError(f"{row.intrinsic}{operands}")

        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Value:
            starts, lengths = list(values[:num_pointers]), list(values[num_pointers:])
            number = None
            if not row.error:
                number = cgutils.alloca_once(builder, ir.DoubleType())
                starts.append(number)
            step = int64(8)
            along = [builder.mul(length, step) for length in (lengths[0], lengths[-1])]
            steps = [along[0], step]
            if row.error:
                steps += [along[1], step] * row.num_operands
            arguments = loop_arguments(builder, starts, lengths, steps)
            called = _checked_loop(builder.module, row.symbol)
            is_regular = builder.call(called, arguments)
            return is_regular if number is None else builder.load(number)

        result = types.boolean if row.error else types.float64
        return result(*map(types.unliteral, operands)), codegen

    return typed


linalg_inv, linalg_solve, linalg_cholesky, linalg_det = (
    intrinsic_of(
        row.intrinsic,
        row.num_operands + 1 + bool(row.error) + (row.num_operands > 1),
        _typer(row),
        f"`numpy.linalg.{row.name}` of dense matrices.",
    )
    for row in INLINE_LINALG
)
