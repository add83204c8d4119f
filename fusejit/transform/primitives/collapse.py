r"""`collapse`: neighbouring dims become one.

>>> h = schedule(lambda a: np.exp(a), np.ones((3, 4)))["exp"]
>>> print(h.show())
%v1 = generic "exp" domain (s0, s1) ins (%v0) outs (write) { t0 = exp in0 : f64; yield t0 } : s0
    x s1 x f64
>>> print("\n".join(h.collapse("i", "j").schedule.show().splitlines()[3:10]))
  symbol ij_extent = mul(s0, s1)
  buffer @a : s0 x s1 x f64 = arg:a class 0 readonly
{
  %v0 = load @a v0 : s0 x s1 x f64
  %v0_r = reshape %v0 collapse [[0, 1]] : ij_extent x f64
  %v1_r = generic "exp" domain (ij_extent) ins (%v0_r) outs (write) { t0 = exp in0 : f64; yield
      t0 } : ij_extent x f64
  %v1 = reshape %v1_r expand [[0, 1]] : s0 x s1 x f64

Rule: the dims have one iterator type, and each operand has them as whole axes side by side, in this
order, or has none of them; it lies in memory so that these axes are one. The payload does not ask
for the index of one of them. Merged dims that are summed are one sum, in another order.
Source: MLIR's ``flatten_elementwise`` and ``collapse_shape`` patterns.
"""

from __future__ import annotations

from fusejit.dataclass import replace
from fusejit.fuse.new_names import symbols_of, unused
from fusejit.fuse.reshaping.regroup import DimGroup
from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.rules import new_symbol
from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import Graph, HostSymbol
from fusejit.ir.host import HostExpr
from fusejit.ir.host_affine import host_of
from fusejit.ir.ops import base_name
from fusejit.transform.core.arguments import Names, names, primitive
from fusejit.transform.core.base import H, call
from fusejit.transform.core.regroup import regrouped


@primitive
def collapse(handle: H, *dims: Names, reassociate: bool = False, check: bool = True) -> H:
    """Merge dims, the outermost one first: ``collapse("i", "j")`` gives ``ij``.

    Parameters
    ----------
    *dims : str or list of str
        Neighbouring dims, the outermost one first; ``"i j"`` is the same.
    reassociate : bool, optional
        True: floats may be summed in another order.
    check : bool, optional
        False: do not compare with the op before on small arrays.

    Raises
    ------
    ScheduleError
        If fewer than two dims are given, or a rule of the module is broken.
    """
    given, op = names(dims), handle.op
    step = call("collapse", *given)
    numbers = tuple(handle.dim(name, step) for name in given)
    if len({*numbers}) < 2 or len({*numbers}) < len(numbers):
        raise illegal(step, op.name, "two different dims are merged at least", handle.dims)
    name = unused("".join(given).replace(".", ""), {*handle.dims})
    graph, extent = handle.schedule.graph, op.domain[numbers[0]]
    for d in numbers[1:]:
        product = _product(graph, extent, op.domain[d], name)
        if product is None:
            why = f"{extent} times {op.domain[d]} is not known before the loop around it"
            raise illegal(step, op.name, why)
        graph, extent = product
    left = [name if d == numbers[0] else n for d, n in enumerate(handle.dims)]
    left = [n for d, n in enumerate(left) if d not in numbers[1:]]
    what = f"{', '.join(given)} of {base_name(op.name)} are {name}"
    group = DimGroup(numbers, (extent,))
    return regrouped(handle, group, graph, step, what, left, reassociate=reassociate, check=check)


def _product(
    graph: Graph, one: AffineExpr, other: AffineExpr, name: str
) -> tuple[Graph, AffineExpr] | None:
    """The product of two extents, with the graph that knows it; None if it depends on a loop."""
    if one.is_constant or other.is_constant:
        product = other * one.constant if one.is_constant else one * other.constant
        return graph, product
    if not one.symbols() | other.symbols() <= {s.name for s in graph.symbols}:
        return None
    expr = HostExpr("mul", (host_of(one), host_of(other)))
    known = next((s.name for s in graph.symbols if s.expr == expr), None)
    if known is None:
        known = new_symbol(f"{name}_extent", symbols_of(graph))
        graph = replace(graph, symbols=[*graph.symbols, HostSymbol(known, expr)])
    return graph, AffineExpr.symbol(known)
