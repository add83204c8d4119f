"""How shapes are broadcast against each other."""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.tracer.builder.shapes import Decisions, Extents
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.program.locations import needs_python


# ------------------------------------------------------------------------------------ broadcasting
def broadcast(decisions: Decisions, shapes: Sequence[Extents]) -> Extents:
    """The extents NumPy broadcasts ``shapes`` to; falls back where NumPy would raise."""
    rank = max((len(s) for s in shapes), default=0)
    result: list[AffineExpr] = []
    for axis in range(rank):
        at = [s[axis - rank + len(s)] for s in shapes if axis - rank + len(s) >= 0]
        extent = at[0]
        for other in at[1:]:
            extent = _broadcast_pair(decisions, extent, other)
        result.append(extent)
    return tuple(result)


def _broadcast_pair(decisions: Decisions, left: AffineExpr, right: AffineExpr) -> AffineExpr:
    left, right = decisions.canonical(left), decisions.canonical(right)
    if left == right or right.as_constant() == 1:
        return left
    if left.as_constant() == 1:
        return right
    reason = "operands of one operation have the same extent"
    if decisions.is_local(left - right):
        decisions.check_equal(left, right, reason)
        return right if decisions.is_local(left) else left
    a, b = decisions.hint(left), decisions.hint(right)
    if a == b and decisions.equal(left, right, reason):
        return decisions.canonical(left)
    two = AffineExpr.const(2)
    if decisions.is_local(left) and not all(
        decisions.proves_nonnegative(extent - two) for extent in (left, right)
    ):  # not equal in this call, but one may be 1
        what = "arrays of different lengths that only the call knows are broadcast"
        raise needs_python(what, "give them one length")
    if b == 1 and decisions.equal(right, 1, "an extent of 1 is broadcast"):
        return left
    if a == 1 and decisions.equal(left, 1, "an extent of 1 is broadcast"):
        return right
    raise numpy_raises(f"ValueError: operands of extents {a} and {b} do not broadcast")


def broadcast_map(decisions: Decisions, extents: Extents, domain: Extents) -> IndexingMap:
    """The map from ``domain`` to an operand of ``extents`` that is broadcast to it."""
    shift = len(domain) - len(extents)
    results: list[AffineExpr] = []
    for axis, extent in enumerate(extents):
        one = decisions.constant(extent) == 1
        whole = decisions.constant(domain[shift + axis]) == 1
        results.append(AffineExpr.const(0) if one and not whole else AffineExpr.dim(shift + axis))
    return IndexingMap(len(domain), tuple(results))
