"""Loops over memory that keep vectors in registers, written for LLVM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fusejit.codegen.intrinsics_jit.module_symbols import INT64, Value, int64
from fusejit.codegen.machine.numba_api import ir

_INT32 = ir.IntType(32)


def load_vector(builder: Any, pointer: Value, count: int, align: int | None = None) -> Value:
    """The ``count`` numbers that begin at a pointer, as one vector."""
    element = pointer.type.pointee
    itemsize = 8 if isinstance(element, ir.DoubleType) else 4
    wide = builder.bitcast(pointer, ir.VectorType(element, count).as_pointer())
    return builder.load(wide, align=align or itemsize)


def repeated(builder: Any, number: Value, count: int) -> Value:
    """A vector of one number; of one lane the number itself."""
    if count == 1:
        return number
    undefined = ir.Constant(ir.VectorType(number.type, count), ir.Undefined)
    first = builder.insert_element(undefined, number, ir.Constant(_INT32, 0))
    return _chosen(builder, first, [0] * count)


def _chosen(builder: Any, vector: Value, places: Sequence[int]) -> Value:
    mask = ir.Constant(ir.VectorType(_INT32, len(places)), list(places))
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), mask)


def joined(
    builder: Any,
    vector: Value,
    merge: Callable[[Value, Value], Value],
    *,
    neighbours: bool = False,
) -> Value:
    """Merge the numbers of a vector in pairs until one is left: of its halves, or neighbours."""
    count = vector.type.count
    while count > 1:
        count //= 2
        if neighbours:
            left, right = range(0, 2 * count, 2), range(1, 2 * count, 2)
        else:
            left, right = range(count), range(count, 2 * count)
        vector = merge(_chosen(builder, vector, left), _chosen(builder, vector, right))
    return builder.extract_element(vector, ir.Constant(_INT32, 0))


def vector_loop(
    builder: Any,
    start: Value,
    stop: Value,
    step: int,
    values: Sequence[Value],
    body: Callable[[Any, Value, list[Value]], Sequence[Value]],
) -> list[Value]:
    """Carry values through ``for at in range(start, stop, step)``; what they are at its end.

    ``body(builder, at, values)`` gives the next values.
    """
    before = builder.block
    head = builder.append_basic_block("lanes.head")
    inside = builder.append_basic_block("lanes.body")
    end = builder.append_basic_block("lanes.end")
    builder.branch(head)
    builder.position_at_end(head)
    at = builder.phi(INT64)
    carried = [builder.phi(v.type) for v in values]
    builder.cbranch(builder.icmp_signed("<", at, stop), inside, end)
    builder.position_at_end(inside)
    new = body(builder, at, carried)
    after = builder.add(at, int64(step))
    last = builder.block
    builder.branch(head)
    for phi, first, then in zip([at, *carried], [start, *values], [after, *new], strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(then, last)
    builder.position_at_end(end)
    return carried
