"""Indexing maps: from a point of the iteration domain to an element of an operand.

Written as in MLIR, `(d0, d1) -> (d1, d0 + 1)`. Symbols are global to the graph and are not listed.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence

from fusejit.dataclass import dataclass
from fusejit.errors import ParseError
from fusejit.ir.affine import AffineExpr, Atom, Dim, FloorDiv, Mod
from fusejit.ir.affine_parser import parse_affine_expr


@dataclass(frozen=True, slots=True)
class IndexingMap:
    """``(d0, .., d<num_dims-1>) -> results``: one affine expression per axis of the operand."""

    num_dims: int
    results: tuple[AffineExpr, ...]

    # -- construction ---------------------------------------------------------------------------
    @staticmethod
    @functools.cache
    def identity(num_dims: int) -> IndexingMap:
        """``(d0, d1) -> (d0, d1)``."""
        return IndexingMap(num_dims, tuple(AffineExpr.dim(i) for i in range(num_dims)))

    @staticmethod
    def permutation(order: Sequence[int]) -> IndexingMap:
        """``permutation([1, 0])`` is ``(d0, d1) -> (d1, d0)``."""
        return IndexingMap(len(order), tuple(AffineExpr.dim(i) for i in order))

    @staticmethod
    def select(num_dims: int, dims: Iterable[int]) -> IndexingMap:
        """``select(3, [0, 2])`` is ``(d0, d1, d2) -> (d0, d2)``."""
        return IndexingMap(num_dims, tuple(AffineExpr.dim(i) for i in dims))

    @staticmethod
    def scalar(num_dims: int) -> IndexingMap:
        """``(d0, d1) -> ()``, the map of a rank-0 operand."""
        return IndexingMap(num_dims, ())

    # -- queries --------------------------------------------------------------------------------
    @property
    def rank(self) -> int:
        """The number of results: the rank of the operand."""
        return len(self.results)

    @property
    def is_identity(self) -> bool:
        """``(d0, d1) -> (d0, d1)``."""
        return self == IndexingMap.identity(self.num_dims)

    @property
    def is_projected_permutation(self) -> bool:
        """Each result is a dim, none twice: ``(d0, d1, d2) -> (d2, d0)``."""
        dims = [r.as_dim() for r in self.results]
        return None not in dims and len(set(dims)) == len(dims)

    @property
    def is_permutation(self) -> bool:
        """Each dim is exactly one result: ``(d0, d1) -> (d1, d0)``."""
        return self.rank == self.num_dims and self.is_projected_permutation

    @property
    def is_padded_permutation(self) -> bool:
        """A permutation, zeros left out: ``(d0, d1) -> (d1, 0, d0)``.

        It writes each element once, and every one if the axes at zeros are of length 1.
        """
        rest = tuple(r for r in self.results if r.as_constant() != 0)
        return IndexingMap(self.num_dims, rest).is_permutation

    def dims(self) -> frozenset[int]:
        """The dims that occur in some result."""
        return frozenset().union(*(r.dims() for r in self.results))

    def symbols(self) -> frozenset[str]:
        """The symbols that occur in some result."""
        return frozenset().union(*(r.symbols() for r in self.results))

    def lost_dims(self, domain: Sequence[AffineExpr]) -> tuple[int, ...]:
        """The dims that an element does not tell: along them, elements are met again.

        ``(d0, d1) -> (d0)`` loses d1, a window ``(d0, d1) -> (d0 + d1)`` too, ``(d0) -> (d0
        floordiv 2)`` loses d0 unless ``d0 mod 2`` stands beside it. A dim of extent 1 is not lost.
        In doubt a dim counts as lost: without lost dims the map is one to one on ``domain``.
        """
        told = {d for d, extent in enumerate(domain) if extent.as_constant() == 1}
        lost = set(range(self.num_dims)) - self.dims() - told
        if all(r.is_linear and len(r.dims()) <= 1 for r in self.results):
            return tuple(sorted(lost))
        sums = list(self.results)
        while True:
            sums += _numerators(sums, told | lost)
            found = next((f for s in sums if (f := _told_by(s, told | lost, domain))), frozenset())
            told |= found
            if found:
                continue
            # A sum of several dims, no matter which of them: one is told once the others are given.
            unclear = next((u for s in sums if len(u := _plain_dims(s, told | lost)) > 1), None)
            if unclear is None:
                return tuple(d for d in range(self.num_dims) if d not in told)
            lost |= set(unclear[1:])

    # -- algebra --------------------------------------------------------------------------------
    def compose(self, inner: IndexingMap) -> IndexingMap:
        """``self . inner``: first ``inner``, then ``self``.

        ``(d0, d1) -> (d1, d0)`` composed with ``(d0) -> (d0, d0 + 1)`` is ``(d0) -> (d0 + 1, d0)``.
        """
        return _composed(self, inner)

    def inverse(self) -> IndexingMap:
        """The inverse of a permutation: ``(d0, d1, d2) -> (d1, d2, d0)`` gives ``(d2, d0, d1)``.

        An axis that is always at 0 tells nothing: ``(d0) -> (d0, 0)`` gives ``(d0, d1) -> (d0)``.
        """
        return _inverse(self)

    def substitute_symbols(self, symbols: Mapping[str, AffineExpr]) -> IndexingMap:
        """The map with symbols replaced."""
        return IndexingMap(
            self.num_dims, tuple(r.substitute(symbols=symbols) for r in self.results)
        )

    def over(
        self, num_dims: int, dims: Sequence[AffineExpr] | Mapping[int, AffineExpr]
    ) -> IndexingMap:
        """The map from other dims; ``dims`` has the old ones as expressions of these."""
        return IndexingMap(num_dims, tuple(r.substitute(dims=dims) for r in self.results))

    def evaluate(
        self, dims: Sequence[int], symbols: Mapping[str, int] | None = None
    ) -> tuple[int, ...]:
        """The element that belongs to a point of the domain."""
        return tuple(r.evaluate(dims, symbols) for r in self.results)

    # -- printing -------------------------------------------------------------------------------
    def __str__(self) -> str:
        dims = ", ".join(f"d{i}" for i in range(self.num_dims))
        return f"({dims}) -> ({', '.join(map(str, self.results))})"

    def __repr__(self) -> str:
        return f"IndexingMap({self})"


# Fusion asks for the same maps again and again.
@functools.lru_cache(maxsize=4096)
def _composed(outer: IndexingMap, inner: IndexingMap) -> IndexingMap:
    if outer.num_dims != inner.rank:
        raise ValueError(f"cannot compose {outer} with {inner}: {outer.num_dims} != {inner.rank}")
    return outer.over(inner.num_dims, inner.results)


@functools.lru_cache(maxsize=4096)
def _inverse(map: IndexingMap) -> IndexingMap:
    if not map.is_padded_permutation:
        raise ValueError(f"not a permutation: {map}")
    where = {r.as_dim(): i for i, r in enumerate(map.results)}
    return IndexingMap.select(map.rank, [where[d] for d in range(map.num_dims)])


def _plain_dims(expr: AffineExpr, known: set[int]) -> list[int]:
    """The unknown dims of a sum that stand in it by themselves, the one with large steps first."""
    terms = [(abs(c), a.index) for a, c in expr.terms if isinstance(a, Dim)]
    return [d for _, d in sorted(terms, key=lambda t: (-t[0], t[1])) if d not in known]


def _told_by(expr: AffineExpr, known: set[int], domain: Sequence[AffineExpr]) -> frozenset[int]:
    """The unknown dims that can be read off a sum: one alone, or digits as in ``4 * d0 + d1``."""
    unknown = _plain_dims(expr, known)
    if not unknown or expr.dims() - known != set(unknown):
        return frozenset()
    if any(expr.dims() & set(_inner(a).dims()) - known for a, _ in expr.terms):
        return frozenset()
    reach = 0  # the largest number that the digits so far add up to
    for dim in reversed(unknown):
        step, extent = abs(expr.coefficient(Dim(dim))), domain[dim].as_constant()
        if step <= reach:
            return frozenset()
        if extent is None and dim != unknown[0]:
            return frozenset()
        reach += step * max(0, (extent or 1) - 1)
    return frozenset(unknown)


def _inner(atom: Atom) -> AffineExpr:
    """What is divided, or nothing."""
    return atom.numerator if isinstance(atom, FloorDiv | Mod) else AffineExpr.const(0)


def _numerators(sums: Sequence[AffineExpr], known: set[int]) -> list[AffineExpr]:
    """What quotient and remainder tell together, if both are known: ``d0 floordiv 4, d0 mod 4``."""
    atoms = {
        unknown[0]
        for s in sums
        if len(unknown := [a for a, _ in s.terms if set(AffineExpr(((a, 1),), 0).dims()) - known])
        == 1
    }
    return [
        a.numerator
        for a in sorted(atoms, key=str)
        if isinstance(a, FloorDiv)
        and Mod(a.numerator, a.denominator) in atoms
        and a.numerator not in sums
    ]


def parse_indexing_map(text: str) -> IndexingMap:
    """Read what ``str`` of an `IndexingMap` prints.

    >>> print(parse_indexing_map("(d0, d1) -> (d1, 2 * d0)"))
    (d0, d1) -> (d1, 2 * d0)
    """
    left, arrow, right = text.partition("->")
    left, right = left.strip(), right.strip()
    if not arrow or left[:1] + left[-1:] != "()" or right[:1] + right[-1:] != "()":
        raise ParseError(f"not an indexing map: {text!r}")
    dims = [d.strip() for d in left[1:-1].split(",") if d.strip()]
    if dims != [f"d{i}" for i in range(len(dims))]:
        raise ParseError(f"the dims of an indexing map are d0, d1, ... in order: {text!r}")
    results = tuple(parse_affine_expr(part) for part in split_top_level(right[1:-1]))
    return IndexingMap(len(dims), results)


def split_top_level(text: str) -> list[str]:
    """Split at commas that stand outside all brackets; empty text gives no parts."""
    parts: list[str] = []
    depth = start = 0
    for at, character in enumerate(text):
        if character in "([{<":
            depth += 1
        elif character in ")]}" or (character == ">" and text[at - 1 : at] != "-"):
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    last = text[start:].strip()
    return [*parts, last] if last or parts else []
