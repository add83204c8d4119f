"""Ops by name: how a schedule finds them, and what became of those that a step removed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fusejit.errors import ScheduleError
from fusejit.ir.graph import Graph
from fusejit.ir.ops import Bind, GenericOp, base_name, walk
from fusejit.ir.values import Value
from fusejit.transform.core.steps import Step

Labels = dict[GenericOp, str]


def labels(graph: Graph) -> Labels:
    """The ops in program order with the names that find them.

    The name of an op is that of the NumPy function; where several ops have one name, the second is
    called ``add#2``. Lengths of tiles have no name.
    """
    ops = [op for op in walk(graph.block) if isinstance(op, GenericOp)]
    bound = {op.value for op in walk(graph.block) if isinstance(op, Bind)}
    alike: dict[str, list[GenericOp]] = {}
    for op in ops:
        if op.results[0] not in bound:
            alike.setdefault(base_name(op.name), []).append(op)
    named = {
        op: name if len(same) == 1 else f"{name}#{number}"
        for name, same in alike.items()
        for number, op in enumerate(same, 1)
    }
    return {op: named[op] for op in ops if op in named}


def op_of(graph: Graph, value: Value) -> GenericOp | None:
    """The op that defines a value."""
    ops = (op for op in walk(graph.block) if isinstance(op, GenericOp))
    return next((op for op in ops if value in op.results), None)


def find_op(graphs: Sequence[Graph], steps: Sequence[Step], name: str) -> GenericOp:
    """The op of a name, or at ``file.py:line``, in the last graph; ``#2`` is the second of several.

    Raises
    ------
    ScheduleError
        If there is none, or more than one; if a step has removed it, that step is named.
    """
    found = _named(graphs[-1], name)
    if len(found) == 1:
        return found[0]
    known = ", ".join(f"{label} ({_place(op)})" for op, label in labels(graphs[-1]).items())
    how = "several ops are" if found else "no op is"
    gone = "" if found else removed_by(graphs, steps, lambda g: next(iter(_named(g, name)), None))
    raise ScheduleError(f"{how} named {name!r}{gone}; there are: {known}")


def _named(graph: Graph, name: str) -> list[GenericOp]:
    wanted, _, number = name.partition("#")
    found = [op for op in labels(graph) if wanted in (base_name(op.name), _place(op))]
    return found if not number else [op for k, op in enumerate(found, 1) if str(k) == number]


def _place(op: GenericOp) -> str:
    return f"{op.location.file.rpartition('/')[2]}:{op.location.line}"


def removed_by(
    graphs: Sequence[Graph],
    steps: Sequence[Step],
    find: Callable[[Graph], GenericOp | None],
) -> str:
    """Say which step removed an op, and which op computes it now; empty if it never was there.

    ``graphs`` are those before the first step and after each one.
    """
    for number in range(len(steps), 0, -1):
        if (found := find(graphs[number - 1])) is None:
            continue
        step, after = steps[number - 1], labels(graphs[-1])
        last = found.results[-1]
        users = [name for op, name in after.items() if last in {o.value for o in op.origins}]
        where = f" ({step.line})" if step.line else ""
        now = f", and {users[0]} computes it now" if users else ""
        return f": step {number}, {step.call}{where}, removed it{now}"
    return ""


def forwarded(steps: Sequence[Step], value: Value) -> Value:
    """The value that a handle's value has become after steps."""
    for step in steps:
        value = step.moved.get(value, value)
    return value
