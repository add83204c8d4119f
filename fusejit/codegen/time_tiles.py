"""A loop of the program around nests whose points do not meet moves inside, tile by tile.

Before and after::

    for t in range(T):                      parallel_for(chunk0, n, T * ..)
        parallel_for(chunk0, n, ..)             # for each tile of d0:
            # for d0: x[d0] = f(x[d0])          #     for t in range(T):
                                                #         for d0 in tile: x[d0] = f(x[d0])

If every element that the nests write is read and written at one point only, points can run in any
order: all iterations on one tile, which stays in the nearest cache, then on the next. A point may
stand for a column (offsets differ by whole rows: a sweep down the rows) or for a row (the loop
stays inside it). The innermost loop is the one that it was, so it vectorises as it did; there is
one launch instead of one for each iteration; and threads share out points, whose iterations stay in
order: bits depend on neither.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from fusejit.codegen.chains import Chain, chain_of, mentions
from fusejit.codegen.merged_nests import new_name, with_bodies, with_names
from fusejit.ir.loops import Apply, Expr, For, Integer, Let, ParallelFor, Stmt, Var
from fusejit.ir.polynomial import Polynomial
from fusejit.ir.program import NestNote

REASON = "a tile runs all iterations of the loop around it, in one launch"
MOST_BORDER = 4  # elements by which rows may be longer than what a nest takes of them
TILE_POINTS = 512  # points of a tile: a few arrays of 4 KB stay in the nearest cache


def move_time_loops(statements: Sequence[Stmt], notes: list[NestNote]) -> list[Stmt]:
    """Move loops inside nests in ``statements``, in the loops and branches inside first.

    ``notes`` gets one row for each loop that moved.
    """
    moved: list[Stmt] = []
    for statement in statements:
        statement = with_bodies(statement, partial(move_time_loops, notes=notes))
        nest = _moved(statement) if isinstance(statement, For) else None
        if nest is not None:
            notes.append(NestNote((nest.comment,), "points never meet", REASON))
        moved.append(statement if nest is None else nest)
    return moved


def _moved(loop: For) -> ParallelFor | None:
    """The nests of the body as one with the loop inside, or None if that would not be the same."""
    found = [chain_of(statement) for statement in loop.body]
    chains = [chain for chain in found if chain is not None]
    if not chains or len(chains) < len(found):
        return None
    first = chains[0]
    if len(chains) > 1 and any(len(c.loops) > 1 for c in chains):
        return None
    if any(chain.nest.extent != first.nest.extent for chain in chains):
        return None
    chains = _with_own_names(chains)
    if not _may_move(loop, chains):
        return None
    tile, start, stop = "tile", "tile_start", "tile_stop"
    if any({tile, start, stop} & mentions(chain.nest) for chain in chains):
        return None
    lo, hi, points = Var("lo"), Var("hi"), TILE_POINTS if len(first.loops) == 1 else 1
    inside: list[Stmt] = []
    for chain in chains:
        outer = replace(chain.loops[0], lower=Var(start), upper=Var(stop))
        inside += replace(chain, loops=(outer, *chain.loops[1:])).statement().body
    body: list[Stmt] = [
        Let(start, Apply(f"({{0}} + {{1}} * {points})", (lo, Var(tile)))),
        Let(stop, Apply(f"min({{0}} + {points}, {{1}})", (Var(start), hi))),
        replace(loop, body=inside),
    ]
    count = Apply(f"(({{0}} - {{1}} + {points - 1}) // {points})", (hi, lo))
    tiles = For(tile, Integer(Polynomial.const(0)), count, body)
    work = first.nest.work_ns
    for chain in chains[1:]:
        work = Apply("({0} + {1})", (work, chain.nest.work_ns))
    return replace(
        first.nest,
        work_ns=Apply("({0} * {1})", (work, _trips(loop))),
        body=[tiles],
        comment="; ".join(dict.fromkeys(c.nest.comment for c in chains if c.nest.comment)),
        streamed=None,
    )


def _with_own_names(chains: Sequence[Chain]) -> list[Chain]:
    """Chains that share a function: one name for their outermost loops, others told apart."""
    named, taken = [chains[0]], mentions(chains[0].nest)
    for chain in chains[1:]:
        names = {chain.variables[0]: chains[0].variables[0]}
        everything = taken | mentions(chain.nest)
        for let in chain.lets():
            if let.name in taken:
                names[let.name] = new_name(let.name, everything)
                everything |= {names[let.name]}
        chain = with_names(chain, {old: Var(new) for old, new in names.items()})
        named.append(chain)
        taken |= mentions(chain.statement())
    return named


def _trips(loop: For) -> Expr:
    return Apply(f"(max({{1}} - {{0}}, 0) // {loop.step})", (loop.lower, loop.upper))


def _may_move(loop: For, chains: Sequence[Chain]) -> bool:
    """Whether no point of the nests meets another one in any iteration of the loop."""
    for chain in chains:
        bounds = [
            chain.nest.extent,
            *(e for nested in chain.loops for e in (nested.lower, nested.upper)),
        ]
        if any(loop.var in mentions(Let("_", bound)) for bound in bounds):
            return False
        if any({"lo", "hi"} & mentions(s) for s in (*chain.lets(), *chain.points)):
            return False
    written = frozenset().union(*(chain.written() for chain in chains))
    offsets: dict[str, set[Polynomial]] = {}
    for chain in chains:
        given = {let.name for let in chain.lets()}
        for pointer, offset in (*chain.writes(), *chain.reads()):
            if pointer in written:
                if offset.names() & given:
                    return False
                offsets.setdefault(pointer, set()).add(offset)
    return all(_never_meet(own, loop, chains[0]) for own in offsets.values())


def _never_meet(offsets: set[Polynomial], loop: For, chain: Chain) -> bool:
    """Whether two points of the outermost loop of a chain reach no common element."""
    if len(offsets) == 1 and not any(offset.mentions(loop.var) for offset in offsets):
        return True  # each point has one element
    if len(chain.loops) != 1 or not isinstance(chain.nest.extent, Integer):
        return False
    point = chain.loops[0].var
    if not all(o.is_linear_in(point) and o.is_linear_in(loop.var) for o in offsets):
        return False
    strides = {offset.coefficient(point) for offset in offsets}
    (stride, *others) = strides
    rests = [offset - stride * Polynomial.name(point) for offset in offsets]
    if others or stride.mentions(loop.var) or any(rest.mentions(point) for rest in rests):
        return False
    if stride == Polynomial.const(1):
        start = rests[0].substitute(loop.var, Polynomial.const(0))
        widths = [chain.nest.extent.value + more for more in range(MOST_BORDER + 1)]
        return any(all(_is_multiple(rest - start, width) for rest in rests) for width in widths)
    return _is_within(rests, stride, loop)


def _is_multiple(value: Polynomial, divisor: Polynomial) -> bool:
    """Whether a polynomial is one times ``divisor``: a product of sizes, or a size and a number."""
    if len(divisor.terms) == 1:
        ((names, number),) = divisor.terms
        wanted = Counter(names)
        return all(c % number == 0 and wanted <= Counter(n) for n, c in value.terms)
    names = next((n for n, c in divisor.terms if len(n) == 1 and c == 1), ())
    if not names or not (divisor - Polynomial.name(*names)).is_constant:
        return False
    (name,) = names
    root = Polynomial.name(name) - divisor
    return value.is_linear_in(name) and value.substitute(name, root) == Polynomial.const(0)


def _is_within(rests: Sequence[Polynomial], stride: Polynomial, loop: For) -> bool:
    """Whether all iterations stay within less than ``stride`` elements: points are rows."""
    if not isinstance(loop.lower, Integer) or not isinstance(loop.upper, Integer):
        return False
    first, last = loop.lower.value, loop.upper.value - 1
    steps = [rest.coefficient(loop.var).as_constant() for rest in rests]
    if None in steps:
        return False
    ends = [rest.substitute(loop.var, end) for rest in rests for end in (first, last)]

    def is_negative(value: Polynomial) -> bool:
        """Below 0 where the loop runs: a number, or one less multiples of ``last - first``."""
        known = [(value + (last - first) * times).as_constant() for times in range(3)]
        return any(k is not None and k < 0 for k in known)

    return all(is_negative(a - b - stride) for a in ends for b in ends)
