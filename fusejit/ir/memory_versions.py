"""Versions of memory: the walk that counts the stores before every op.

Each alias class has a counter that starts at 0. In program order

- a store to class c adds one;
- an op that owns blocks which store to c adds one at the entry of each of its blocks, and one more
  after the op.

The counter never goes back, so two loads of one view give the same contents if their versions are
equal, and versions inside a block that repeats differ from those before and after it::

    %1 = load @a v0 : f64
    store @a v1 = %x
    for i0 = 0 to 3 step 1 {
      %2 = load @a v2 : f64        # not what %1 or the store saw: this is any iteration
      store @a v3 = %2
    }
    %3 = load @a v4 : f64
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fusejit.ir.ops import Block, Load, Op, Write, written_classes


def walk_versions(
    block: Block, counters: dict[int, int] | None = None
) -> Iterator[tuple[Op, Mapping[int, int]]]:
    """Every op in program order with the versions of all classes that hold when it runs.

    For a store these are the versions after it. A class nothing was stored to is at 0 and may be
    missing. The mapping is one live object: read it before asking for the next op.
    """
    counters = {} if counters is None else counters

    def advance(classes: frozenset[int]) -> None:
        for alias_class in classes:
            counters[alias_class] = counters.get(alias_class, 0) + 1

    for op in block.ops:
        if isinstance(op, Write):
            advance(frozenset((op.view.buffer.alias_class,)))
        yield op, counters
        written = written_classes(*op.blocks)
        for inner in op.blocks:
            advance(written)
            yield from walk_versions(inner, counters)
        advance(written)


def versions(block: Block) -> dict[Op, int]:
    """What the ``version`` of each load and store of a block, nested ones included, has to be."""
    return {
        op: counters.get(op.view.buffer.alias_class, 0)
        for op, counters in walk_versions(block)
        if isinstance(op, Load | Write)
    }


def renumber_versions(block: Block) -> None:
    """Set the ``version`` of every load and store, after ops were moved, added or removed."""
    for op, version in versions(block).items():
        if isinstance(op, Load | Write):
            op.version = version
