"""One iteration of a loop, traced once: what its names find, hand on, and leave after the loop.

`begin` comes before the body's block is opened, `show` when the iteration has a number, `settle`
(`fusejit.tracer.flow.loop_fixpoint`) and `hand_on` at the end of the body, and `finish` after it.
Each asks the things that the loop carries, whatever their kinds, in the order of the names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fusejit.ir.ops import Assert, Loop
from fusejit.ir.values import Value
from fusejit.tracer.carried.containers import begin_aliases
from fusejit.tracer.carried.kinds import carried_as
from fusejit.tracer.carried.late import LateArray, late_of
from fusejit.tracer.carried.loop_region import LoopRegion
from fusejit.tracer.carried.rows import ShrinkingBuffer
from fusejit.tracer.carried.unbound import only_inside
from fusejit.tracer.ops.checks import LEFT_TO_PYTHON
from fusejit.tracer.ops.kernel_numbers import arithmetic
from fusejit.tracer.program.locations import unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.live_out_arrays import LiveOutArrays
from fusejit.tracer.values.undefined import UNDEFINED, Undefined

RUNS = "a loop runs that alone binds a name which is read after it"


def begin(loop: LoopRegion, names: Mapping[str, Any]) -> None:
    """Find what the names hold in the body; called before the body's block."""
    names = loop.find_attributes(names)
    for name, obj in loop.find_before(names).copy().items():
        loop.carry(carried_as(loop, name, obj, names))
    begin_aliases(loop)


def show(loop: LoopRegion) -> None:
    """Define, once an iteration has a number, the rows that it finds."""
    for one in loop.carried.values():
        one.show()


def bind_rows_again(loop: LoopRegion) -> None:
    """In the body of a loop whose condition has seen how many rows are left."""
    for one in loop.carried.values():
        if isinstance(one, ShrinkingBuffer) and one.has_count:
            one.bind_again()


def hand_on(
    loop: LoopRegion, names: Mapping[str, Any], counter: Value | None = None
) -> tuple[Value, ...]:
    """Find what the body's block gives to the next iteration; fills the loop buffers."""
    trace, buffers = loop.trace, loop.buffers
    parts = [name for name in loop.carried if name not in loop.names]
    names = {**names, **{n: loop.held_now(names, n) for n in (*buffers, *parts)}}
    now = {name: names.get(name, UNDEFINED) for name in loop.carried}  # ``del`` takes names away
    numbers = [value for name, one in loop.carried.items() for value in one.hand_on(now[name])]
    if counter is not None:
        numbers.append(counter)
    behind = LiveOutArrays(trace, loop.new_buffer)
    for name, one in loop.carried.items():
        one.store(names.get(name, UNDEFINED), behind)
    loop.require_trips(1 + max((loop.num_moved_on(n, names) for n in buffers), default=0))
    loop.origins.leave(names, loop.runs is True and loop.can_peel())
    _require_unchanged_objects(loop, names)
    late = _hand_on_late(loop, names, behind)
    behind.note_copied()
    for loop_buffer, value in behind.moves:
        trace.store(loop_buffer.memory(), value)
    return (*numbers, *late)


def _require_unchanged_objects(loop: LoopRegion, names: Mapping[str, Any]) -> None:
    """Refuse to change what a loop buffer is a copy of before the name is bound again."""
    name = loop.origins.stored_to()
    if name is not None and not loop.peel_until_moved_on(name, names):
        what = f"{name!r} is bound again in a loop that also changes in place what it held"
        raise unsupported(what, f"write {name} = {name}.copy() before the loop")


def _hand_on_late(loop: LoopRegion, names: Mapping[str, Any], behind: LiveOutArrays) -> list[Value]:
    """Hand on the values of names that only the body binds and that are read later."""
    values: list[Value] = []
    for name, one in loop.carried.items():
        if isinstance(one.before, Undefined):
            names = {**names, **loop.taken_apart(name, loop.look_up(names, name))}
    for name in loop.all_names():
        if name in loop.live and isinstance(loop.before(name), Undefined):
            now = loop.look_up(names, name)
            one = loop.late[name] = late_of(loop, name, now, names, behind)
            values += one.hand_on(now)
    return values


def finish(loop: LoopRegion, op: Loop) -> None:
    """Emit the loop; find what the names hold after it."""
    for one in loop.late.values():
        one.carry_zeros()
    late = [arg for one in loop.late.values() for arg in one.iter_args]
    op.carried += tuple(arg.start for arg in late)
    blocks = [op.body] if op.condition is None else [op.body, op.condition]
    arguments = (*op.body.arguments, *(arg.argument for arg in late))
    for block in blocks:
        block.arguments = arguments
    op.results = tuple(map(loop.result_of, arguments))
    loop.emit(op)
    results = dict(zip(arguments, op.results, strict=True))
    if loop.counter is not None:
        loop.counted = TracedArray.of_value(loop.trace, results[loop.counter.argument])
    for one in (*loop.late.values(), *loop.carried.values()):
        if one.name not in loop.late or loop.late[one.name] is one:
            loop.after[one.name] = one.left([results[arg.argument] for arg in one.iter_args])
    for name in loop.all_names():
        if name not in loop.after:
            loop.after[name] = only_inside(name)
    copied = (n for n, one in loop.late.items() if isinstance(one, LateArray) and one.is_copied)
    loop.origins.finish(loop.after, frozenset(copied))
    loop.put_tuples_together()


def require_run(loop: LoopRegion, has_run: TracedArray) -> None:
    """Leave the call to Python if the loop does not run: names that only it binds are unbound."""
    loop.trace.emit(Assert(condition=has_run.value(), reason=RUNS, error=LEFT_TO_PYTHON))


def unless_stopped(loop: LoopRegion, go_on: TracedArray) -> TracedArray:
    """``go_on`` and none of the flags at the start of an iteration."""
    for flag in stoppers(loop):
        down = arithmetic(np.logical_not, TracedArray.of_value(loop.trace, flag))
        go_on = arithmetic(np.logical_and, go_on, down)
    return go_on


def stoppers(loop: LoopRegion) -> list[Value]:
    """The flags that end the loop, at the start of an iteration."""
    carried = (loop.carried.get(flag) for flag in loop.flags)
    return [one.iter_args[0].argument for one in carried if one is not None and one.iter_args]
