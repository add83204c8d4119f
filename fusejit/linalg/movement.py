"""Ops that move elements without changing them: `broadcast` and `transpose`."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

from fusejit.ir.definitions.definition import (
    Access,
    Definition,
    OperandSpec,
    Role,
    Update,
    make_definition,
)
from fusejit.ir.definitions.indices import Index, dims, extents
from fusejit.ir.definitions.scalars import element, padded
from fusejit.linalg.registry import register
from fusejit.structured.op import StructuredOp

Ranks = Mapping[str, int | None]


def moved(
    name: str,
    doc: str | None,
    source: tuple[str, Sequence[Index], Sequence[Index]],
    target: tuple[str, Sequence[Index], Sequence[Index]],
    attributes: Mapping[str, Any],
    padding: bool = False,
) -> Definition:
    """One element per point; ``source`` and ``target`` are name, extents and subscripts."""
    access = Access(source[0], tuple(source[2]), padding)
    value = element(source[0], access.subscripts)
    operands = [OperandSpec(source[0], Role.INPUT, "T", tuple(source[1]), is_exact=True)]
    accesses = [access]
    if padding:
        operands.append(OperandSpec("padding_value", Role.SCALAR, "T", ()))
        accesses.append(Access("padding_value", ()))
        value = padded(source[0], access.subscripts, element("padding_value"))
    operands.append(OperandSpec(target[0], Role.OUTPUT, "T", tuple(target[1])))
    update = Update(Access(target[0], tuple(target[2])), value)
    return make_definition(name, operands, accesses, [update], attributes=attributes, doc=doc)


def rank_in(ranks: Ranks, name: str, default: int) -> int:
    rank = ranks.get(name)
    return default if rank is None else rank


def integers(op: str, what: str, given: Any) -> list[int]:
    """The integers of an attribute."""
    try:
        return [operator.index(n) for n in given]
    except TypeError:
        raise TypeError(f"{op}: {what} takes integers, not {given!r}") from None


def distinct_axes(op: str, what: str, axes: Any, rank: int) -> list[int]:
    """Distinct axes of an array."""
    given = integers(op, what, axes)
    if len(set(given)) < len(given) or not all(0 <= a < rank for a in given):
        raise ValueError(f"{op}: {what} {given} are not distinct axes of {rank}")
    return given


# ------------------------------------------------------------------------ broadcast and transpose
def _broadcast(ranks: Ranks, attributes: Mapping[str, Any]) -> Definition:
    """Repeat the input along new axes ``dimensions``; ``init`` gives the shape.

    ``dimensions`` are the axes of the output that the input lacks. An extent of 1 is not stretched.
    """
    new = attributes.get("dimensions", ())
    rank = rank_in(ranks, "init", rank_in(ranks, "input", 1) + len(new))
    axes = distinct_axes("broadcast", "dimensions", new, rank)
    kept = [k for k in range(rank) if k not in axes]
    if len(kept) != rank_in(ranks, "input", len(kept)):
        raise ValueError(
            f"broadcast: {len(axes)} new dimensions and {ranks['input']} axes of input are not the "
            f"{rank} axes of init"
        )
    points, shape = dims("d", rank), extents("D", rank)
    source = ("input", [shape[k] for k in kept], [points[k] for k in kept])
    target = ("init", shape, points)
    return moved("broadcast", _broadcast.__doc__, source, target, {"dimensions": ()})


def _transpose(ranks: Ranks, attributes: Mapping[str, Any]) -> Definition:
    """Copy with axes permuted: axis k is axis ``permutation[k]`` of the input."""
    rank = rank_in(ranks, "input", 2)
    given = attributes.get("permutation")
    axes = list(range(rank))[::-1] if given is None else given
    order = distinct_axes("transpose", "permutation", axes, rank)
    if len(order) != rank:
        raise ValueError(f"transpose: permutation {order} is none of {rank} axes")
    inverse = [order.index(k) for k in range(rank)]
    points, shape = dims("d", rank), extents("D", rank)
    source = ("input", [shape[k] for k in inverse], [points[k] for k in inverse])
    target = ("init", shape, points)
    return moved("transpose", _transpose.__doc__, source, target, {"permutation": None})


for _define in (_broadcast, _transpose):
    register(StructuredOp(_define({}, {}), _define))
