"""Graphs of one op."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import Graph
from fusejit.ir.host import HostExpr, Path
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Init, Load, Operand
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import IteratorType, TensorType
from fusejit.ir.values import Buffer, Value, View


def one_op(
    build: Callable[[PayloadBuilder], int], inputs: Sequence[np.dtype], result: np.dtype
) -> Graph:
    """A graph of one op over arrays of these dtypes; ``build`` gives the ref that is yielded."""
    n = AffineExpr.symbol("s0")
    graph = Graph("one")
    identity = IndexingMap.identity(1)
    origin = HostExpr.path(Path("arg", "n"))
    buffer = Buffer("n", TensorType(np.dtype(np.float64), (n,)), 0, origin)
    operands = []
    for k, dtype in enumerate(inputs):
        path = HostExpr.path(Path("arg", f"a{k}"))
        buffer = Buffer(f"a{k}", TensorType(dtype, (n,)), k, path)
        graph.buffers.append(buffer)
        value = Value(f"a{k}", buffer.type)
        graph.block.ops.append(Load(view=View.whole(buffer), version=0, results=(value,)))
        operands.append(Operand(value, identity))
    if not inputs:
        graph.buffers.append(buffer)
    builder = PayloadBuilder(inputs, [result])
    made = Value("r", TensorType(result, (n,)))
    graph.block.ops.append(
        GenericOp(
            domain=(n,),
            iterators=(IteratorType.PARALLEL,),
            inputs=tuple(operands),
            inits=(Init(identity),),
            payload=builder.finish([build(builder)]),
            results=(made,),
        )
    )
    graph.results = (made,)
    return graph
