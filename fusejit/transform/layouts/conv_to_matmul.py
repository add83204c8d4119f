"""`conv_to_matmul`: a convolution as the product of a matrix of windows and a matrix of filters.

>>> from fusejit.linalg import conv_1d_nwc_wcf as conv
>>> h = schedule(lambda x, k: conv(x, k), np.ones((2, 9, 3)), np.ones((3, 3, 4)))["conv_1d_nwc_wcf"]
>>> print(h.show())
%v0 = generic "conv_1d_nwc_wcf" domain (s0, s1 - 2, s5, 3, s2) iterators (parallel, parallel,
    parallel, reduction, reduction) ins (%v1 [(d0, d1, d2, d3, d4) -> (d0, d1 + d3, d4)], %v2
    [(d0, d1, d2, d3, d4) -> (d3, d4, d2)]) outs (add [(d0, d1, d2, d3, d4) -> (d0, d1, d2)])
    library_call "convolution" { t0 = multiply in0, in1 : f64; yield t0 } : s0 x (s1 - 2) x s5 x
    f64
>>> h = h.conv_to_matmul(reassociate=True)
>>> print(h.show())
%v0_product = generic "conv_1d_nwc_wcf" domain (product, s5, 3 * s2) iterators (parallel,
    parallel, reduction) ins (%v1_matrix [(d0, d1, d2) -> (d0, d2)], %v2_matrix [(d0, d1, d2) ->
    (d2, d1)]) outs (add [(d0, d1, d2) -> (d0, d1)]) library_call "matmul" { t0 = multiply in0,
    in1 : f64; yield t0 } : product x s5 x f64
>>> print(h.schedule["windows"].show())
%v1_windows = generic "windows" domain (s0, s1 - 2, 3, s2) ins (%v1 [(d0, d1, d2, d3) -> (d0, d1
    + d2, d3)]) outs (write) { yield in0 } : s0 x (s1 - 2) x 3 x s2 x f64

Rule: windows of one operand meet the other operand, which has axes of filters of its own; all other
dims are in the result or in both. The windows are copied: as many numbers as the product has terms
for each filter. Numbers are combined along one dim instead of several, in the same order: floats
are summed in another one. A convolution that a routine computes becomes a product by BLAS, one in
loops stays in loops, for `to_library`. Source: MLIR's ``convert_conv2d_to_img2col``.
"""

from __future__ import annotations

from fusejit.fuse.canonical.stale_loads import with_versions
from fusejit.fuse.im2col import Products, why_no_convolution
from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.rules import reassociates, replaced
from fusejit.ir.graph import Graph
from fusejit.ir.ops import GenericOp, base_name
from fusejit.transform.core.arguments import primitive
from fusejit.transform.core.base import H
from fusejit.transform.layouts.pad import axis_names


@primitive
def conv_to_matmul(handle: H, *, reassociate: bool = False, check: bool = True) -> H:
    """The convolution as a product of two matrices, with dims ``m n k``, or of stacks of them.

    Parameters
    ----------
    reassociate : bool, optional
        True: floats may be summed in another order.
    check : bool, optional
        False: do not compare with the op before on small arrays.

    Raises
    ------
    ScheduleError
        If the op is no convolution with filters, or float sums must keep their order.
    """
    step, op = "conv_to_matmul()", handle.op
    if why := why_no_convolution(op):
        raise illegal(step, op.name, f"it is no convolution with filters: {why}")
    is_reordered = reassociates(op)
    if is_reordered and not reassociate:
        why = "the order of a float sum shows in its bits"
        raise illegal(step, op.name, why, ["reassociate=True"])
    graph, product, dims = as_product(handle.schedule.graph, op)
    others = {op.results[0]: axis_names(handle, op, op.results[0])}
    what = f"{base_name(op.name)} as a product of windows and kernel"
    tag = "reassoc" if is_reordered else "bits"
    return handle.after(step, tag, what, graph, product, check=check, dims=dims, others=others)


def as_product(graph: Graph, op: GenericOp) -> tuple[Graph, GenericOp, list[str]]:
    """Return the graph with a product in place of a convolution, the product, and its dims."""
    products = Products(graph)
    ops, product = products.of(op)
    graph = with_versions(products.completed(replaced(graph, op, ops)))
    batch = [f"b{k}" if k else "b" for k in range(len(product.domain) - 3)]
    return graph, product, [*batch, "m", "n", "k"]
