"""The rule for memory that several writes fill: when a value may go, or be read, past it.

A `Write` takes points of its value to elements of memory, and each kind says in its own way to
which ones. A pass that computes a value somewhere else than it was traced (straight into the view
that it is written to, region by region, in another order), or that reads a written value where the
program reads the memory, uses the map of the *view* for this. That map tells where a point goes

- for a `Store`: point ``p`` to ``view.map(p)``, each element from one point. So a store that alone
  takes a value may take it in parts and in any order (`store_that_takes`). Under a mask it still
  may, but elements may keep what they held;
- not for a `Scatter`: its subscripts choose the element, in program order, and several points may
  reach one. Its value is whole before the first element is written, and no part of the value has a
  part of the view.

What is read from memory may be read from the written value instead only if that value is known to
be what the memory holds there: all writes since the allocation are stores without a mask, of one
box each (`part_of`), nothing is written after the first load, and the elements that are read lie
inside one box and outside of every box that was stored later (`last_part`). Whatever is not known
is no: the array is then made, and read from memory.

Every pass that asks one of these questions asks it here.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.dataclass import dataclass
from fusejit.ir.affine import AffineExpr, Dim
from fusejit.ir.analysis.symbol_facts import SymbolFacts
from fusejit.ir.ops import Op, Store
from fusejit.ir.values import Value

Sides = Sequence[tuple[AffineExpr, AffineExpr]]
"""Along each axis of a box where it begins, and where it ends (exclusive)."""


def store_that_takes(value: Value, users: Sequence[Op | None]) -> Store | None:
    """The store that alone takes ``value``, point ``p`` to ``view.map(p)``; None if there is none.

    ``users`` has an entry for each use of the value, None for one by the end of a block or by the
    caller. A store that reads the value as its mask does not take it.
    """
    if len(users) != 1:
        return None
    (user,) = users
    if not isinstance(user, Store) or user.value is not value or user.mask is value:
        return None
    return user


@dataclass(frozen=True, slots=True)
class Part:
    """What a store puts into a box of a buffer, and the value's dim along each axis of it."""

    value: Value
    sides: Sides
    dims: tuple[int | None, ...]


def part_of(op: Op) -> Part | None:
    """The box that a write fills whole; None if it is masked, steps over elements, or is no box."""
    if not isinstance(op, Store) or op.mask is not None:
        return None
    sides: list[tuple[AffineExpr, AffineExpr]] = []
    dims: list[int | None] = []
    for index in op.view.map.results:
        dim, offset = dim_and_offset(index)
        if dim is None and index.dims():
            return None
        extent = AffineExpr.const(1) if dim is None else op.view.extents[dim]
        sides.append((offset, offset + extent))
        dims.append(dim)
    used = [d for d in dims if d is not None]
    if len(used) != len(set(used)):
        return None  # a diagonal
    idle = (e for d, e in enumerate(op.view.extents) if d not in used)
    if any(e.as_constant() != 1 for e in idle):
        return None  # it may store nothing at all
    return Part(op.value, tuple(sides), tuple(dims))


def last_part(parts: Sequence[Part], box: Sides, facts: SymbolFacts) -> Part | None:
    """The part that was stored last of those that hold elements of ``box``, if it holds all."""
    at_most = facts.is_at_most
    for part in reversed(parts):
        pairs = list(zip(box, part.sides, strict=True))
        if all(at_most(s, low) and at_most(high, e) for (low, high), (s, e) in pairs):
            return part
        if not any(at_most(high, s) or at_most(e, low) for (low, high), (s, e) in pairs):
            return None  # it may hold some of them
    return None


def dim_and_offset(index: AffineExpr) -> tuple[int | None, AffineExpr]:
    """``(1, s0 - 1)`` for ``d1 + s0 - 1``; no dim for anything else."""
    dims = index.dims()
    if len(dims) == 1:
        (dim,) = dims
        offset = index - AffineExpr.dim(dim)
        if index.coefficient(Dim(dim)) == 1 and not offset.dims():
            return dim, offset
    return None, index
