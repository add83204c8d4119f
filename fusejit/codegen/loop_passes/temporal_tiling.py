"""A loop of the program around one nest whose points do not meet moves inside, tile by tile.

Before and after::

    for t in range(T):                      parallel_for(chunk0, n, T * ..)
        parallel_for(chunk0, n, ..)             # for each tile of d0:
            # for d0: x[d0] = f(x[d0])          #     for t in range(T):
                                                #         for d0 in tile: x[d0] = f(x[d0])

If every element that the nest writes is read and written at one point only, points can run in any
order: all iterations on one tile, which stays in the nearest cache, then on the next. The innermost
loop is the one that it was, so it vectorises as it did; there is one launch instead of one for each
iteration; and threads share out points, whose iterations stay in order: bits depend on neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from fusejit.codegen.analysis.chains import Chain, chain_of
from fusejit.codegen.analysis.rewriting import with_bodies
from fusejit.dataclass import replace
from fusejit.ir.loops.index_math import ceildiv, floordiv, let, maximum, minimum, mul, name, sub
from fusejit.ir.loops.mentioned_names import mentions
from fusejit.ir.loops.nodes import For, Integer, Let, ParallelFor, Pointer, Stmt, Var
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.loops.program import LoopNestNote

REASON = "a tile runs all iterations of the loop around it, in one launch"
TILE_POINTS = 512  # points of a tile: a few arrays of 4 KB stay in the nearest cache


def tile_time_loops(statements: Sequence[Stmt], notes: list[LoopNestNote]) -> list[Stmt]:
    """Move loops inside nests in ``statements``, in the loops and branches inside first.

    ``notes`` gets one row for each loop that moved.
    """
    moved: list[Stmt] = []
    for statement in statements:
        statement = with_bodies(statement, partial(tile_time_loops, notes=notes))
        nest = _moved(statement) if isinstance(statement, For) else None
        if nest is not None:
            notes.append(LoopNestNote((nest.comment,), "points never meet", REASON))
        moved.append(statement if nest is None else nest)
    return moved


def _moved(loop: For) -> ParallelFor | None:
    """The nest of the loop's body with the loop inside, or None if that would not be the same."""
    if len(loop.body) != 1 or {"lo", "hi"} & mentions(replace(loop, body=())):
        return None  # the loop of a chunk is not that of the nest in it
    chain = chain_of(loop.body[0])
    if chain is None or not _may_move(loop, chain):
        return None
    tile, start, stop = "tile", "tile_start", "tile_stop"
    if {tile, start, stop} & mentions(chain.nest):
        return None
    points = TILE_POINTS if len(chain.loops) == 1 else 1
    outer = replace(chain.loops[0], lower=Var(start), upper=Var(stop))
    inside = replace(chain, loops=(outer, *chain.loops[1:])).statement().body
    body: list[Stmt] = [
        let(start, name("lo") + name(tile) * points),
        let(stop, minimum(name(start) + points, "hi")),
        replace(loop, body=inside),
    ]
    count = ceildiv(name("hi") - name("lo"), points)
    tiles = For(tile, Integer(Polynomial.const(0)), count, body)
    trips = floordiv(maximum(sub(loop.upper, loop.lower), 0), loop.step)
    work = mul(chain.nest.work_ns, trips)
    return replace(chain.nest, work_ns=work, body=[tiles], streamed=None)


def _may_move(loop: For, chain: Chain) -> bool:
    """Whether no point of the nest meets another one in any iteration of the loop."""
    bounds = [
        chain.nest.extent,
        *(e for nested in chain.loops for e in (nested.lower, nested.upper)),
    ]
    if any(loop.var in mentions(Let("_", bound)) for bound in bounds):
        return False
    inner = (*chain.lets(), *chain.points)
    if any({"lo", "hi"} & mentions(s) for s in inner):
        return False
    offsets: dict[Pointer, set[Polynomial]] = {}
    for pointer, offset in chain.writes():
        offsets.setdefault(pointer, set()).add(offset)
    read = [(p, o) for p, o in chain.reads() if p in offsets]
    for pointer, offset in read:
        offsets[pointer].add(offset)
    for pointer, own in offsets.items():
        (first, *others) = own
        if others:
            return False
        if first.mentions(loop.var) and not (
            _is_row(first, loop, chain) and all(p != pointer for p, _ in read)
        ):
            return False
    return True


def _is_row(offset: Polynomial, loop: For, chain: Chain) -> bool:
    """Whether each iteration writes a row of its own, one element after the other."""
    if len(chain.loops) != 1 or not isinstance(chain.nest.extent, Integer):
        return False
    row = Polynomial.name(loop.var) * chain.nest.extent.value
    return offset - row - Polynomial.name(chain.loops[0].var) == Polynomial.const(0)
