"""Nests of a register tile: partial results of a few points stay in vector registers.

For a tile of 2 rows and 16 columns of a product, where the extents are 2 and 16::

    acc = scratch(32, f32)                       # on the stack, which LLVM turns into registers
    fill(acc, 0, 32, 0.0)
    for k in range(n):
        for j in range(16):                      # one vector
            acc[j]      = acc[j]      + a[0, k] * b[k, j]
            acc[16 + j] = acc[16 + j] + a[1, k] * b[k, j]
    for j in range(16):
        out[0, j] = acc[j]
        out[1, j] = acc[16 + j]

Tiles at the ends have half as many columns or rows, or are computed row by row, or by the nest for
any extents. Terms are combined one after the other, not in the order of
`fusejit.ir.interpreter.summation`. An op with sequential dims, which are in order already, begins
with its start instead of the identity.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from math import prod

from fusejit.codegen.loop_nests.accumulators import (
    Accumulator,
    filled,
    reduction_point,
    write_totals,
)
from fusejit.codegen.loop_nests.loop_nest import LoopDim, LoopNest, Reference, place_by_depth, wrap
from fusejit.dataclass import replace
from fusejit.ir.loops.index_math import both, equal, operand
from fusejit.ir.loops.nodes import Element, Expr, For, If, Let, Number, Scratch, Stmt, StoreElement
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.types import IteratorType

REGISTER_BYTES = 64

LANE = "lane"
"""The variable of the loop over the numbers of one vector."""


def register_tile(
    nest: LoopNest, accs: Sequence[Accumulator], others: Sequence[Stmt]
) -> list[Stmt]:
    """Loops for tiles of these extents, half the width, half the rows, or one row; or others."""
    tile = nest.op.register_tile
    assert tile is not None
    sizes = {f"d{d}": n for d, n in enumerate(tile.sizes) if n is not None}
    vector_dim = f"d{tile.vector_dim}"
    width = sizes[vector_dim]
    forms = [sizes]
    if width * _itemsize(accs) > REGISTER_BYTES and width % 2 == 0:
        forms.append({**sizes, vector_dim: width // 2})
    rows = {var: n for var, n in sizes.items() if var != vector_dim}
    if len(rows) == 1 and min(rows.values()) > 2:
        forms.append({var: n if var == vector_dim else n // 2 for var, n in sizes.items()})
    if rows:
        forms.append({vector_dim: width})
    statements = [*others]
    for form in reversed(forms):
        tests: list[Expr] = [
            equal(loop.extent, form[loop.var])
            for loop in nest.loops
            if loop.var in form and loop.extent != Polynomial.const(form[loop.var])
        ]
        made = _Tile(nest, accs, form, vector_dim).statements()
        if tests:
            condition = both(*tests) if len(tests) > 1 else tests[0]
            statements = [If(condition, made, statements)]
        else:
            statements = made
    return statements


def _itemsize(accs: Sequence[Accumulator]) -> int:
    return max(acc.dtype.itemsize for acc in accs)


class _Tile:
    """One nest: the points of the tile, and the vectors into which they are divided."""

    def __init__(
        self,
        nest: LoopNest,
        accs: Sequence[Accumulator],
        sizes: Mapping[str, int],
        vector_dim: str,
    ) -> None:
        self.nest = nest
        self.accs = accs
        self.rows = [(var, n) for var, n in sizes.items() if var != vector_dim]
        self.vector_dim = vector_dim
        self.extent = sizes[vector_dim]
        self.in_order = IteratorType.SEQUENTIAL in nest.op.iterators
        itemsize = _itemsize(accs)
        self.lanes = 1
        while self.lanes * itemsize < REGISTER_BYTES and self.extent % (2 * self.lanes) == 0:
            self.lanes *= 2

    def statements(self) -> list[Stmt]:
        """The whole nest."""
        iterators = enumerate(self.nest.op.iterators)
        inner_vars = {f"d{d}" for d, i in iterators if i is not IteratorType.PARALLEL}
        inside = {*inner_vars, self.vector_dim, *(var for var, _ in self.rows)}
        outer = [p for p in self.nest.loops if p.var not in inside]
        reductions = [p for p in self.nest.loops if p.var in inner_vars]
        num_points = prod([self.extent, *(size for _, size in self.rows)])
        start: list[Stmt] = []
        for acc in self.accs:
            count = operand(num_points)
            start.append(Scratch(self._pointer(acc), count, acc.dtype, on_stack=True))
            if acc.start is None or not self.in_order:
                first = Number(0, acc.dtype) if self.in_order else acc.identity
                start.append(filled(self._pointer(acc), num_points, first))
        vectors = range(0, self.extent, self.lanes)
        starts = [s for at in vectors for s in self._starts(at)]
        steps = [s for at in vectors for s in self._vector(at)]
        ends = [s for at in vectors for s in self._totals(at)]
        lets = [s for s in steps if isinstance(s, Let)]
        inner = wrap(reductions, [*lets, *(s for s in steps if isinstance(s, For))])
        inner = [*starts, *inner] if self.in_order else [*inner, *starts]
        return wrap(outer, [*start, *inner, *ends])

    @staticmethod
    def _pointer(acc: Accumulator) -> str:
        return f"registers{acc.suffix}"

    def _points(self, at: int) -> Iterator[tuple[dict[str, Polynomial], Polynomial]]:
        """For each row: what the loop names are, and where its numbers are among the partials."""
        lane = Polynomial.name(LANE) + at
        for number, point in enumerate(itertools.product(*(range(n) for _, n in self.rows))):
            here = {var: Polynomial.const(k) for (var, _), k in zip(self.rows, point, strict=True)}
            yield {**here, self.vector_dim: lane}, lane + number * self.extent

    def _vector(self, at: int) -> list[Stmt]:
        """One step of the reduction for all rows of the vector that begins at ``at``."""
        lets: list[Let] = []
        stores: list[Stmt] = []
        for number, (here, place) in enumerate(self._points(at)):
            so_far = [Element(self._pointer(acc), place) for acc in self.accs]
            prefix, inits = f"{self.nest.prefix}r{at}_{number}_", so_far if self.in_order else None
            made, results = reduction_point(self.nest, here, prefix, inits)
            lets += made
            for acc, old, new in zip(self.accs, so_far, results, strict=True):
                value = new if self.in_order else acc.combine(old, new)
                stores.append(StoreElement(old.pointer, old.offset, value))
        return self._for(lets, stores)

    def _starts(self, at: int) -> list[Stmt]:
        """Starts are what sums in order begin with; other totals are combined with them."""
        stores: list[Stmt] = []
        for here, place in self._points(at):
            for acc in self.accs:
                if acc.start is not None:
                    pointer, value = self._pointer(acc), _moved(acc.start, here).load()
                    total = value if self.in_order else acc.combine(value, Element(pointer, place))
                    stores.append(StoreElement(pointer, place, total))
        return self._for([], stores) if stores else []

    def _totals(self, at: int) -> list[Stmt]:
        """The stores of each row in a loop of its own: rows need no check for overlap then."""
        loops: list[Stmt] = []
        accs = [replace(acc, start=None) for acc in self.accs]
        for here, place in self._points(at):
            values: list[Expr] = [Element(self._pointer(acc), place) for acc in accs]
            outputs = [_moved(r, here) for r in self.nest.outputs]
            if self.in_order:
                stores = [r.store(value) for r, value in zip(outputs, values, strict=True)]
            else:
                stores = write_totals(replace(self.nest, outputs=outputs), accs, values)
            loops += self._for([], stores)
        return loops

    def _for(self, lets: Sequence[Let], stores: Sequence[Stmt]) -> list[Stmt]:
        loop = LoopDim(LANE, Polynomial.const(self.lanes), False)
        placed = place_by_depth([loop], lets, stores)
        return [
            replace(s, lanes=self.lanes) if isinstance(s, For) and s.var == LANE else s
            for s in placed
        ]


def _moved(reference: Reference, here: Mapping[str, Polynomial]) -> Reference:
    for var, value in here.items():
        reference = reference.substitute(var, value)
    return reference
