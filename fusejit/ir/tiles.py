"""Tiles: what a loop knows of the tiles it goes over, and what an op keeps in registers."""

from __future__ import annotations

from fusejit.dataclass import dataclass
from fusejit.ir.affine import AffineExpr


@dataclass(frozen=True, slots=True)
class LoopTile:
    """A symbol for the length of a tile: at most ``largest``; in sum over the loop ``extent``."""

    length: str
    extent: AffineExpr
    largest: AffineExpr

    def __str__(self) -> str:
        return f"{self.length} max {self.largest} of {self.extent}"


@dataclass(frozen=True, slots=True)
class RegisterTile:
    """Points whose partial results stay in registers: terms are combined one after the other.

    ``sizes`` has an extent for each dim, or None for those that are not part of the tile;
    ``vector_dim`` is the one along which a register holds neighbours.
    """

    sizes: tuple[int | None, ...]
    vector_dim: int

    def __str__(self) -> str:
        words = ["_" if n is None else str(n) for n in self.sizes]
        words[self.vector_dim] += " vector"
        return f"registers ({', '.join(words)})"
