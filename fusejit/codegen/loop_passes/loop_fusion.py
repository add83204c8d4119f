"""Neighbouring nests over the same points become one, and what only passes between them a local.

Before and after::

    parallel_for(chunk0, n, ..)    # t = f(x)          for d0: v0 = x[d0]; t0 = f(v0)
    parallel_for(chunk1, n, ..)    # y = t                     y[d0] = t0; z[d0] = t0
    parallel_for(chunk2, n, ..)    # z = t

Two nests may be one if their loops have the same extents and each pair of accesses to one array, of
which one is a store, meets at the same point or never: then at each element the order of loads and
stores stays. Stores, masked ones too, and values that are stored several times so share the loads
that they have in common, inside the loops of the program as well as outside. A nest moves past what
stands between if neither touches what the other writes.

Every point computes exactly what it did: bits do not change.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial

from fusejit.codegen.analysis.chains import Chain, are_apart, chain_of, renamed
from fusejit.codegen.analysis.kernel_statements import flat
from fusejit.codegen.analysis.rewriting import with_bodies, with_operands
from fusejit.dataclass import dataclass, replace
from fusejit.ir.loops.index_math import add
from fusejit.ir.loops.mentioned_names import memory_of, mentions, parts
from fusejit.ir.loops.nodes import (
    Element,
    Exit,
    Expr,
    For,
    Free,
    If,
    Let,
    Number,
    ParallelFor,
    Pointer,
    Scratch,
    Stmt,
    StoreElement,
    Var,
    While,
)
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.loops.program import LoopNestNote

LOOK_BACK = 8  # statements between two nests that are tried
MAX_POINTERS = 24  # distinct arrays of one nest
MAX_STATEMENTS = 240  # statements at one point: registers, compile time


def merge_nests(statements: Sequence[Stmt], notes: list[LoopNestNote]) -> list[Stmt]:
    """Merge nests in ``statements`` and in the loops and branches inside; drop unread scratch.

    ``notes`` gets one row for each pair that was merged.
    """
    own = frozenset(s.name for s in flat(statements) if isinstance(s, Scratch))
    return _without_unread_scratch(_merged(statements, _Merging(own, notes)))


@dataclass(frozen=True, slots=True)
class _Merging:
    """Names of the kernel's own memory, and where pairs are noted."""

    own: frozenset[str]
    notes: list[LoopNestNote]


def _merged(statements: Sequence[Stmt], merging: _Merging) -> list[Stmt]:
    out = [with_bodies(s, partial(_merged, merging=merging)) for s in statements]
    while len(swept := _swept(out, merging)) < len(out):  # one that grew may suit an earlier one
        out = swept
    return out


def _swept(statements: Sequence[Stmt], merging: _Merging) -> list[Stmt]:
    out: list[Stmt] = []
    for statement in statements:
        chain = chain_of(statement)
        if chain is None or not _merge_into_earlier(chain, out, merging):
            out.append(statement)
    return out


# ---------------------------------------------------------------------------------------- merging
def _merge_into_earlier(chain: Chain, out: list[Stmt], merging: _Merging) -> bool:
    """Merge the chain, which follows ``out``, with an earlier nest; whether one was found."""
    for at in range(len(out) - 1, max(len(out) - 1 - LOOK_BACK, -1), -1):
        earlier = chain_of(out[at])
        if earlier is None:
            if _ends(out[at]):
                return False  # nothing moves past a check
            continue
        merged = merged_chains(earlier, chain, merging.own)
        if merged is None:
            continue
        between = out[at + 1 :]
        if all(_commute(earlier, s) for s in between):  # the earlier one moves down
            out[at:] = [*between, merged.statement()]
        elif all(_commute(chain, s) for s in between):  # this one moves up
            out[at] = merged.statement()
        else:
            continue
        names = (earlier.nest.comment, chain.nest.comment)
        merging.notes.append(LoopNestNote(names, "same points", _reason(earlier, chain)))
        return True
    return False


def _reason(first: Chain, second: Chain) -> str:
    own = {p for p, _ in second.reads()} & first.written()
    if own:
        return "what the one stores the other need not load"
    return "they run over the same points of one array"


def _ends(statement: Stmt) -> bool:
    """Whether the kernel may end there for another reason than want of memory."""
    inner = () if isinstance(statement, ParallelFor) else parts(statement)[1]
    return isinstance(statement, Exit) or any(map(_ends, inner))


def _commute(chain: Chain, other: Stmt) -> bool:
    """Whether a nest may run after what it stood before, or the other way round."""
    if _ends(other) or chain.written() & mentions(other):
        return False
    mine = mentions(chain.nest)
    second = chain_of(other)
    if second is not None:
        return not second.written() & mine
    if isinstance(other, Let):
        return other.name != "_" and other.name not in mine
    if isinstance(other, StoreElement):
        return memory_of(other.pointer) not in mine
    if isinstance(other, Scratch | Free):
        return other.name not in mine
    return not mentions(other) & mine


def merged_chains(first: Chain, second: Chain, own: frozenset[str]) -> Chain | None:
    """Both as one chain that does the first at each point, then the second; None if that differs.

    Examples
    --------
    ``x[i] = f(y[i])`` and ``z[i] = x[i] + 1`` may be one, ``z[i] = x[i + 1]`` may not.
    """
    if first.nest.extent != second.nest.extent or len(first.loops) != len(second.loops):
        return None
    to_first: dict[str, Expr] = {
        b: Var(a) for a, b in zip(first.variables, second.variables, strict=True)
    }
    for a, b in zip(first.loops, second.loops, strict=True):
        if (a.lower, a.upper) != (renamed(b.lower, to_first), renamed(b.upper, to_first)):
            return None
    mine = mentions(first.nest)
    taken = mine | mentions(second.nest)
    for let in second.lets():
        if let.name in mine:
            numbered = (f"{let.name}_{at}" for at in itertools.count(1))
            name = next(n for n in numbered if n not in taken)
            to_first[let.name] = Var(name)
            taken |= {name}
    second = second.with_names(to_first)
    shared = _shared(first, second)
    if shared is None or not _pays(first, second, shared, own):
        return None
    return _joined(first, second)


def _shared(first: Chain, second: Chain) -> int | None:
    """How many elements a point need not load again; None if the order of accesses would change."""
    variables = first.variables
    for one, other in ((first, second), (second, first)):
        for pointer, offset in one.writes():
            for p, o in (*other.reads(), *other.writes()):
                meets = p == pointer and o != offset and not are_apart(o, offset, variables)
                if meets:
                    return None
    known = {*first.reads(), *first.writes()}
    return len({*second.reads()} & known)


def _pays(first: Chain, second: Chain, shared: int, own: frozenset[str]) -> bool:
    """Whether one nest is better: less is loaded, and not more is written through the caches."""
    pointers = {p for c in (first, second) for p, _ in (*c.reads(), *c.writes())}
    statements = sum(1 for c in (first, second) for _ in (*c.lets(), *c.stores()))
    if len(pointers) > MAX_POINTERS or statements > MAX_STATEMENTS:
        return False
    common = {p for p, _ in (*first.reads(), *first.writes())}
    if not any(p in common for p, _ in (*second.reads(), *second.writes())):
        return False
    # streaming around the caches saves the load of each line that is written; a kernel's own
    # memory, written here and read there, may well be written no more
    kept = {p for p, _ in second.reads() if p in first.written() and p in own}
    lost = sum(1 for c in (first, second) if c.nest.streamed is not None)
    return shared + len(kept) >= lost


def _joined(first: Chain, second: Chain) -> Chain:
    """Both chains, elements that the first loads or stores taken from there."""
    values = _known_values(first, second)
    levels: list[tuple[Let, ...]] = []
    for mine, theirs in zip(first.levels, second.levels, strict=True):
        levels.append((*mine, *(replace(s, value=_forwarded(s.value, values)) for s in theirs)))
    points = [*first.points]
    for s in second.points:
        if isinstance(s, If):
            stores = [_store(t, values) for t in s.body if isinstance(t, StoreElement)]
            points.append(replace(s, condition=_forwarded(s.condition, values), body=stores))
            for store in stores:
                values = _after(store, values)
        elif isinstance(s, StoreElement):
            points.append(_store(s, values))
            values = _after(s, values)
        else:
            points.append(replace(s, value=_forwarded(s.value, values)))
    nests = (first.nest, second.nest)
    streams = [n.streamed for n in nests if n.streamed is not None]
    comment = "; ".join(dict.fromkeys(n.comment for n in nests if n.comment))
    nest = replace(
        first.nest,
        work_ns=add(first.nest.work_ns, second.nest.work_ns),
        comment=comment,
        streamed=streams[0] if len(streams) == 1 else None,
    )
    return Chain(nest, tuple(levels), first.loops, tuple(points))


def _known_values(first: Chain, second: Chain) -> dict[tuple[Pointer, Polynomial], Expr]:
    """What an element is known to be after the first chain, where it was loaded or stored."""
    touched = first.written() | second.written()
    known: dict[tuple[Pointer, Polynomial], Expr] = {}
    for let in first.lets():
        if isinstance(let.value, Element) and let.value.pointer not in touched:
            known.setdefault((let.value.pointer, let.value.offset), Var(let.name))
    masked = {s.pointer for s, condition in first.stores() if condition is not None}
    for store, condition in first.stores():
        is_atom = isinstance(store.value, Var | Number)
        if condition is None and is_atom and store.pointer not in masked:
            known[store.pointer, store.offset] = store.value
    return known


def _after(
    store: StoreElement, known: dict[tuple[Pointer, Polynomial], Expr]
) -> dict[tuple[Pointer, Polynomial], Expr]:
    """What is still known after a store."""
    return {place: value for place, value in known.items() if place[0] != store.pointer}


def _forwarded(expr: Expr, known: dict[tuple[Pointer, Polynomial], Expr]) -> Expr:
    if isinstance(expr, Element):
        return known.get((expr.pointer, expr.offset), expr)
    return with_operands(expr, lambda operand: _forwarded(operand, known))


def _store(s: StoreElement, known: dict[tuple[Pointer, Polynomial], Expr]) -> StoreElement:
    return replace(s, value=_forwarded(s.value, known))


# ---------------------------------------------------------------------------------- unread scratch
def _without_unread_scratch(statements: Sequence[Stmt]) -> list[Stmt]:
    """Drop memory of the kernel that is stored to and never read, and what was computed for it."""
    kept = list(statements)
    while unread := _unread(kept):  # what only they needed may be the next
        kept = _stripped(kept, unread)
    return _stripped(kept, unread)


def _unread(statements: Sequence[Stmt]) -> set[str]:
    scratch: set[str] = set()
    read: set[str] = set()
    for statement in flat(statements):
        if isinstance(statement, Scratch):
            scratch.add(statement.name)
            read |= mentions(statement) - {statement.name}
        elif isinstance(statement, StoreElement | Let):
            read |= mentions(statement)
        elif isinstance(statement, ParallelFor) and not statement.of_program:
            chain = chain_of(statement)
            read |= (
                {memory_of(p) for p, _ in chain.reads()}
                if chain is not None
                else mentions(statement)
            )
        elif isinstance(statement, For | While | If | ParallelFor):
            read |= mentions(with_bodies(statement, lambda body: []))
    return scratch - read


def _stripped(statements: Sequence[Stmt], unread: set[str]) -> list[Stmt]:
    kept: list[Stmt] = []
    for s in statements:
        if isinstance(s, Scratch | Free) and s.name in unread:
            continue
        chain = chain_of(s)
        if chain is not None:
            kept += _without_stores(chain, unread)
        else:
            kept.append(with_bodies(s, lambda body: _stripped(body, unread)))
    return kept


def _without_stores(chain: Chain, unread: set[str]) -> list[Stmt]:
    """The chain without stores to what nobody reads, and without what only they needed."""
    if not chain.written() & unread:
        return [_parallel_for(chain)]
    points: list[Let | StoreElement | If] = []
    for s in chain.points:
        if isinstance(s, If):
            body = [t for t in s.body if isinstance(t, StoreElement) and t.pointer not in unread]
            points += [replace(s, body=body)] if body else []
        elif not isinstance(s, StoreElement) or s.pointer not in unread:
            points.append(s)
    if not any(isinstance(s, StoreElement | If) for s in points):
        return []
    return [_parallel_for(_without_unused(replace(chain, points=tuple(points))))]


def _without_unused(chain: Chain) -> Chain:
    """The chain without names that nothing needs."""
    needed: set[str] = set()
    points: list[Let | StoreElement | If] = []
    for s in reversed(chain.points):
        if not isinstance(s, Let) or s.name in needed:
            needed |= mentions(s)
            points.append(s)
    levels: list[tuple[Let, ...]] = []
    for level in reversed(chain.levels):
        kept = []
        for let in reversed(level):
            if let.name in needed:
                needed |= mentions(let)
                kept.append(let)
        levels.append(tuple(reversed(kept)))
    return replace(chain, levels=tuple(reversed(levels)), points=tuple(reversed(points)))


def _parallel_for(chain: Chain) -> ParallelFor:
    """The nest; it streams only what it writes from end to end and never reads."""
    statement = chain.statement()
    streams = chain.nest.streamed
    if streams is None:
        return statement
    end_to_end = (streams.pointer, Polynomial.name(chain.variables[0]))
    is_streamed = (
        len(chain.loops) == 1
        and not any(isinstance(s, If) for s in chain.points)
        and {*chain.writes()} == {end_to_end}
        and not any(p == streams.pointer for p, _ in chain.reads())
    )
    return statement if is_streamed else replace(statement, streamed=None)
