"""Parts of an op: computed one after the other, each stored into its slice of a result.

The parts of a parallel dim write slices of their own. Those of a dim along which terms are combined
go on with what is there, and the first one starts from the start, or the identity.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from fusejit.dataclass import replace
from fusejit.fuse.canonical.dead import eliminate_dead_ops
from fusejit.fuse.canonical.stale_loads import with_versions
from fusejit.fuse.tiling.destinations import Destination
from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.rules import is_carried, is_parallel, is_reduced, reassociates, replaced
from fusejit.fuse.tiling.slices import Origin, moved_identity, on_slices, shifted, why_not_sliceable
from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.elementwise import elementwise
from fusejit.ir.analysis.integers import Integers
from fusejit.ir.graph import Graph
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Init, Load, Op, Operand, Store
from fusejit.ir.payload import PayloadBuilder, binary_payload
from fusejit.ir.scalar_ops.combiners import COMBINERS
from fusejit.ir.values import Value, View


def computed_in_parts(
    graph: Graph,
    op: GenericOp,
    dims: Iterable[int],
    places: Sequence[Destination],
    parts: Sequence[Op],
) -> Graph:
    """The graph in which parts store what an op computes, whose domain is cut along dims."""
    starts, ops = _stored_starts(op, dims, places), [*parts]
    # a kernel has its memory where it uses it, after a routine that stands before that
    calls = [k for k, o in enumerate(ops) if isinstance(o, GenericOp) and o.library_call]
    at = calls[0] + 1 if calls and not starts else 0
    ops[at:at] = [place.alloc for place in places if place.alloc is not None] + starts
    after = [place.load for place in places if place.load is not None]
    graph = replaced(graph, op, [*ops, *after])
    for place in places:
        if place.store is not None:
            graph = replaced(graph, place.store, [])
    return with_versions(eliminate_dead_ops(graph))


def stored_part(
    op: GenericOp,
    origin: Origin,
    domain: Sequence[AffineExpr],
    places: Sequence[Destination],
    *,
    may_be_empty: bool = False,
    sizes: Mapping[int, int] | None = None,
) -> tuple[GenericOp, list[Op]]:
    """The op for part of its domain, with the views and loads before it and the stores after it.

    What is there is combined with the part, if a dim that begins elsewhere is reduced.
    """
    is_split = any(is_reduced(op, d) or is_carried(op, d) for d in origin)
    inner, ops = on_slices(op, origin, domain, is_split, may_be_empty=may_be_empty, sizes=sizes)
    before: list[Op] = []
    after: list[Op] = []
    starts: list[Value | None] = [init.start for init in inner.inits]
    for k, (init, value, place) in enumerate(zip(op.inits, inner.results, places, strict=True)):
        shift = moved_identity([shifted(r, origin) for r in init.map.results])
        view = View(place.view.buffer, place.view.map.compose(shift), value.type.extents)
        if is_split or place.is_started:
            so_far = Value(f"{op.results[k].name}_so_far", value.type, order=value.order)
            before.append(Load(results=(so_far,), location=op.location, view=view, version=0))
            if op.library_call is None:
                starts[k] = so_far
            else:  # a routine starts from nothing
                total = Value(f"{op.results[k].name}_sum", value.type, order=value.order)
                after.append(_combined(so_far, value, total, init, op))
                value = total
        after.append(Store(location=op.location, view=view, value=value, version=0))
    inits = [replace(i, start=s) for i, s in zip(inner.inits, starts, strict=True)]
    inner = replace(inner, inits=tuple(inits))
    return inner, [*ops, *before, inner, *after]


def _stored_starts(op: GenericOp, dims: Iterable[int], places: Sequence[Destination]) -> list[Op]:
    """Stores of what a reduction starts from, if one of these dims is reduced."""
    if not any(is_reduced(op, d) or is_carried(op, d) for d in dims):
        return []
    ops: list[Op] = []
    for init, result, place in zip(op.inits, op.results, places, strict=True):
        value = init.start
        if place.is_started:
            continue
        if value is None:
            assert init.combiner is not None
            number = COMBINERS[init.combiner].identity(result.type.dtype)
            value = Value(f"{result.name}_start", result.type, order=result.order)
            ops.append(_filled(value, number, op))
        ops.append(Store(location=op.location, view=place.view, value=value, version=0))
    return ops


def _combined(one: Value, other: Value, total: Value, init: Init, op: GenericOp) -> GenericOp:
    """What the combiner makes of two arrays."""
    assert init.combiner is not None
    payload = binary_payload(COMBINERS[init.combiner].scalar_op, total.type.dtype)
    identity = IndexingMap.identity(total.type.rank)
    inputs = Operand(one, identity), Operand(other, identity)
    return elementwise(total, inputs, payload, "add_tile", op.location)


def _filled(value: Value, number: object, op: GenericOp) -> GenericOp:
    """An array of one number."""
    dtype: np.dtype = value.type.dtype
    builder = PayloadBuilder([], [dtype])
    payload = builder.finish([builder.const(number, dtype)])
    return elementwise(value, (), payload, "fill", op.location)


def bind_minimum(symbol: str, size: int, left: AffineExpr) -> list[Op]:
    """A symbol for a size, or for what is left of an extent if that is less."""
    integers = Integers(1)
    return integers.bound("length", {symbol: integers(size).minimum(left)})


def require_separable(
    op: GenericOp,
    dims: Sequence[int],
    names: Sequence[str],
    step: str,
    reassociate: bool,
    sizes: Mapping[int, int] | None = None,
) -> None:
    """Refuse an op of which parts of the domain cannot be computed one after the other.

    ``sizes`` are those of the parts, if they are equal.

    Raises
    ------
    ScheduleError
        If a dim is neither parallel nor reduced, or a rule of `tile` is broken.
    """
    legal = [
        f"{n}=.."
        for d, n in enumerate(names)
        if is_parallel(op, d) or is_reduced(op, d) or is_carried(op, d)
    ]
    for d in dims:
        name = names[d]
        if is_carried(op, d):
            before = [e for e in range(d) if is_carried(op, e) and (sizes or {}).get(e) != 1]
            if before and not reassociate:
                why = f"the sum over {names[before[0]]} and {name} is in order"
                legal = ["reassociate=True", *(f"tile({names[e]}=1, {name}=..)" for e in before)]
                raise illegal(step, op.name, why, legal)
            continue
        if not is_parallel(op, d) and not is_reduced(op, d):
            why = f"{name} is {op.iterators[d].value}, and some result depends on it"
            raise illegal(step, op.name, why, legal)
        if is_reduced(op, d) and any(map(op.payload.reads_init, range(len(op.inits)))):
            raise illegal(step, op.name, f"{name} is reduced, and a term reads the sum so far")
        if is_reduced(op, d) and reassociates(op) and not reassociate:
            why = f"{name} is summed, and the order of a float sum shows in its bits"
            raise illegal(step, op.name, why, ["reassociate=True", *legal])
    why = why_not_sliceable(op, {*dims}, sizes)
    if why:
        raise illegal(step, op.name, why, legal)
