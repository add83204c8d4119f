"""Random indexing maps that stay inside their arrays for given sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap

Extents = tuple[AffineExpr, ...]


class MapMaker:
    """Chooses maps with one source of randomness, for sizes given by ``symbols``."""

    def __init__(self, rng: Random, symbols: Mapping[str, int]) -> None:
        self.rng = rng
        self.symbols = symbols

    def size(self, extent: AffineExpr) -> int:
        """The extent as a number."""
        return extent.evaluate((), self.symbols)

    def shape(self, extents: Sequence[AffineExpr]) -> tuple[int, ...]:
        """The extents as numbers."""
        return tuple(map(self.size, extents))

    def part(self, extents: Extents) -> tuple[Extents, IndexingMap]:
        """Basic indexing: slices, steps, flips, picks, new axes, in any order of axes."""
        rng = self.rng
        pieces: list[tuple[AffineExpr, int | None]] = []  # extent of the dim, axis it indexes
        results: dict[int, tuple[int, AffineExpr]] = {}  # axis -> coefficient and constant
        for axis, extent in enumerate(extents):
            choice = rng.random()
            if choice < 0.15 and self.size(extent) > 0:
                results[axis] = (0, rng.choice((AffineExpr.const(0), extent - 1)))
                continue
            dim_extent, coefficient, constant = self.axis_slice(extent)
            pieces.append((dim_extent, axis))
            results[axis] = (coefficient, constant)
        if rng.random() < 0.2:
            pieces.append((AffineExpr.const(1), None))
        if rng.random() < 0.5:
            rng.shuffle(pieces)
        where = {axis: dim for dim, (_, axis) in enumerate(pieces) if axis is not None}
        exprs = []
        for axis in range(len(extents)):
            coefficient, constant = results[axis]
            dim = AffineExpr.dim(where[axis]) if axis in where else AffineExpr.const(0)
            exprs.append(dim * coefficient + constant)
        return tuple(e for e, _ in pieces), IndexingMap(len(pieces), tuple(exprs))

    def axis_slice(self, extent: AffineExpr) -> tuple[AffineExpr, int, AffineExpr]:
        """A slice of one axis: the extent of the dim, its coefficient and the first index."""
        zero = AffineExpr.const(0)
        choices = [(extent, 1, zero)] * 3 + [(extent, -1, extent - 1)]
        choices.append(((extent + 1).floordiv(2), 2, zero))
        if self.size(extent) > 0:
            choices += [(extent - 1, 1, AffineExpr.const(1)), (extent - 1, 1, zero)]
        return self.rng.choice(choices)

    def into(self, extents: Extents, domain: Extents) -> IndexingMap:
        """A map from a domain into an array: permuted, broadcast, flipped, shifted or strided.

        Where no dim fits an axis, one element of it is read; an axis without elements can be read
        only if the domain has no points, and then by anything.
        """
        results = tuple(self._axis_into(extent, domain) for extent in extents)
        return IndexingMap(len(domain), results)

    def fits(self, extents: Extents, domain: Extents) -> bool:
        """Whether some map from the domain stays inside an array of these extents."""
        return 0 in self.shape(domain) or 0 not in self.shape(extents)

    def _axis_into(self, extent: AffineExpr, domain: Extents) -> AffineExpr:
        rng, size = self.rng, self.size(extent)
        choices: list[AffineExpr] = []
        for dim, dim_extent in enumerate(domain):
            d, length = AffineExpr.dim(dim), self.size(dim_extent)
            if length <= size:
                choices += [d] * (6 if dim_extent == extent else 2)
                choices.append(dim_extent - 1 - d)
            if 0 < length < size:
                choices += [d + 1, extent - 1 - d]
            if length > 0 and 2 * (length - 1) < size:
                choices.append(2 * d)
            if length > 0 and (length - 1) // 2 < size and rng.random() < 0.3:
                choices.append(d.floordiv(2))
        if size > 0 and (not choices or rng.random() < 0.1):
            choices = [AffineExpr.const(0), extent - 1]
        return rng.choice(choices) if choices else AffineExpr.const(0)
