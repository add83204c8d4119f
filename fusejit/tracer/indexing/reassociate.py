"""Which axes of an array a reshape splits and merges, decided on symbolic extents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fusejit.dataclass import dataclass
from fusejit.ir.affine import AffineExpr, FloorDiv
from fusejit.ir.host import HostExpr
from fusejit.ir.host_affine import host_of
from fusejit.tracer.builder.shapes import MAX_SIZE, Extents
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.indexing.extent_products import product
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.values.symbolic_number import as_affine

_SAME_SIZE = "a reshape keeps the number of elements"


@dataclass(frozen=True, slots=True)
class Group:
    """Neighbouring axes of the old shape that are neighbouring axes of the new one."""

    old: tuple[int, ...]
    new: tuple[int, ...]

    @property
    def is_trivial(self) -> bool:
        """Whether an axis stays as it is."""
        return len(self.old) == len(self.new) == 1


def new_extents(trace: Trace, old: Extents, shape: Sequence[Any]) -> Extents:
    """The ``shape`` argument as extents, its -1 filled in; falls back where NumPy raises."""
    decisions = trace.decisions
    extents: list[AffineExpr | None] = []
    for size in shape:
        extent = decisions.canonical(as_affine(size, "TypeError: {0!r} is not a size"))
        if decisions.nonnegative(extent, "a size is not negative"):
            extents.append(extent)
        else:  # any negative size is whatever is left, as in NumPy
            extents.append(None)
    if extents.count(None) > 1:
        raise numpy_raises("ValueError: can only specify one unknown dimension")
    known = [e for e in extents if e is not None]
    if None not in extents:
        return tuple(known)
    at = extents.index(None)
    middle = _without_ends(trace, old, known[:at], known[at:])
    rest = _quotient(trace, *middle)
    return tuple(rest if e is None else e for e in extents)


def _without_ends(
    trace: Trace, old: Extents, front: list[AffineExpr], back: list[AffineExpr]
) -> tuple[Extents, list[AffineExpr]]:
    """The old axes and the known sizes that are left when those are gone whose products agree.

    ``(h, w)`` to ``(h // 2, 2, -1)`` leaves ``w`` to the -1, under the guard that 2 divides h. The
    product of the known sizes before the -1, if they are not constants, has to be the product
    of the first axes in this call; likewise after it.
    """
    decisions = trace.decisions
    kept = list(old)
    known: list[AffineExpr] = []
    for part, from_front in ((front, True), (back, False)):
        size = product(trace, part)
        if decisions.constant(size) is not None or not decisions.hint(size):
            known += part
            continue
        for count in range(1, len(kept) + 1):
            ends = kept[:count] if from_front else kept[-count:]
            taken = product(trace, ends)
            is_alike = decisions.hint(taken) == decisions.hint(size)
            if decisions.constant(taken) is not None or not is_alike:
                continue
            if decisions.equal(taken, size, _SAME_SIZE):
                kept = kept[count:] if from_front else kept[:-count]
                break
        else:
            known += part
    if decisions.equal(product(trace, [*front, *back]), 0, "a size of 0 leaves -1 undetermined"):
        raise numpy_raises("ValueError: cannot reshape array into a shape with 0 and -1")
    return tuple(kept), known


def _quotient(trace: Trace, old: Extents, known: list[AffineExpr]) -> AffineExpr:
    """What is left of the product of ``old`` when ``known`` are taken out of it."""
    decisions = trace.decisions
    left, taken = _cancelled(trace, old, known)
    total, divisor = product(trace, left), product(trace, taken)
    constant = decisions.constant(divisor)
    if constant == 1:
        return total
    if constant is not None and not any(
        c % constant for c in (total.constant, *(c for _, c in total.terms))
    ):
        return total.floordiv(constant)
    if decisions.hint(total) % decisions.hint(divisor):
        raise numpy_raises("ValueError: cannot reshape: the size is not divisible")
    expr = HostExpr("floordiv", (host_of(total), host_of(divisor)))
    value = decisions.hint(total) // decisions.hint(divisor)
    quotient = trace.symbol(expr, value, 0, MAX_SIZE)
    if not decisions.equal(
        product(trace, [*taken, quotient]), total, "the sizes divide", or_raises=True
    ):
        raise numpy_raises("ValueError: cannot reshape: the size is not divisible")
    return decisions.canonical(quotient)


def _cancelled(
    trace: Trace, old: Sequence[AffineExpr], known: Sequence[AffineExpr]
) -> tuple[list[AffineExpr], list[AffineExpr]]:
    """Both lists without the factors that they share."""
    canonical = trace.decisions.canonical
    left = list(map(canonical, old))
    taken: list[AffineExpr] = []
    for factor in map(canonical, known):
        if factor in left:
            left.remove(factor)
        else:
            taken.append(factor)
    return left, taken


def match_axes(trace: Trace, old: Extents, new: Extents) -> list[Group]:
    """Cut both shapes into groups of equal size, as many as possible; falls back if they differ.

    Where the sizes are equal as polynomials of the unknowns, so are those of the groups, and no
    guard is needed. Else the groups are those of this call, each with its guard.
    """
    decisions = trace.decisions
    everything = Group(tuple(range(len(old))), tuple(range(len(new))))
    sizes = product(trace, old), product(trace, new)
    hints = [[decisions.hint(e) for e in extents] for extents in (old, new)]
    if decisions.constant(sizes[0] - sizes[1]) == 0:
        return [everything] if decisions.constant(sizes[0]) == 0 else _groups(trace, old, new, True)
    if decisions.hint(sizes[0]) == decisions.hint(sizes[1]) and 0 not in (*hints[0], *hints[1]):
        return _groups(trace, old, new, False)
    if not decisions.equal(sizes[0], sizes[1], _SAME_SIZE, or_raises=True):
        raise numpy_raises("ValueError: cannot reshape array into the shape")
    return [everything]


def finest(trace: Trace, old: Extents, new: Extents, groups: list[Group]) -> list[Group]:
    """The groups that NumPy finds for the sizes of this call, each cut decided under a guard.

    Where axes cannot be merged, whether NumPy copies depends on these.
    """
    result: list[Group] = []
    for group in groups:
        left, right = list(group.old), list(group.new)
        while left or right:
            cut = _first_cut(trace, [old[k] for k in left], [new[k] for k in right])
            result.append(Group(tuple(left[: cut[0]]), tuple(right[: cut[1]])))
            left, right = left[cut[0] :], right[cut[1] :]
    return result


def _first_cut(trace: Trace, old: list[AffineExpr], new: list[AffineExpr]) -> tuple[int, int]:
    for length in range(2, len(old) + len(new)):
        for i in range(1, length):
            j = length - i
            if i < len(old) and j < len(new):
                left, right = product(trace, old[:i]), product(trace, new[:j])
                if trace.decisions.equal(left, right, "axes of a reshape fall apart"):
                    return i, j
    return len(old), len(new)


def _groups(trace: Trace, old: Extents, new: Extents, is_proved: bool) -> list[Group]:
    decisions = trace.decisions
    groups: list[Group] = []
    i = j = 0
    while i < len(old) and j < len(new):
        end_i, end_j = _first_equal(trace, old, new, i, j, is_proved)
        if not is_proved:
            left, right = product(trace, old[i:end_i]), product(trace, new[j:end_j])
            _divide(trace, left, right)
            if not decisions.equal(left, right, _SAME_SIZE):
                raise AssertionError("groups are equal in this call")
        groups.append(Group(tuple(range(i, end_i)), tuple(range(j, end_j))))
        i, j = end_i, end_j
    if i < len(old) or j < len(new):  # lengths of 1 that are left over
        last = groups.pop() if groups else Group((), ())
        left, right = product(trace, old[i:]), product(trace, new[j:])
        if not decisions.equal(left, right, _SAME_SIZE):
            raise AssertionError("groups are equal in this call")
        groups.append(Group((*last.old, *range(i, len(old))), (*last.new, *range(j, len(new)))))
    return groups


def _divide(trace: Trace, left: AffineExpr, right: AffineExpr) -> None:
    """Where ``s0`` has to be ``2 * (s0 floordiv 2)``, write it as twice a symbol.

    Then ``s0`` and its half are polynomials of one unknown, and strides can be compared.
    """
    for whole, parts in ((left, right), (right, left)):
        name = whole.as_symbol()
        if name is None or parts.constant or len(parts.terms) != 1:
            continue
        ((atom, factor),) = parts.terms
        if isinstance(atom, FloorDiv) and (atom.numerator, atom.denominator) == (whole, factor):
            expr = HostExpr("floordiv", (host_of(whole), HostExpr.const(factor)))
            part = trace.symbol(expr, trace.decisions.hint(whole) // factor, 0, MAX_SIZE)
            trace.decisions.equal(whole, part * factor, _SAME_SIZE)


def _first_equal(
    trace: Trace, old: Extents, new: Extents, i: int, j: int, is_proved: bool
) -> tuple[int, int]:
    """The ends of the shortest groups from ``i`` and ``j`` that have the same size."""
    decisions = trace.decisions

    def same(end_i: int, end_j: int) -> bool:
        left, right = product(trace, old[i:end_i]), product(trace, new[j:end_j])
        if is_proved:
            return decisions.constant(left - right) == 0
        return decisions.hint(left) == decisions.hint(right)

    for length in range(2, len(old) - i + len(new) - j + 1):
        for taken in range(1, length):
            end_i, end_j = i + taken, j + length - taken
            if end_i <= len(old) and end_j <= len(new) and same(end_i, end_j):
                return end_i, end_j
    return len(old), len(new)
