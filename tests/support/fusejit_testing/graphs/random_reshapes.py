"""Reshapes put into random graphs: values merged and split again, with ops that read both forms."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import Graph, HostSymbol
from fusejit.ir.host import HostExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Init, Op, Operand, ReshapeOp
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.reassociation import Reassociation
from fusejit.ir.types import IteratorType, TensorType
from fusejit.ir.values import Value
from fusejit.mlir.size_facts import host
from fusejit_testing.graphs.random_graphs import RandomProgram, random_graph

_F64 = np.dtype(np.float64)


def random_graph_with_reshapes(seed: int, *, num_ops: int = 6, **options: Any) -> RandomProgram:
    """A random graph in which results of ops are merged, computed with, and split again.

    Two neighbouring axes of fresh values in C order are merged (what lies elsewhere is not reshaped
    in place). The new values are results too, so that they are compared. ``options`` are those of
    `random_graph`.
    """
    rng = Random(seed)
    program = random_graph(rng, num_ops=num_ops, **{"stores": False, **options})
    maker = _Reshapes(program.graph, rng)
    for op in list(program.graph.block.ops):
        if isinstance(op, GenericOp):
            maker.after(op)
    program.graph.results += tuple(maker.made[-2:])
    return program


class _Reshapes:
    def __init__(self, graph: Graph, rng: Random) -> None:
        self.graph = graph
        self.rng = rng
        self.made: list[Value] = []
        self.count = 0

    def after(self, op: GenericOp) -> None:
        """Merge two axes of a result, compute, split, compute."""
        # MLIR's own passes fail where an axis is known to be empty beside one that is not known
        fitting = [
            r for r in op.results
            if r.type.rank > 1 and r.order is None
            and not any(e.as_constant() == 0 for e in r.type.extents)
        ]  # fmt: skip
        if not fitting or self.rng.random() < 0.3:
            return
        source = self.rng.choice(fitting)
        at = self.rng.randrange(source.type.rank - 1)
        lengths = [1] * (source.type.rank - 1)
        lengths[at] = 2
        merging = Reassociation.of_lengths(lengths, False)
        extents = list(source.type.extents)
        extents[at : at + 2] = [self.product(extents[at], extents[at + 1])]
        merged = self.value(TensorType(source.type.dtype, tuple(extents)))
        new: list[Op] = [ReshapeOp(source=source, reassociation=merging, results=(merged,))]
        computed = self.computed(merged, new)
        if self.rng.random() < 0.7:
            split = self.value(TensorType(computed.type.dtype, source.type.extents))
            back = merging.inverse()
            new.append(ReshapeOp(source=computed, reassociation=back, results=(split,)))
            computed = self.computed(split, new)
        if self.rng.random() < 0.4:
            computed = self.computed(computed, new, reduced=True)
        self.made.append(computed)
        place = self.graph.block.ops.index(op) + 1
        self.graph.block.ops[place:place] = new

    def value(self, type_: TensorType) -> Value:
        self.count += 1
        return Value(f"z{self.count}", type_)

    def product(self, left: AffineExpr, right: AffineExpr) -> AffineExpr:
        for factor, other in ((left, right), (right, left)):
            if factor.is_constant:
                return other * factor.constant
        return self.symbol(HostExpr("mul", (host(left), host(right))))

    def symbol(self, expr: HostExpr) -> AffineExpr:
        for known in self.graph.symbols:
            if known.expr == expr:
                return AffineExpr.symbol(known.name)
        name = f"q{len(self.graph.symbols)}"
        self.graph.symbols.append(HostSymbol(name, expr))
        return AffineExpr.symbol(name)

    def computed(self, value: Value, ops: list[Op], *, reduced: bool = False) -> Value:
        """A value of the same extents, or the sums along its last axis."""
        domain = value.type.extents
        rank = len(domain)
        dtype = value.type.dtype if reduced else _F64
        builder = PayloadBuilder([value.type.dtype], [dtype])
        ref = 0
        if not reduced:
            ref = builder.op("add", [builder.cast(0, _F64), builder.const(1.5, _F64)], _F64)
        kept = range(rank - 1) if reduced else range(rank)
        combiner = None
        if reduced:
            combiner = "or" if dtype.kind == "b" else self.rng.choice(["max", "add"])
        iterators = [IteratorType.PARALLEL] * rank
        if reduced:
            iterators[-1] = IteratorType.REDUCTION
        result = self.value(TensorType(dtype, tuple(domain[d] for d in kept)))
        ops.append(
            GenericOp(
                domain=domain,
                iterators=tuple(iterators),
                inputs=(Operand(value, IndexingMap.identity(rank)),),
                inits=(Init(IndexingMap.select(rank, list(kept)), combiner),),
                payload=builder.finish([ref]),
                name="sum" if reduced else "add",
                results=(result,),
            )
        )
        return result
