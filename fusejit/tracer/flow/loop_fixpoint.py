"""The end of a loop's body: does it leave each name as it found it?

Where a kind of thing (`fusejit.tracer.carried.loop_region.Carried`) cannot carry both what an
iteration has found and what it leaves, the loop is traced again with a decision, its first
iterations are traced one by one, or the program is refused.

These attempts end. The decisions about one name only go up: from an object that stays to a loop
buffer, to one whose rows change, to a name that is bound late; the type of a number only widens, to
unions of the finitely many types that the body computes; more iterations are peeled only up to the
number of names. `Region.decide` refuses a decision that is there already, so each attempt goes up
at least one step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fusejit.errors import FusejitError
from fusejit.tracer.carried.containers import settle_aliases
from fusejit.tracer.carried.loop_region import LoopRegion
from fusejit.tracer.carried.regions import is_array
from fusejit.tracer.carried.rows import GrowingBuffer, ShrinkingBuffer
from fusejit.tracer.carried.shrinking import cut_together
from fusejit.tracer.indexing.view_functions import same_view
from fusejit.tracer.lists.array_items import note_before
from fusejit.tracer.program.fallback import Fallback
from fusejit.tracer.program.locations import unsupported


def settle(loop: LoopRegion, names: Mapping[str, Any]) -> None:
    """Compare what the names hold with what the body found; start again where that was wrong."""
    loop.require_tuples(names)
    now = loop.now = {name: loop.held_now(names, name) for name in loop.carried}
    _find_swaps(loop)
    _find_cuts(loop)
    fresh = [n for n in now if is_array(now[n]) and loop.is_mine(now[n].storage)]
    try:
        for name in sorted(now, key=lambda n: n not in fresh):  # what makes loop buffers first
            loop.carried[name].widen(now[name])
    except (FusejitError, Fallback):
        loop.decide_types()  # with those it may be another object
        raise
    loop.decide_types()
    _refuse_shared_memory(loop)
    for one in loop.carried.values():
        if one.seen is not one.before and is_array(one.seen) and is_array(one.before):
            note_before(one.before, one.seen, one.num_stores)
    settle_aliases(loop)


def _find_swaps(loop: LoopRegion) -> None:
    """Names that exchange their arrays in each iteration: trace several iterations at once."""
    carried = loop.carried.items()
    arrays = {n: one.seen for n, one in carried if is_array(one.seen) and not one.is_buffer}
    source: dict[str, str] = {}
    for name in arrays:
        now = loop.now[name]
        if not is_array(now):
            continue
        objects = [other for other, array in arrays.items() if now is array]
        views = [other for other, array in arrays.items() if same_view(now, array)]
        if objects or views:
            source[name] = (objects or views)[0]
    moved = {n: s for n, s in source.items() if n != s}
    if not moved or set(moved) != set(moved.values()):
        return
    order, place = 1, dict(moved)
    while any(n != s for n, s in place.items()):
        place = {n: moved[s] for n, s in place.items()}
        order += 1
    if not loop.can_peel():
        what = "swaps arrays in a loop whose number of iterations is not known before"
        raise unsupported(what, "copy the elements: x[...] = y")
    loop.decide(order * loop.period, "period")


def _find_cuts(loop: LoopRegion) -> None:
    """Names whose arrays lose rows: all of them are decided at once."""
    now, carried = loop.now, loop.carried
    entry = {n: one.seen for n, one in carried.items() if not isinstance(one, GrowingBuffer)}
    found = cut_together(carried, entry, now)
    first: dict[str, str] = {}
    for name, one in carried.items():
        if isinstance(one, ShrinkingBuffer):
            one.require_room(now[name], now[first.setdefault(one.group, name)])
    wanted = {n: g for n, g in found.items() if loop.decided("cut", n) is None}
    if wanted and loop.cuts():
        loop.decide_all({("cut", name): group for name, group in wanted.items()})


def _refuse_shared_memory(loop: LoopRegion) -> None:
    """Two loop buffers cannot stand for one array that is changed in place later."""
    seen: dict[int, str] = {}
    for name, loop_buffer in loop.buffers.items():
        storage = loop.now[name].storage.root
        if storage is loop_buffer.storage:
            continue
        other = seen.setdefault(id(storage), name)
        if other != name or (storage.num_stores and not loop.is_mine(storage)):
            what = f"{name!r} and another name are one array after an iteration"
            raise unsupported(what, f"write {name} = ....copy()")
