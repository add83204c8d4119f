"""Reductions that need more than partial results, written as plain ones: for other compilers.

Before and after::

    %q = generic domain(s0) iterators(reduction) ins(%x) outs(deviations) { yield in0 }

    %s, %n = generic domain(s0) iterators(reduction) ins(%x) outs(add, add) { yield in0, 1.0 }
    %m = generic domain() ins(%s, %n) outs(write) { yield in0 / in1 }
    %q = generic domain(s0) iterators(reduction) ins(%x, %m) outs(add) { yield (in0 - in1) ** 2 }

The result is the same up to rounding.
"""

from __future__ import annotations

from collections.abc import Iterator

from fusejit.dataclass import replace
from fusejit.ir.analysis.split_generic import one_result_each
from fusejit.ir.graph import Graph
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import Block, GenericOp, Init, Op, Operand
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.scalar_ops.combiners import COMBINERS
from fusejit.ir.types import IteratorType
from fusejit.ir.values import Value


def with_plain_reductions(graph: Graph) -> Graph:
    """The graph with plain combiners at its top level; the same object if it has no others."""
    ops = [part for op in graph.block.ops for part in _parts(op)]
    if len(ops) == len(graph.block.ops):
        return graph
    block: Block = replace(graph.block, ops=ops)
    return replace(graph, block=block)


def _parts(op: Op) -> Iterator[Op]:
    if not isinstance(op, GenericOp) or not any(map(_is_composed, op.inits)):
        yield op
        return
    for single in one_result_each(op) if len(op.inits) > 1 else [op]:
        if _is_composed(single.inits[0]):
            yield from _sum_mean_squares(single)
        else:
            yield single


def _is_composed(init: Init) -> bool:
    return init.combiner is not None and COMBINERS[init.combiner].of_numbers


def _sum_mean_squares(op: GenericOp) -> Iterator[GenericOp]:
    ((result,), (init,)) = op.results, op.inits
    dtype, type_ = result.type.dtype, result.type
    n = len(op.inputs)
    dtypes = [o.value.type.dtype for o in op.inputs]
    added = Init(init.map, "add")
    total, count, mean = (Value(f"{result.name}_{x}", type_) for x in ("sum", "count", "mean"))
    builder = PayloadBuilder(dtypes, [dtype, dtype])
    (number,) = builder.inline(op.payload, [*range(n), None])
    payload = builder.finish([number, builder.const(1.0, dtype)])
    yield replace(op, results=(total, count), inits=(added, added), payload=payload)
    builder = PayloadBuilder([dtype, dtype], [dtype])
    identity = IndexingMap.identity(type_.rank)
    yield replace(
        op,
        results=(mean,),
        domain=type_.extents,
        iterators=(IteratorType.PARALLEL,) * type_.rank,
        inputs=(Operand(total, identity), Operand(count, identity)),
        inits=(Init(identity),),
        payload=builder.finish([builder.op("divide", (0, 1), dtype)]),
    )
    builder = PayloadBuilder([*dtypes, dtype], [dtype])
    (number,) = builder.inline(op.payload, [*range(n), None])
    distance = builder.op("subtract", (number, n), dtype)
    squares = builder.op("multiply", (distance, distance), dtype)
    inputs = (*op.inputs, Operand(mean, init.map))
    yield replace(op, inputs=inputs, inits=(added,), payload=builder.finish([squares]))
