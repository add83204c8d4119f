r"""`split`: an op in two parts, before and after a point of a dim.

>>> h = schedule(lambda a: np.exp(a[:8]), np.ones(9))["exp"]
>>> print(h.show())
%v2 = generic "exp" domain (8) ins (%v1) outs (write) { t0 = exp in0 : f64; yield t0 } : 8 x f64
>>> print("\n".join(h.split(i=2).schedule.show().splitlines()[7:14]))
  alloc @v2 : 8 x f64 class 1
  %v1_slice = view %v1 [(d0) -> (d0)] : 2 x f64
  %v2_tile = generic "exp" domain (2) ins (%v1_slice) outs (write) { t0 = exp in0 : f64; yield
      t0 } : 2 x f64
  store @v2 v1 [(d0) -> (d0)] (2) = %v2_tile
  %v1_slice_1 = view %v1 [(d0) -> (d0 + 2)] : 6 x f64
  %v2_tile_1 = generic "exp_rest" domain (6) ins (%v1_slice_1) outs (write) { t0 = exp in0 :
      f64; yield t0 } : 6 x f64
  store @v2 v2 [(d0) -> (d0 + 2)] (6) = %v2_tile_1

Rule: that of `tile`. A parallel dim may be cut anywhere: the parts write slices of one result. The
parts of a reduced dim are combined in order. Where the extent is at most the point, the second part
is empty. It is called ``exp_rest``. Source: MLIR's ``transform.structured.split``.
"""

from __future__ import annotations

from fusejit.dataclass import replace
from fusejit.fuse.new_names import symbols_of
from fusejit.fuse.tiling.destinations import destinations
from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.parts import (
    bind_minimum,
    computed_in_parts,
    require_separable,
    stored_part,
)
from fusejit.fuse.tiling.rules import is_reduced, names_of, new_symbol, reassociates, rest_of
from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import Graph, HostSymbol
from fusejit.ir.host import HostExpr
from fusejit.ir.host_affine import host_of
from fusejit.ir.ops import GenericOp, Op, base_name
from fusejit.transform.core.arguments import primitive
from fusejit.transform.core.base import H, call


@primitive
def split(handle: H, *, reassociate: bool = False, check: bool = True, **points: int) -> H:
    """The op in two parts; the first one is returned, the second one is called ``<name>_rest``.

    Parameters
    ----------
    reassociate : bool, optional
        True: the parts of a float sum may be summed one after the other.
    check : bool, optional
        False: do not compare with the op before on small arrays.
    **points
        One dim, and the index at which the second part begins.

    Raises
    ------
    ScheduleError
        If the dim is unknown or cannot be cut, or a part would always be empty.
    """
    step, op = call("split", **points), handle.op
    if len(points) != 1:
        raise illegal(step, op.name, "one dim is cut at a time", [f"{n}=.." for n in handle.dims])
    (name, point), *_ = points.items()
    d = handle.dim(name, step)
    extent = op.domain[d].as_constant()
    if point < 1 or (extent is not None and point >= extent):
        inside = f"1 to {'..' if extent is None else extent - 1}"
        raise illegal(step, op.name, f"{point} is no point inside {name}", [inside])
    require_separable(op, [d], handle.dims, step, reassociate)
    graph, cut, ops = _cut(handle.schedule.graph, op.domain[d], point, name)
    graph, places = destinations(graph, op)
    parts: list[GenericOp] = []
    name_of_rest = rest_of(op, names_of(graph))
    for start, length in ((AffineExpr.const(0), cut), (cut, op.domain[d] - cut)):
        domain = (*op.domain[:d], length, *op.domain[d + 1 :])
        whole = replace(op, name=name_of_rest, is_named=False) if parts else op
        part, around = stored_part(whole, {d: start}, domain, places, may_be_empty=True)
        parts.append(part)
        ops += around
    graph = computed_in_parts(graph, op, [d], places, ops)
    first, rest = parts
    what = f"{base_name(first.name)} before {name}={point}, then {base_name(rest.name)}"
    keeps_order = not is_reduced(op, d) and not op.library_call
    tag = "bits" if keeps_order or not reassociates(op) else "reassoc"
    others = {rest.results[0]: handle.dims}
    return handle.after(step, tag, what, graph, first, check=check, others=others)


def _cut(
    graph: Graph, extent: AffineExpr, point: int, name: str
) -> tuple[Graph, AffineExpr, list[Op]]:
    """The least of point and extent, with the graph or the ops that compute it."""
    if extent.is_constant:
        return graph, AffineExpr.const(point), []
    symbol = new_symbol(f"{name}_0", symbols_of(graph))
    cut = AffineExpr.symbol(symbol)
    if not extent.symbols() <= {s.name for s in graph.symbols}:  # it depends on a loop
        return graph, cut, bind_minimum(symbol, point, extent)
    least = HostExpr("min", (HostExpr.const(point), host_of(extent)))
    return replace(graph, symbols=[*graph.symbols, HostSymbol(symbol, least)]), cut, []
