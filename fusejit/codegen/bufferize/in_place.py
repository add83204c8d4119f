"""Which results overwrite a matrix product: an epilogue is a pass in place, without a new array.

In ``np.maximum(x @ w + b, 0)`` nothing but the epilogue reads the product, each element where the
result's is written. The product is fresh memory whose pages the system has handed out; a second
array of that size would cost its page faults again.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.codegen.bufferize.bufferization import BufferAssignment
from fusejit.ir.affine import AffineExpr
from fusejit.ir.execution_plan import ExecutionPlan, Group, KernelStep
from fusejit.ir.ops import GenericOp, Op, walk
from fusejit.ir.values import Value


def overwritten_products(
    schedule: ExecutionPlan, assignment: BufferAssignment
) -> dict[Value, Value]:
    """The results that may be written over a product: result -> product.

    A result qualifies if an elementwise op makes it, which reads the product at its own points or
    not at all, and nothing reads the product afterwards: no later op, no other tile of its group.
    """
    graph = schedule.graph
    place = {op: at for at, op in enumerate(graph.block.ops)}
    groups = {
        op: group
        for step in schedule.steps
        if isinstance(step, KernelStep)
        for group in step.groups
        for op in group.ops
    }
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
        producer = assignment.defining.get(result) if isinstance(result, Value) else None
        if not isinstance(result, Value) or not isinstance(producer, GenericOp):
            continue
        op = producer
        if op not in place:
            continue
        if not _writes_in_order(op, result) or result in taken:
            continue
        for product in products:
            if (
                place[assignment.defining[product]] < place[op]
                and product not in handed_out
                and product not in taken.values()
                and product.type == result.type
                and product.order is None
                and _reads_last(op, product, users.get(product, ()), place)
                and _tiles_stay_apart(op, product, groups.get(op))
            ):
                taken[result] = product
                break
    return taken


def _writes_in_order(op: GenericOp, result: Value) -> bool:
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


def _reads_last(op: GenericOp, product: Value, users: Sequence[Op], place: dict[Op, int]) -> bool:
    """Whether the op reads at most its own points, and all others that read stand before it."""
    own = op.inits[0].map
    if any(o.map != own for o in op.inputs if o.value is product):
        return False
    return all(
        isinstance(user, GenericOp)
        and user in place
        and place[user] <= place[op]
        and all(init.start is not product for init in user.inits)
        for user in users
    )


def _tiles_stay_apart(op: GenericOp, product: Value, group: Group | None) -> bool:
    """Whether no tile of the op's group reads elements that another one writes."""
    if group is None:
        return True
    at = group.ops.index(op)
    for member, shared_dims, halos in zip(group.ops, group.shared_dims, group.halos, strict=True):
        for operand in member.inputs:
            if operand.value is not product:
                continue
            for axis, dim, halo in zip(group.shared_dims[at], shared_dims, halos, strict=True):
                if halo != (0, 0) or operand.map.results[axis] != AffineExpr.dim(dim):
                    return False
    return True
