"""What the nests of reductions have in common: accumulators, one point, the final store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fusejit.codegen.loop_nests.loop_nest import LoopDim, LoopNest, Reference, over, point_of
from fusejit.dataclass import dataclass, replace
from fusejit.ir.loops.index_math import Index, address, operand
from fusejit.ir.loops.nodes import Call, Expr, For, Let, Number, Pointer, Stmt
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.loops.scalar_math import scalar
from fusejit.ir.ops import GenericOp
from fusejit.ir.payload import Instr, Payload
from fusejit.ir.scalar_ops.combiners import COMBINERS

PLAIN_BLOCK = 4096  # numbers of a parallel block where the order of merging does not show


@dataclass(frozen=True, slots=True)
class Accumulator:
    """One init of the op: how partial results merge."""

    combiner: str
    dtype: np.dtype
    suffix: str
    start: Reference | None

    @property
    def is_ordered(self) -> bool:
        """Whether the order of merging shows in the bits."""
        return self.dtype.kind in COMBINERS[self.combiner].ordered

    @property
    def in_tree(self) -> bool:
        """Whether numbers are merged in the tree of `fusejit.ir.interpreter.summation`."""
        return self.is_ordered and COMBINERS[self.combiner].in_tree

    @property
    def accumulators(self) -> int:
        """How many there are in each leaf of the tree."""
        return COMBINERS[self.combiner].accumulators

    @property
    def in_rows(self) -> bool:
        """Whether there is a tree for as many rows as fit into NumPy's buffer."""
        return COMBINERS[self.combiner].in_rows

    @property
    def in_lanes(self) -> bool:
        """Whether lanes are merged: extrema (LLVM vectorises integers by itself)."""
        return self.is_extremum

    @property
    def identity(self) -> Number:
        """The number to start from."""
        return Number(COMBINERS[self.combiner].identity(self.dtype), self.dtype)

    @property
    def is_extremum(self) -> bool:
        """Whether it is a float max or min: there a total of zero is +0.0, whatever was met."""
        return self.dtype.kind == "f" and self.combiner in ("max", "min")

    def combine(self, left: Expr, right: Expr) -> Expr:
        """``left combiner right``."""
        if self.is_extremum:
            return Call(f"lane_{self.combiner}", (left, right))
        return scalar(COMBINERS[self.combiner].scalar_op, left, right, dtype=self.dtype)


def accumulators(
    op: GenericOp, starts: Sequence[Reference | None], tag: str = ""
) -> list[Accumulator]:
    """One per init; ``tag`` keeps the names of nests that share a function apart."""
    many = len(op.inits) > 1
    return [
        Accumulator(
            init.combiner or "add", result.type.dtype, f"{tag}_{at}" if many else tag, starts[at]
        )
        for at, (init, result) in enumerate(zip(op.inits, op.results, strict=True))
    ]


def reduction_point(
    nest: LoopNest,
    replacements: Mapping[str, Polynomial],
    prefix: str | None = None,
    inits: Sequence[Expr | None] | None = None,
) -> tuple[list[Let], list[Expr]]:
    """The payload with loop variables replaced by offsets inside blocks, lanes or tiles."""
    inputs = nest.inputs
    dims = dict(nest.index_dims)
    for var, value in replacements.items():
        inputs = [r.substitute(var, value) for r in inputs]
        dims = {d: p.substitute(var, value) for d, p in dims.items()}
    inits = [None] * len(nest.outputs) if inits is None else inits
    return point_of(nest, inputs, inits, dims, prefix)


def instr_of(payload: Payload, ref: int) -> Instr | None:
    """The instruction that a ref is; None for an argument."""
    at = ref - payload.num_arguments
    return payload.instrs[at] if at >= 0 else None


def block_dtypes(nest: LoopNest, accs: Sequence[Accumulator]) -> dict[str, np.dtype]:
    """By suffix, the integers in which the sums of blocks have room, where those are narrower.

    ``count_nonzero`` adds bools as int64, eight in a register; the total of `PLAIN_BLOCK` of them
    fits 16 bits. Totals of 8 and 16 bits fit 32.
    """
    payload = nest.op.payload
    found: dict[str, np.dtype] = {}
    for acc, ref in zip(accs, payload.results, strict=True):
        instr = instr_of(payload, ref)
        if instr is None or instr.op != "cast" or acc.combiner != "add":
            continue
        source = payload.dtype_of(instr.operands[0])
        if source.kind in "iub" and acc.dtype.kind in "iu" and acc.dtype.itemsize == 8:
            if source.kind == "b":
                found[acc.suffix] = np.dtype(np.uint16)
            elif source.itemsize < 4:
                found[acc.suffix] = np.dtype(f"{source.kind}4")
    return found


def write_totals(nest: LoopNest, accs: Sequence[Accumulator], values: Sequence[Expr]) -> list[Stmt]:
    """Store the totals, each combined with what its init starts from."""
    statements: list[Stmt] = []
    for acc, reference, value in zip(accs, nest.outputs, values, strict=True):
        total = value if acc.start is None else acc.combine(acc.start.load(), value)
        if acc.is_extremum:
            total = scalar("add", total, Number(0.0, acc.dtype), dtype=acc.dtype)
        statements.append(reference.store(total))
    return statements


def write_columns(
    nest: LoopNest,
    accs: Sequence[Accumulator],
    column: LoopDim,
    totals: Sequence[Expr],
    at: Polynomial,
    count: Index = "w",
) -> For:
    """Store the totals of ``count`` columns, the loop's column being ``at``."""
    placed = [r.substitute(column.var, at) for r in nest.outputs]
    starts = [a.start and a.start.substitute(column.var, at) for a in accs]
    moved = [replace(a, start=s) for a, s in zip(accs, starts, strict=True)]
    return over("c", count, write_totals(replace(nest, outputs=placed), moved, totals))


def sweep(body: Sequence[Stmt]) -> For:
    """``body`` for each column ``c`` of a tile of ``w``."""
    return over("c", "w", body)


def filled(pointer: Pointer, count: Index, value: Expr) -> Let:
    """``count`` elements from the first one on are ``value``."""
    return Let("_", Call("fill", (address(pointer), operand(0), operand(count), value)))


def ceil_div(extent: Polynomial, size: int) -> Polynomial:
    return Polynomial.quotient(extent + (size - 1), size)
