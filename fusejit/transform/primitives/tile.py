"""`tile`: the same op on slices, inside loops over tiles.

>>> h = schedule(lambda a: np.exp(a), np.ones((3, 4)))["exp"]
>>> print(h.show())
%v1 = generic "exp" domain (s0, s1) ins (%v0) outs (write) { t0 = exp in0 : f64; yield t0 } : s0
    x s1 x f64
>>> print(h.tile(i=2).show())
for i_0 = 0 to (s0 + 1) floordiv 2 step 1 {
  %i_1 = generic "length" domain () ins () outs (write) { t0 = index (-2 * i_0 + s0) : i64; t1 =
      const 2 : i64; t2 = minimum t1, t0 : i64; yield t2 } : i64 python
  bind i_1 = %i_1
  %v0_slice = view %v0 [(d0, d1) -> (d0 + 2 * i_0, d1)] : i_1 x s1 x f64
  %v1_tile = generic "exp" domain (i_1, s1) ins (%v0_slice) outs (write) { t0 = exp in0 : f64;
      yield t0 } : i_1 x s1 x f64
  store @v1 v2 [(d0, d1) -> (d0 + 2 * i_0, d1)] (i_1, s1) = %v1_tile
}

Rule: a tiled dim is parallel, or reduced; the tiles of a reduced dim are combined in order, which
keeps the bits unless the order of the terms shows in them. The last tile is shorter. Sizes stay
symbolic. Source: MLIR's ``transform.structured.tile_using_for``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from fusejit.dataclass import dataclass, replace
from fusejit.fuse.canonical.dead import eliminate_dead_ops
from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import Graph
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import (
    Bind,
    Block,
    GenericOp,
    Init,
    Load,
    Loop,
    Op,
    Operand,
    Store,
    base_name,
)
from fusejit.ir.payload import I64, Payload, PayloadBuilder
from fusejit.ir.scalar_ops.combiners import COMBINERS
from fusejit.ir.types import IteratorType, Kind, TensorType
from fusejit.ir.values import Value, View
from fusejit.transform.core.base import H, LoopInfo, call
from fusejit.transform.core.destinations import Destination, destinations
from fusejit.transform.core.errors import illegal
from fusejit.transform.core.rules import (
    is_carried,
    is_parallel,
    is_reduced,
    new_symbol,
    reassociates,
    replaced,
    symbols_of,
    unused,
    with_versions,
)
from fusejit.transform.core.slices import (
    Origin,
    moved_identity,
    on_slices,
    shifted,
    why_not_sliceable,
)


@dataclass(frozen=True, slots=True)
class Parts:
    """So many tiles, whatever the extent; the last ones may be shorter, or empty."""

    number: int


@dataclass(frozen=True, slots=True)
class Tile:
    """One tiled dim: the symbols of its loop, of the tile's length, and of its beginning."""

    dim: int
    loop: str
    given: int | Parts
    length: str
    begin: str
    extent: AffineExpr

    @property
    def size(self) -> AffineExpr:
        """The extent of a tile that is not the last one."""
        if isinstance(self.given, Parts):
            return (self.extent + (self.given.number - 1)).floordiv(self.given.number)
        return AffineExpr.const(self.given)

    @property
    def start(self) -> AffineExpr:
        """Where the tile begins."""
        if isinstance(self.given, Parts):
            return AffineExpr.symbol(self.begin)
        return AffineExpr.symbol(self.loop) * self.given

    @property
    def count(self) -> AffineExpr:
        """How many tiles there are."""
        if isinstance(self.given, Parts):
            return AffineExpr.const(self.given.number)
        return (self.extent + (self.given - 1)).floordiv(self.given)

    @property
    def is_whole(self) -> bool:
        """Whether all tiles have the full size, whatever the call."""
        return isinstance(self.given, int) and self.extent.mod(self.given).as_constant() == 0

    @property
    def info(self) -> tuple[int, str]:
        """Size and symbol of the length for `LoopInfo`: no size if it depends on the extent."""
        if isinstance(self.given, Parts):
            return 0, ""
        return self.given, "" if self.is_whole else self.length


@dataclass(slots=True)
class Tiled:
    """A graph with a tiled op, and the op on slices."""

    graph: Graph
    op: GenericOp
    tiles: list[Tile]


def tile(handle: H, *, reassociate: bool = False, check: bool = True, **sizes: int | Parts) -> H:
    """The same op on slices, in loops over tiles; the first dim has the outermost loop.

    Parameters
    ----------
    reassociate : bool, optional
        True: tiles of a float sum may be summed one after the other.
    check : bool, optional
        False: do not compare with the op before on small arrays.
    **sizes
        The size of the tiles of a dim, at least 1, or ``Parts(4)`` for so many tiles. The last tile
        may be shorter.

    Raises
    ------
    ScheduleError
        If a dim is unknown or cannot be tiled, or nothing would change.
    """
    step = call("tile", **sizes)
    numbers = {handle.dim(name, step): size for name, size in sizes.items()}
    op = handle.op
    if not numbers:
        raise illegal(step, op.name, "no dim is given", [f"{n}=.." for n in handle.dims])
    tiled = in_tiles(handle.schedule.graph, op, numbers, handle.dims, step, reassociate)
    taken = {*handle.schedule.loops}
    loops = {
        unused(f"{handle.dims[t.dim]}.0", taken): LoopInfo(t.loop, is_parallel(op, t.dim), *t.info)
        for t in tiled.tiles
    }
    what = f"loops {', '.join(loops)} around {base_name(op.name)}"
    is_split = any(is_reduced(op, d) for d in numbers)
    tag = "reassoc" if (is_split or op.library_call) and reassociates(op) else "bits"
    tag = "reassoc" if reassociate and any(is_carried(op, d) for d in numbers) else tag
    return handle.after(step, tag, what, tiled.graph, tiled.op, check=check, loops=loops)


def in_tiles(
    graph: Graph,
    op: GenericOp,
    sizes: Mapping[int, int | Parts],
    names: Sequence[str],
    step: str,
    reassociate: bool,
) -> Tiled:
    """Tile dims; the first one has the outermost loop.

    Parameters
    ----------
    sizes : mapping
        From dims to the sizes of their tiles.
    names : sequence of str
        The names of the dims.
    step : str
        What errors call it.
    reassociate : bool
        Whether terms may be combined in another order.
    """
    _check(op, sizes, names, step, reassociate)
    taken = symbols_of(graph)
    tiles = [
        Tile(
            d,
            new_symbol(f"{names[d]}_0", taken),
            n,
            new_symbol(f"{names[d]}_1", taken),
            new_symbol(f"{names[d]}_start", taken),
            op.domain[d],
        )
        for d, n in sizes.items()
    ]
    graph, places = destinations(graph, op)
    inner, ops = _on_slices(op, tiles, places)
    for t in reversed(tiles):
        body = Block((), [*_length(t), *ops])
        ops = [
            Loop(
                location=op.location,
                carried=(),
                body=body,
                induction=t.loop,
                lower=AffineExpr.const(0),
                upper=t.count,
            )
        ]
    return Tiled(computed_in_parts(graph, op, [*sizes], places, ops), inner, tiles)


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


def _check(
    op: GenericOp,
    sizes: Mapping[int, int | Parts],
    names: Sequence[str],
    step: str,
    reassociate: bool,
) -> None:
    for d, size in sizes.items():
        name = names[d]
        number = size.number if isinstance(size, Parts) else size
        if number < 1:
            raise illegal(step, op.name, f"the size of {name} is {number}: it is at least 1")
        if op.register_tile is not None and op.register_tile.sizes[d] is not None:
            raise illegal(step, op.name, f"{name} is part of the register tile")
        extent = op.domain[d].as_constant()
        if isinstance(size, int) and extent is not None and size >= extent:
            why = f"{name} has extent {extent}, so that a tile of {size} changes nothing"
            raise illegal(step, op.name, why)
    require_separable(op, [*sizes], names, step, reassociate, sizes)


def require_separable(
    op: GenericOp,
    dims: Sequence[int],
    names: Sequence[str],
    step: str,
    reassociate: bool,
    sizes: Mapping[int, int | Parts] | None = None,
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
    if any(i.combiner is not None and COMBINERS[i.combiner].of_numbers for i in op.inits):
        raise illegal(step, op.name, "partial results of a deviation cannot be combined alone")
    known = {d: size for d, size in (sizes or {}).items() if isinstance(size, int)}
    why = why_not_sliceable(op, {*dims}, known)
    if why:
        raise illegal(step, op.name, why, legal)


def _on_slices(
    op: GenericOp, tiles: Sequence[Tile], places: Sequence[Destination]
) -> tuple[GenericOp, list[Op]]:
    """The op on slices, with the views and loads before it and the stores after it."""
    domain = list(op.domain)
    for t in tiles:
        domain[t.dim] = t.size if t.is_whole else AffineExpr.symbol(t.length)
    return stored_part(op, {t.dim: t.start for t in tiles}, domain, places)


def stored_part(
    op: GenericOp,
    origin: Origin,
    domain: Sequence[AffineExpr],
    places: Sequence[Destination],
    *,
    may_be_empty: bool = False,
) -> tuple[GenericOp, list[Op]]:
    """The op for part of its domain, with the views and loads before it and the stores after it.

    What is there is combined with the part, if a dim that begins elsewhere is reduced.
    """
    is_split = any(is_reduced(op, d) or is_carried(op, d) for d in origin)
    inner, ops = on_slices(op, origin, domain, is_split, may_be_empty=may_be_empty)
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


def _length(t: Tile) -> list[Op]:
    """The length of a tile, as a symbol."""
    if t.is_whole:
        return []
    if isinstance(t.given, int):
        return bind_minimum(t.length, t.given, t.extent - t.start)
    builder = PayloadBuilder([], [I64])
    number = builder.index(AffineExpr.symbol(t.loop))
    start = builder.op("multiply", [number, builder.index(t.size)], I64)
    begin = builder.op("minimum", [start, builder.index(t.extent)], I64)
    at = _bound(t.begin, builder.finish([begin]))
    builder = PayloadBuilder([], [I64])
    refs = [builder.index(t.size), builder.index(t.extent - t.start)]
    return [*at, *_bound(t.length, builder.finish([builder.op("minimum", refs, I64)]))]


def bind_minimum(symbol: str, size: int, left: AffineExpr) -> list[Op]:
    """A symbol for a size, or for what is left of an extent if that is less."""
    builder = PayloadBuilder([], [I64])
    rest = builder.index(left)
    shorter = builder.op("minimum", [builder.const(size, I64), rest], I64)
    return _bound(symbol, builder.finish([shorter]))


def _bound(symbol: str, payload: Payload) -> list[Op]:
    """A symbol for a number that the kernel computes."""
    value = Value(symbol, TensorType(I64), Kind.PYTHON)
    length = GenericOp(
        results=(value,),
        domain=(),
        iterators=(),
        inputs=(),
        inits=(Init(IndexingMap.scalar(0)),),
        payload=payload,
        name="length",
    )
    return [length, Bind(symbol=symbol, value=value)]


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
    dtype = total.type.dtype
    builder = PayloadBuilder([dtype, dtype], [dtype])
    result = builder.op(COMBINERS[init.combiner].scalar_op, [0, 1], dtype)
    identity = IndexingMap.identity(total.type.rank)
    return GenericOp(
        results=(total,),
        location=op.location,
        domain=total.type.extents,
        iterators=(IteratorType.PARALLEL,) * total.type.rank,
        inputs=(Operand(one, identity), Operand(other, identity)),
        inits=(Init(identity),),
        payload=builder.finish([result]),
        name="add_tile",
    )


def _filled(value: Value, number: object, op: GenericOp) -> GenericOp:
    """An array of one number."""
    dtype: np.dtype = value.type.dtype
    builder = PayloadBuilder([], [dtype])
    return GenericOp(
        results=(value,),
        location=op.location,
        domain=value.type.extents,
        iterators=(IteratorType.PARALLEL,) * value.type.rank,
        inputs=(),
        inits=(Init(IndexingMap.identity(value.type.rank)),),
        payload=builder.finish([builder.const(number, dtype)]),
        name="fill",
    )
