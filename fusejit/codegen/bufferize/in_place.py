"""Which results overwrite a matrix product: an epilogue is a pass in place, without a new array.

In ``np.maximum(x @ w + b, 0)`` nothing but the epilogue reads the product, each element where the
result's is written. The product is fresh memory whose pages the system has handed out; a second
array of that size would cost its page faults again.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.codegen.bufferize.bufferization import BufferAssignment
from fusejit.dataclass import dataclass
from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import Graph
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Load, Loop, Op, Store, Write, walk
from fusejit.ir.values import Value


@dataclass(frozen=True, slots=True)
class _Writer:
    """The op that writes a result: each of its points writes the element at ``map``."""

    op: GenericOp
    map: IndexingMap


def overwritten_products(graph: Graph, assignment: BufferAssignment) -> dict[Value, Value]:
    """The results that may be written over a product: result -> product.

    A result qualifies if an elementwise op makes it, which reads the product at its own points or
    not at all, and nothing reads the product afterwards: no later op, no other tile of its loop.
    """
    place = {op: at for at, op in enumerate(walk(graph.block))}
    users: dict[Value, list[Op]] = {}
    for op in walk(graph.block):
        for value in dict.fromkeys(op.operand_values):
            users.setdefault(value, []).append(op)
    products = [
        op.results[0]
        for op in graph.block.ops
        if isinstance(op, GenericOp) and op.library_call is not None
    ]
    handed_out = {assignment.root(r) for r in graph.results if isinstance(r, Value)}
    taken: dict[Value, Value] = {}
    for result in graph.results:
        if not products or not isinstance(result, Value) or result in taken:
            continue
        writer = _writer(graph, assignment, result)
        if writer is None or not _writes_in_order(writer, result):
            continue
        for product in products:
            if (
                place[assignment.defining[product]] < place[writer.op]
                and product not in handed_out
                and product not in taken.values()
                and product.type == result.type
                and product.order is None
                and _reads_last(writer, product, users.get(product, ()), place)
            ):
                taken[result] = product
                break
    return taken


def _writer(graph: Graph, assignment: BufferAssignment, result: Value) -> _Writer | None:
    """The op that writes a result, itself or tile by tile into the memory that the result shows."""
    op = assignment.defining.get(result)
    if isinstance(op, GenericOp):
        return _Writer(op, op.inits[0].map) if op in graph.block.ops else None
    if not isinstance(op, Load) or op.view.buffer.origin is not None:
        return None
    tiled = [b for o in graph.block.ops if isinstance(o, Loop) and o.tiles for b in o.blocks]
    all_writes = (o for o in walk(graph.block) if isinstance(o, Write))
    (write, *others) = [o for o in all_writes if o.view.buffer.root is op.view.buffer.root]
    if others or not isinstance(write, Store) or not any(write in b.ops for b in tiled):
        return None
    if write.value not in {**assignment.homes, **assignment.straight}:
        return None
    op = assignment.defining[write.value]
    assert isinstance(op, GenericOp)
    return _Writer(op, write.view.map.compose(op.inits[0].map))


def _writes_in_order(writer: _Writer, result: Value) -> bool:
    op = writer.op
    return (
        len(op.results) == 1
        and op.is_elementwise
        and op.library_call is None
        and result.type.rank > 0
        and result.order is None
        and op.inits[0].start is None
        and op.inits[0].map.is_identity
        and not op.payload.has_extract()
    )


def _reads_last(writer: _Writer, product: Value, users: Sequence[Op], place: dict[Op, int]) -> bool:
    """Whether the op reads at most its own points, and others in its tile, before it."""
    for user in users:
        if not isinstance(user, GenericOp) or place[user] > place[writer.op]:
            return False
        if any(init.start is product for init in user.inits):
            return False
        maps = [o.map for o in user.inputs if o.value is product]
        if user is writer.op and any(map_ != writer.map for map_ in maps):
            return False
        if not all(_is_in_tile(map_, user, writer) for map_ in maps):
            return False
    return True


def _is_in_tile(read: IndexingMap, user: GenericOp, writer: _Writer) -> bool:
    """Whether a product is read in the tile that is written, along each axis that is in tiles."""
    for axis, written in enumerate(writer.map.results):
        if not written.symbols():
            continue
        (dim,), other = written.dims(), read.results[axis].dims()
        if len(other) != 1:
            return False
        (own,) = other
        same = read.results[axis].substitute(dims={own: AffineExpr.dim(dim)})
        if same != written or user.domain[own] != writer.op.domain[dim]:
            return False
    return True
