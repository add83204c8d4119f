"""`LocalSymbols`: integers that exist in one block: induction variables, bound numbers."""

from __future__ import annotations

from typing import Any, Protocol

from fusejit.ir.affine import AffineExpr
from fusejit.ir.ops import Block
from fusejit.tracer.builder.shapes import Decisions


class OpenBlocks(Protocol):
    """The open blocks of a trace, and the facts about its symbols."""

    decisions: Decisions

    @property
    def block(self) -> Block:
        """The block to which ops are appended."""

    def is_open(self, block: Block) -> bool:
        """Whether what a block defines is visible here."""


class LocalSymbols:
    """Those of one trace, and the blocks in which they exist."""

    def __init__(self, trace: OpenBlocks) -> None:
        self._trace = trace
        self._count = 0
        self._homes: dict[str, Block] = {}
        self._bound: dict[tuple[Any, ...], AffineExpr] = {}

    def add(self, hint: int, low: AffineExpr | None, high: AffineExpr | None) -> str:
        """A symbol of the current block: an induction variable, a bound integer."""
        name = f"at{self._count}"  # not i8, i16: those are dtypes in generated code
        self._count += 1
        self._homes[name] = self._trace.block
        self._trace.decisions.add_local(name, hint, low, high)
        return name

    def move(self, name: str, low: AffineExpr, high: AffineExpr) -> None:
        """A symbol of a block that has ended becomes one of the current block."""
        self._homes[name] = self._trace.block
        self._trace.decisions.add_local(name, 0, low, high)

    def forget(self, block: Block) -> None:
        """A block has ended, which may not run: what its symbols say of others need not hold."""
        for name, home in self._homes.items():
            if home is block:
                self._trace.decisions.forget_local(name)

    def is_visible(self, expr: AffineExpr) -> bool:
        """Whether all symbols of an expression exist in the current block."""
        homes = [self._homes.get(s) for s in expr.symbols()]
        return all(home is None or self._trace.is_open(home) for home in homes)

    def is_visible_around(self, expr: AffineExpr) -> bool:
        """Whether all symbols of an expression exist around the current block."""
        inside = self._trace.block
        return self.is_visible(expr) and all(
            self._homes.get(s) is not inside for s in expr.symbols()
        )

    def find_bound(self, key: tuple[Any, ...]) -> AffineExpr | None:
        """The symbol that an integer of the kernel has been bound to, if it exists here."""
        known = self._bound.get(key)
        return known if known is not None and self.is_visible(known) else None

    def note_bound(self, key: tuple[Any, ...], symbol: AffineExpr) -> None:
        """Remember what an integer of the kernel is bound to."""
        self._bound[key] = symbol

    def is_of_this_block(self, name: str) -> bool:
        """Whether a symbol exists in the current block and not further out."""
        return self._homes.get(name) is self._trace.block
