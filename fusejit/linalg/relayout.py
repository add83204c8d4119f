"""`pack` and `unpack`: arrays in tiles.

A tile of a packed array is the axis ``t`` beside its outer axis ``o``:
``dest[.., o, .., t] = source[.., o * tile + t, ..]``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fusejit.ir.definitions.definition import Definition
from fusejit.ir.definitions.indices import Index, dims, extents
from fusejit.linalg.movement import Ranks, distinct_axes, integers, moved, rank_in
from fusejit.linalg.registry import register
from fusejit.structured.generic import OpFamily, Resolved, given_only
from fusejit.structured.op import StructuredOp, rank_of

_TILING: dict[str, Any] = {"inner_dims_pos": (), "inner_tiles": (), "outer_dims_perm": None}


def _tiling(op: str, attributes: Mapping[str, Any], rank: int) -> tuple[dict[int, int], list[int]]:
    """Tile sizes by axis, in the order of the inner axes, and the order of the outer ones."""
    position = distinct_axes(op, "inner_dims_pos", attributes.get("inner_dims_pos", ()), rank)
    tiles = integers(op, "inner_tiles", attributes.get("inner_tiles", ()))
    if len(tiles) != len(position):
        raise ValueError(f"{op}: {len(tiles)} inner_tiles for {len(position)} inner_dims_pos")
    if any(t < 1 for t in tiles):
        raise ValueError(f"{op}: inner_tiles {tiles} are not all at least 1")
    given = attributes.get("outer_dims_perm")
    order = distinct_axes(op, "outer_dims_perm", range(rank) if given is None else given, rank)
    if len(order) != rank:
        raise ValueError(f"{op}: outer_dims_perm {order} is not a permutation of {rank} axes")
    return dict(zip(position, tiles, strict=True)), order


@OpFamily
def pack(
    source: Any,
    *,
    inner_dims_pos: Sequence[int] = (),
    inner_tiles: Sequence[int] = (),
    outer_dims_perm: Sequence[int] | None = None,
    padding_value: Any = None,
    init: Any = None,
    out: Any = None,
) -> Resolved:
    """Move tiles of ``source`` to inner axes: ``dest[o.., t..] = source[o * tile + t, ..]``.

    Axis ``inner_dims_pos[i]`` is split into tiles of ``inner_tiles[i]``; ``outer_dims_perm`` is the
    order of the outer axes. Where a last tile is not full it holds ``padding_value``; without one
    every extent must be a multiple of its tile.
    """
    rank = rank_of(source)
    given = inner_dims_pos, inner_tiles, outer_dims_perm
    tiles, order = _tiling("pack", dict(zip(_TILING, given, strict=True)), rank)
    is_padded = padding_value is not None
    shape, o, t = extents("S", rank), dims("o", rank), dims("t", rank)
    place = [o[k] * tiles[k] + t[k] if k in tiles else o[k] for k in range(rank)]
    outer = [(shape[k] + (tiles[k] - 1)) // tiles[k] if k in tiles else shape[k] for k in order]
    points = [*(o[k] for k in order), *(t[k] for k in tiles)]
    target = "dest", [*outer, *map(Index.of, tiles.values())], points
    made = moved("pack", pack.__doc__, ("source", shape, place), target, {}, is_padded)
    inputs = (source, padding_value) if is_padded else (source,)
    return made, inputs, given_only(init=init, out=out)


def _unpack(ranks: Ranks, attributes: Mapping[str, Any]) -> Definition:
    """Undo `pack`: ``dest[x..] = source[x // tile.., x % tile..]``.

    ``init`` or ``out`` gives its shape; by default it has all that the tiles hold.
    """
    tiles = list(attributes.get("inner_tiles", ()))
    rank = rank_in(ranks, "source", 2 + len(tiles)) - len(tiles)
    if rank < 0:
        raise ValueError(f"unpack: source has {ranks['source']} axes for {len(tiles)} inner_tiles")
    sizes, order = _tiling("unpack", attributes, rank)
    points, packed = dims("d", rank), extents("O", rank)
    is_given = ranks.get("dest") is not None
    whole = [packed[k] * sizes[k] if k in sizes else packed[k] for k in range(rank)]
    shape = extents("D", rank) if is_given else whole
    if is_given:
        tiled = ((e, sizes.get(k, 1)) for k, e in enumerate(shape))
        packed = tuple((e + (t - 1)) // t for e, t in tiled)
    place = [points[k] // sizes[k] if k in sizes else points[k] for k in order]
    inner = [points[k] % tile for k, tile in sizes.items()]
    extents_of_source = [*(packed[k] for k in order), *map(Index.of, sizes.values())]
    source = "source", extents_of_source, [*place, *inner]
    return moved("unpack", _unpack.__doc__, source, ("dest", shape, points), _TILING)


register(StructuredOp(_unpack({}, {}), _unpack))
register(pack)
