"""Methods of Python's numbers: ``n.bit_length()``, ``x.is_integer()``."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.ops.elementwise_op import emit_scalar
from fusejit.tracer.ops.kernel_numbers import as_kernel_number
from fusejit.tracer.values.operand_types import BOOL, F64, I64

_SMALLEST = np.iinfo(np.int64).min


@primitive(int.bit_length)
def _bit_length(number: Any) -> Any:
    number = as_kernel_number(number, Kind.PYTHON, I64)
    return emit_scalar("bit_length", [number], [I64], I64, _count_bits)


def _count_bits(builder: PayloadBuilder, refs: list[int]) -> int:
    """How often a number can be halved until it is 0, found by halving."""
    rest = builder.op("absolute", refs, I64)
    zero = total = builder.const(0, I64)
    for count in (32, 16, 8, 4, 2, 1):
        is_large = builder.op("greater_equal", [rest, builder.const(1 << count, I64)], BOOL)
        halved = builder.op("select", [is_large, builder.const(count, I64), zero], I64)
        rest = builder.op("right_shift", [rest, halved], I64)
        total = builder.op("add", [total, halved], I64)
    total = builder.op(
        "add", [total, builder.op("minimum", [rest, builder.const(1, I64)], I64)], I64
    )
    is_smallest = builder.op("equal", [refs[0], builder.const(_SMALLEST, I64)], BOOL)
    return builder.op("select", [is_smallest, builder.const(64, I64), total], I64)


@primitive(float.is_integer)
def _is_integer(number: Any) -> Any:
    number = as_kernel_number(number, Kind.PYTHON, F64)
    return emit_scalar("is_integer", [number], [F64], BOOL, _has_no_fraction)


def _has_no_fraction(builder: PayloadBuilder, refs: list[int]) -> int:
    whole = builder.op("equal", [builder.op("trunc", refs, F64), refs[0]], BOOL)
    return builder.op("logical_and", [whole, builder.op("isfinite", refs, BOOL)], BOOL)
