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

from collections.abc import Mapping, Sequence

import numpy as np

from fusejit.dataclass import dataclass, replace
from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import Graph
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import (
    Alloc,
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
from fusejit.ir.payload import I64, PayloadBuilder
from fusejit.ir.scalar_ops.combiners import COMBINERS
from fusejit.ir.types import IteratorType, Kind, TensorType
from fusejit.ir.values import Buffer, Value, View
from fusejit.transform.base import H, LoopInfo, call
from fusejit.transform.errors import illegal
from fusejit.transform.rules import (
    is_parallel,
    is_reduced,
    next_alias_class,
    reassociates,
    replaced,
    symbols_of,
    unused,
    with_versions,
)
from fusejit.transform.slices import moved_identity, on_slices, shifted, why_not_sliceable


@dataclass(frozen=True, slots=True)
class Tile:
    """One tiled dim: the symbol of its loop, the size, and the symbol of the tile's length."""

    dim: int
    loop: str
    size: int
    length: str
    extent: AffineExpr

    @property
    def start(self) -> AffineExpr:
        """Where the tile begins."""
        return AffineExpr.symbol(self.loop) * self.size

    @property
    def is_whole(self) -> bool:
        """Whether all tiles have the full size, whatever the call."""
        extent = self.extent.as_constant()
        return extent is not None and extent % self.size == 0


@dataclass(slots=True)
class Tiled:
    """A graph with a tiled op, and the op on slices."""

    graph: Graph
    op: GenericOp
    tiles: list[Tile]


def tile(handle: H, *, reassociate: bool = False, check: bool = True, **sizes: int) -> H:
    """The same op on slices, in loops over tiles; the first dim has the outermost loop.

    Parameters
    ----------
    reassociate : bool, optional
        True: tiles of a float sum may be summed one after the other.
    check : bool, optional
        False: do not compare with the op before on small arrays.
    **sizes
        The size of the tiles of a dim, at least 1. The last tile may be shorter.

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
        unused(f"{handle.dims[t.dim]}.0", taken): LoopInfo(
            t.loop, is_parallel(op, t.dim), t.size, "" if t.is_whole else t.length
        )
        for t in tiled.tiles
    }
    what = f"loops {', '.join(loops)} around {base_name(op.name)}"
    is_split = any(is_reduced(op, d) for d in numbers)
    tag = "reassoc" if (is_split or op.library_call) and reassociates(op) else "bits"
    return handle.after(step, tag, what, tiled.graph, tiled.op, check=check, loops=loops)


def in_tiles(
    graph: Graph,
    op: GenericOp,
    sizes: Mapping[int, int],
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
    tiles = []
    for d, n in sizes.items():
        name = names[d].replace(".", "_")  # symbols are identifiers
        symbols = unused(f"{name}_0", taken), unused(f"{name}_1", taken)
        tiles.append(Tile(d, symbols[0], n, symbols[1], op.domain[d]))
    buffers = _memory(graph, op)
    inner, ops = _on_slices(op, tiles, buffers)
    for t in reversed(tiles):
        upper = (t.extent + (t.size - 1)).floordiv(t.size)
        body = Block((), [*_length(t), *ops])
        ops = [
            Loop(
                location=op.location,
                carried=(),
                body=body,
                induction=t.loop,
                lower=AffineExpr.const(0),
                upper=upper,
            )
        ]
    before = [Alloc(buffer=b, location=op.location) for b in buffers]
    starts = _starts(op, tiles, buffers)
    after = [
        Load(results=(r,), location=op.location, view=View.whole(b), version=0)
        for r, b in zip(op.results, buffers, strict=True)
    ]
    graph = replace(graph, buffers=[*graph.buffers, *buffers])
    graph = with_versions(replaced(graph, op, [*before, *starts, *ops, *after]))
    return Tiled(graph, inner, tiles)


def _check(
    op: GenericOp,
    sizes: Mapping[int, int],
    names: Sequence[str],
    step: str,
    reassociate: bool,
) -> None:
    legal = [f"{n}=.." for d, n in enumerate(names) if is_parallel(op, d) or is_reduced(op, d)]
    for d, size in sizes.items():
        name = names[d]
        if size < 1:
            raise illegal(step, op.name, f"the size of {name} is {size}: it is at least 1")
        extent = op.domain[d].as_constant()
        if extent is not None and size >= extent:
            why = f"{name} has extent {extent}, so that a tile of {size} changes nothing"
            raise illegal(step, op.name, why)
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
    why = why_not_sliceable(op, set(sizes), sizes)
    if why:
        raise illegal(step, op.name, why, legal)


def _memory(graph: Graph, op: GenericOp) -> list[Buffer]:
    """A buffer for each result."""
    taken = {b.name for b in graph.buffers}
    first = next_alias_class(graph)
    return [
        Buffer(unused(r.name, taken), r.type, first + k, order=r.order)
        for k, r in enumerate(op.results)
    ]


def _on_slices(
    op: GenericOp, tiles: Sequence[Tile], buffers: Sequence[Buffer]
) -> tuple[GenericOp, list[Op]]:
    """The op on slices, with the views and loads before it and the stores after it."""
    origin = {t.dim: t.start for t in tiles}
    domain = list(op.domain)
    for t in tiles:
        domain[t.dim] = AffineExpr.const(t.size) if t.is_whole else AffineExpr.symbol(t.length)
    is_split = any(is_reduced(op, t.dim) for t in tiles)
    inner, ops = on_slices(op, origin, domain, is_split, {t.dim: t.size for t in tiles})
    before: list[Op] = []
    after: list[Op] = []
    starts: list[Value | None] = [init.start for init in inner.inits]
    for k, (init, value, buffer) in enumerate(zip(op.inits, inner.results, buffers, strict=True)):
        shift = [shifted(r, origin) for r in init.map.results]
        view = View(buffer, moved_identity(shift), value.type.extents)
        if is_split:
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
    builder = PayloadBuilder([], [I64])
    left = builder.index(t.extent - t.start)
    shorter = builder.op("minimum", [builder.const(t.size, I64), left], I64)
    value = Value(t.length, TensorType(I64), Kind.PYTHON)
    length = GenericOp(
        results=(value,),
        domain=(),
        iterators=(),
        inputs=(),
        inits=(Init(IndexingMap.scalar(0)),),
        payload=builder.finish([shorter]),
        name="length",
    )
    return [length, Bind(symbol=t.length, value=value)]


def _starts(op: GenericOp, tiles: Sequence[Tile], buffers: Sequence[Buffer]) -> list[Op]:
    """Stores of what a reduction starts from, where its dim is tiled."""
    if not any(is_reduced(op, t.dim) for t in tiles):
        return []
    ops: list[Op] = []
    for init, result, buffer in zip(op.inits, op.results, buffers, strict=True):
        value = init.start
        if value is None:
            assert init.combiner is not None
            number = COMBINERS[init.combiner].identity(result.type.dtype)
            value = Value(f"{result.name}_start", result.type, order=result.order)
            ops.append(_filled(value, number, op))
        ops.append(Store(location=op.location, view=View.whole(buffer), value=value, version=0))
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
