"""What MLIR says about sizes without checking it: equal axes, subscripts inside their axis.

Each becomes a guard of the graph, so that a call whose sizes break it is refused before anything
runs: MLIR itself would read and write outside its arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd

from fusejit.dataclass import dataclass, field
from fusejit.errors import UnsupportedError
from fusejit.ir.affine import AffineExpr, Dim, FloorDiv, Mod, Sym
from fusejit.ir.graph import Guard
from fusejit.ir.host import HostExpr
from fusejit.ir.source import Location


@dataclass
class Sizes:
    """Facts about sizes found while a function is read.

    ``equal`` maps the symbol of an axis to what it was found to be equal to. The function is read
    again while this grows, so that in the end equal axes have one symbol.
    """

    equal: dict[str, AffineExpr] = field(default_factory=dict)
    axes: set[str] = field(default_factory=set)  # the symbols that are sizes of arguments
    guards: list[Guard] = field(default_factory=list)
    ranges: dict[str, tuple[AffineExpr, AffineExpr]] = field(default_factory=dict)  # of loops
    grown: bool = False

    def canonical(self, name: str) -> AffineExpr:
        """What stands for a symbol."""
        expr = AffineExpr.symbol(name)
        while (symbol := expr.as_symbol()) is not None and symbol in self.equal:
            expr = self.equal[symbol]
        return expr

    def require_equal(
        self, left: AffineExpr, right: AffineExpr, what: str, location: Location
    ) -> None:
        """Two extents are equal."""
        left, right = _without_common_factor(left, right)
        if left == right:
            return
        for symbol, other in ((right.as_symbol(), left), (left.as_symbol(), right)):
            partner = other.as_symbol()
            if symbol in self.axes and (other.is_constant or partner in self.axes):
                assert symbol is not None
                if partner is not None and _number(partner) > _number(symbol):
                    symbol, other = partner, AffineExpr.symbol(symbol)
                self.equal[symbol] = other
                self.grown = True
                return
        expr = HostExpr("eq", (host(left), host(right)))
        self._guard(expr, f"{what}: {left} must be {right}", location)

    def require_inside(
        self,
        expr: AffineExpr,
        domain: Sequence[AffineExpr],
        extent: AffineExpr,
        what: str,
        location: Location,
    ) -> None:
        """A subscript stays inside its axis over the whole domain, unless the domain is empty."""
        bounds = _bounds(expr, domain)
        if bounds is None:
            return
        low, room = bounds[0], extent - 1 - bounds[1]
        zero, one = HostExpr.const(0), HostExpr.const(1)
        inside = None
        for least in map(self.least, (low, room)):
            if not (least.is_constant and least.constant >= 0):
                condition = HostExpr("ge", (host(least), zero))
                inside = condition if inside is None else HostExpr("and", (inside, condition))
        if inside is None:
            return
        used = low.symbols() | room.symbols()
        loops = [high - low + 1 for name, (low, high) in self.ranges.items() if name in used]
        for size in map(self.most, (*domain, *loops)):
            if not (size.is_constant and size.constant > 0):
                inside = HostExpr("or", (HostExpr("lt", (host(size), one)), inside))
        self._guard(inside, f"{what}: the subscript {expr} leaves its axis of {extent}", location)

    def least(self, expr: AffineExpr) -> AffineExpr:
        """The least number that an expression is in any iteration of the loops around it."""
        return self._extreme(expr, 0)

    def most(self, expr: AffineExpr) -> AffineExpr:
        """The largest one."""
        return self._extreme(expr, 1)

    def _extreme(self, expr: AffineExpr, which: int) -> AffineExpr:
        while loops := [name for name in self.ranges if name in expr.symbols()]:
            name = loops[-1]  # the innermost one, whose range may depend on the others
            found = _bounds(expr, (), {name: self.ranges[name]})
            if found is None:
                raise UnsupportedError(f"{expr} has no bounds in the loop around it")
            expr = found[which]
        return expr

    def _guard(self, expr: HostExpr, reason: str, location: Location) -> None:
        if expr.names() & {*self.ranges}:
            raise UnsupportedError(f"{reason}; it changes from one iteration of a loop to the next")
        if all(g.expr != expr for g in self.guards):
            self.guards.append(Guard(expr, True, location, reason))


def host(expr: AffineExpr) -> HostExpr:
    """An affine expression of symbols as the launcher computes it."""
    total: HostExpr | None = None
    for atom, coefficient in expr.terms:
        if isinstance(atom, FloorDiv | Mod):
            den = atom.denominator
            divisor = HostExpr.named(den.name) if isinstance(den, Sym) else HostExpr.const(den)
            name = "floordiv" if isinstance(atom, FloorDiv) else "mod"
            part = HostExpr(name, (host(atom.numerator), divisor))
        else:
            assert isinstance(atom, Sym)
            part = HostExpr.named(atom.name)
        if coefficient != 1:
            part = HostExpr("mul", (HostExpr.const(coefficient), part))
        total = part if total is None else HostExpr("add", (total, part))
    if total is None:
        return HostExpr.const(expr.constant)
    return HostExpr("add", (total, HostExpr.const(expr.constant))) if expr.constant else total


def _without_common_factor(left: AffineExpr, right: AffineExpr) -> tuple[AffineExpr, AffineExpr]:
    """Both sides of an equation divided by what divides all their terms.

    >>> n, m = AffineExpr.symbol("s0"), AffineExpr.symbol("s1")
    >>> print(*_without_common_factor(9 * n, 9 * m + 18))
    s0 s1 + 2
    """
    numbers = [c for side in (left, right) for c in (side.constant, *(c for _, c in side.terms))]
    factor = gcd(*numbers)
    return (left.floordiv(factor), right.floordiv(factor)) if factor > 1 else (left, right)


def _number(symbol: str) -> int:
    return int(symbol[1:])


def _bounds(
    expr: AffineExpr,
    domain: Sequence[AffineExpr],
    ranges: Mapping[str, tuple[AffineExpr, AffineExpr]] | None = None,
) -> tuple[AffineExpr, AffineExpr] | None:
    """The least and the largest number that an expression takes over a domain, and over loops."""
    low = high = AffineExpr.const(expr.constant)
    for atom, coefficient in expr.terms:
        if isinstance(atom, Sym):
            part = (ranges or {}).get(atom.name, (AffineExpr.symbol(atom.name),) * 2)
        elif isinstance(atom, Dim):
            part = (AffineExpr.const(0), domain[atom.index] - 1)
        else:
            inner = _bounds(atom.numerator, domain, ranges)
            den = atom.denominator
            if inner is None or isinstance(den, Sym) or den < 0:
                return None
            if isinstance(atom, FloorDiv):
                part = (inner[0].floordiv(den), inner[1].floordiv(den))
            else:
                part = (AffineExpr.const(0), AffineExpr.const(den - 1))
        first, last = part if coefficient > 0 else part[::-1]
        low, high = low + first * coefficient, high + last * coefficient
    return low, high
