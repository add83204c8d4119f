"""`transpose_matmul` and `transpose_conv`: an operand in another order of its axes, by a copy.

>>> h = schedule(lambda a, b: a @ b, np.ones((3, 4)), np.ones((4, 5)))["matmul"].generalize()
>>> print(h.show())
%v2 = generic "matmul" domain (s0, s3, s1) iterators (parallel, parallel, reduction) ins (%v0
    [(d0, d1, d2) -> (d0, d2)], %v1 [(d0, d1, d2) -> (d2, d1)]) outs (add [(d0, d1, d2) -> (d0,
    d1)]) { t0 = multiply in0, in1 : f64; yield t0 } : s0 x s3 x f64
>>> print(h.transpose_matmul("b").show())
%v2 = generic "matmul" domain (s0, s3, s1) iterators (parallel, parallel, reduction) ins (%v0
    [(d0, d1, d2) -> (d0, d2)], %v1_transpose [(d0, d1, d2) -> (d1, d2)]) outs (add [(d0, d1,
    d2) -> (d0, d1)]) { t0 = multiply in0, in1 : f64; yield t0 } : s0 x s3 x f64
>>> print(h.transpose_matmul("b").schedule["transpose"].show())
%v1_transpose = generic "transpose" domain (s3, s1) ins (%v1 [(d0, d1) -> (d1, d0)]) outs
    (write) materialized { yield in0 } : s3 x s1 x f64

Rule: the op reads the operand at plain dims, in loops. `transpose_matmul` swaps the last two axes
of an operand; `transpose_conv` makes the filters of a convolution the last axis of its kernel, or
the first one if they are the last one. Elements and their order in sums stay. Source: MLIR's
``transform.structured.transpose_matmul`` and ``transpose_conv2d``.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.dataclass import replace
from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.rules import replaced
from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Operand, base_name
from fusejit.transform.core.arguments import primitive
from fusejit.transform.core.base import H, call
from fusejit.transform.core.operands import LETTERS, copied, operand_number, why_no_operands


@primitive
def transpose_matmul(handle: H, operand: str = "a", *, check: bool = True) -> H:
    """The same sums, of an operand whose last two axes a copy has swapped.

    Parameters
    ----------
    operand : str, optional
        The operand: ``a`` is the first one, ``b`` the second one.
    check : bool, optional
        False: do not compare with the op before on small arrays.

    Raises
    ------
    ScheduleError
        If there is no such operand, it is no matrix, or the op calls a routine.
    """
    step = call("transpose_matmul", operand)
    number = operand_number(handle, operand, step)
    rank = handle.op.inputs[number].map.rank
    if rank < 2:
        raise illegal(step, handle.op.name, f"{operand} has {rank} axes: there is nothing to swap")
    return _transposed(handle, number, [*range(rank - 2), rank - 1, rank - 2], step, check)


@primitive
def transpose_conv(handle: H, *, check: bool = True) -> H:
    """The same convolution, of a kernel whose filters are the last axis, or else the first one.

    Raises
    ------
    ScheduleError
        If the op is no convolution in loops, or its kernel has no axis of filters.
    """
    step, op = "transpose_conv()", handle.op
    if why := why_no_operands(op):
        raise illegal(step, op.name, why)
    window = {d for o in op.inputs for r in o.map.results if len(r.dims()) > 1 for d in r.dims()}
    kernels = [
        k
        for k, o in enumerate(op.inputs)
        if o.map.dims() & window and o.map.is_projected_permutation
    ]
    if len(kernels) != 1 or len(op.inputs) != 2:
        raise illegal(step, op.name, "it is no convolution: no window of one input meets another")
    number = kernels[0]
    dims = [r.as_dim() for r in op.inputs[number].map.results]
    image = op.inputs[1 - number].map.dims()
    filters = [axis for axis, d in enumerate(dims) if d not in image]
    if len(filters) != 1:
        why = f"{LETTERS[number]} has {len(filters)} axes that only the result shares"
        raise illegal(step, op.name, why)
    others = [axis for axis in range(len(dims)) if axis not in filters]
    is_last = filters == [len(dims) - 1]
    order = [*filters, *others] if is_last else [*others, *filters]
    return _transposed(handle, number, order, step, check)


def _transposed(handle: H, number: int, order: Sequence[int], step: str, check: bool) -> H:
    """The op that reads an operand whose axis k was axis ``order[k]``."""
    op = handle.op
    operand = op.inputs[number]
    extents = operand.value.type.extents
    reads = [AffineExpr.dim(order.index(axis)) for axis in range(len(order))]
    copy = copied(operand.value, "transpose", reads, [extents[k] for k in order], op.location)
    map_ = IndexingMap(operand.map.num_dims, tuple(operand.map.results[k] for k in order))
    inputs = [*op.inputs]
    inputs[number] = Operand(copy.results[0], map_)
    new: GenericOp = replace(op, inputs=tuple(inputs))
    graph = replaced(handle.schedule.graph, op, [copy, new])
    what = f"{LETTERS[number]} of {base_name(op.name)} with axes {', '.join(map(str, order))}"
    return handle.after(step, "bits", what, graph, new, check=check)
