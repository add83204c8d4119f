"""A new order for the ops of a stretch without effects: groups in one piece."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fusejit.fuse.rewrite_blocks import used_values
from fusejit.ir.ops import Alloc, ConstantOp, GenericOp, Load, Op, ViewOp
from fusejit.ir.values import Value


def _behind_views(op: Op | None, definer: Mapping[Value, Op]) -> Op | None:
    """The op that computes what a chain of views shows."""
    while isinstance(op, ViewOp):
        op = definer.get(op.source)
    return op


def in_order(stretch: Sequence[Op], groups: Sequence[Sequence[GenericOp]]) -> Iterator[Op]:
    """The ops of a stretch, each group in one piece after all that it reads."""
    definer = {v: op for op in stretch for v in op.results}
    group_of = {op: g for g in groups for op in g}
    done: set[Op] = set()

    def sources(op: Op) -> list[Op]:
        """The ops of the stretch that an op reads."""
        return [definer[v] for v in used_values(op) if v in definer]

    def place(op: Op) -> Iterator[Op]:
        """The op (with its group) after all that it reads."""
        if op in done:
            return
        group = group_of.get(op) if isinstance(op, GenericOp) else None
        members: Sequence[Op] = [op] if group is None else group
        for member in members:
            done.add(member)
        for member in members:
            for source in sources(member):
                if source not in members:
                    yield from outside(source, members)
        for member in members:  # views of members stand between them
            for source in sources(member):
                yield from place(source)
            yield member

    def outside(op: Op, members: Sequence[Op]) -> Iterator[Op]:
        """``place`` for what a group reads, but for views of its own values."""
        if not isinstance(op, ViewOp) or _behind_views(op, definer) not in members:
            yield from place(op)

    for op in stretch:  # what reads nothing that is computed here
        if isinstance(op, Alloc | ConstantOp | Load):
            done.add(op)
            yield op
    for op in stretch:
        yield from place(op)
