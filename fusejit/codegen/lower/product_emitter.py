"""A matrix product inside a kernel as a call of `matmul_into`, one for each matrix of a stack.

There is no switch to loops written out for small products: measured, the call is not slower than
they are for any size (docs/performance.md), and its bits are NumPy's.
"""

from __future__ import annotations

from fusejit.codegen.intrinsics.matrix_products import PRODUCT_SYMBOL, product_loops
from fusejit.codegen.loop_nests.loop_nest import LoopDim, LoopNest, Reference, token, wrap
from fusejit.ir.loops.index_math import address
from fusejit.ir.loops.nodes import Call, Expr, Integer, Let, Stmt
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.ops import GenericOp


def has_call(op: GenericOp) -> bool:
    """Whether NumPy has a loop for the product: of floats, where its ufunc is as declared."""
    return PRODUCT_SYMBOL + token(op.results[0].type.dtype) in product_loops()


def product_call(nest: LoopNest) -> list[Stmt]:
    """Calls that write the product into the nest's output; its operands lie in memory."""
    row, column, depth = _core(nest.op)
    (out,) = nest.outputs
    core = [d for d in (row, column, depth) if d is not None]
    operands: list[Expr] = [
        *_operand(nest, nest.inputs[0], row, depth, core),
        *_operand(nest, nest.inputs[1], depth, column, core),
        *_operand(nest, out, row, column, core),
    ]
    if row is None and column is None:
        left, left_at, _, left_step, right, right_at, right_step, _, number, *_ = operands
        length = Integer(nest.loops[depth].extent)
        vectors = (left, left_at, left_step, right, right_at, right_step, number, length)
        return [Let("_", Call("dot_into", vectors))]
    one = Polynomial.const(1)
    lengths = [one if d is None else nest.loops[d].extent for d in (row, depth, column)]
    call = Let("_", Call("matmul_into", (*operands, *map(Integer, lengths))))
    stack: list[LoopDim] = [loop for d, loop in enumerate(nest.loops) if d not in core]
    return wrap(stack, [call])


def is_addressable(nest: LoopNest, reference: Reference) -> bool:
    """Whether each axis of an operand has one stride."""
    return reference.pointer is not None and all(
        reference.offset.is_linear_in(loop.var) for loop in nest.loops
    )


def _core(op: GenericOp) -> tuple[int | None, int | None, int]:
    """The dims of rows, columns (None where an operand is a vector) and of the sum."""
    depth = len(op.domain) - 1
    left, right = (operand.map.results for operand in op.inputs)
    column = depth - 1 if len(right) > 1 else None
    row = None
    if len(left) > 1:
        row = depth - 1 if column is None else depth - 2
    return row, column, depth


def _operand(
    nest: LoopNest, reference: Reference, outer: int | None, inner: int | None, core: list[int]
) -> list[Expr]:
    """Pointer, offset and the two steps."""
    assert reference.pointer is not None
    zero = Polynomial.const(0)
    start = reference.offset
    for d in core:
        start = start.substitute(nest.loops[d].var, zero)
    steps = [
        zero if d is None else nest.stride(reference, nest.loops[d].var) for d in (outer, inner)
    ]
    return [address(reference.pointer), *map(Integer, (start, *steps))]
