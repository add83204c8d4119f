"""What is known of the symbols of a graph: sizes, and what its guards ask of them."""

from __future__ import annotations

from fusejit.ir.affine import AffineExpr, FloorDiv, Mod, Sym
from fusejit.ir.graph import Graph
from fusejit.ir.host import HostExpr

_LIMIT = 24  # facts that are combined in pairs


class SymbolFacts:
    """Proves ``expression >= 0`` from sizes, guards, and sums of two guards."""

    def __init__(self, graph: Graph) -> None:
        self.low: dict[str, int] = {}
        self.known: list[AffineExpr] = []
        for symbol in graph.symbols:
            if symbol.expr.op == "size":
                self.low[symbol.name] = 0
        for guard in graph.guards:
            self._learn(guard.expr, guard.expected)
        for symbol in graph.symbols:
            self._learn_remainder(symbol.name, symbol.expr)

    def _learn(self, expr: HostExpr, expected: bool) -> None:
        if expr.op not in ("ge", "gt", "le", "lt", "eq"):
            return
        sides = [affine_of(o) for o in expr.operands]
        if sides[0] is None or sides[1] is None:
            return
        difference = sides[0] - sides[1]
        if expr.op == "eq":
            if expected:
                self._add(difference)
                self._add(-difference)
            elif self.is_nonnegative(difference):
                self._add(difference - 1)
            return
        is_smaller, is_strict = expr.op in ("le", "lt"), expr.op in ("gt", "lt")
        if is_smaller == expected:
            difference = -difference
        self._add(difference - 1 if is_strict == expected else difference)

    def _add(self, fact: AffineExpr) -> None:
        """Note ``fact >= 0``."""
        if len(fact.terms) == 1:
            atom, coefficient = fact.terms[0]
            if isinstance(atom, Sym) and coefficient == 1:
                self.low[atom.name] = max(self.low.get(atom.name, -fact.constant), -fact.constant)
                return
        self.known.append(fact)

    def _learn_remainder(self, name: str, expr: HostExpr) -> None:
        """``0 <= a % n < n`` for a positive ``n``."""
        if expr.op != "mod":
            return
        divisor = affine_of(expr.operands[1])
        if divisor is not None and self.is_nonnegative(divisor - 1):
            symbol = AffineExpr.symbol(name)
            self.low[name] = 0
            self.known.append(divisor - 1 - symbol)

    def is_nonnegative(self, expr: AffineExpr) -> bool:
        """Whether ``expr >= 0`` follows."""
        if self._is_obvious(expr):
            return True
        relevant = [f for f in self.known if f.symbols() & expr.symbols()][:_LIMIT]
        if any(self._is_obvious(expr - f) for f in relevant):
            return True
        return any(
            self._is_obvious(expr - f - g) for at, f in enumerate(relevant) for g in relevant[at:]
        )

    def is_at_most(self, left: AffineExpr, right: AffineExpr) -> bool:
        """Whether ``left <= right`` follows."""
        return self.is_nonnegative(right - left)

    def _is_obvious(self, expr: AffineExpr) -> bool:
        """From the lower bounds of symbols alone."""
        low = self._low(expr)
        return low is not None and low >= 0

    def _low(self, expr: AffineExpr) -> int | None:
        """A lower bound, if there is one."""
        total = expr.constant
        for atom, coefficient in expr.terms:
            if isinstance(atom, Mod) and isinstance(atom.denominator, int):
                bound: int | None = 0 if coefficient > 0 else atom.denominator - 1
                bound = bound if atom.denominator > 0 else None
            elif coefficient < 0:
                bound = None
            elif isinstance(atom, Sym):
                bound = self.low.get(atom.name)
            elif isinstance(atom, FloorDiv) and isinstance(atom.denominator, int):
                below = self._low(atom.numerator)
                bound = None if below is None or atom.denominator < 0 else below // atom.denominator
            else:
                bound = None
            if bound is None:
                return None
            total += coefficient * bound
        return total


def affine_of(expr: HostExpr) -> AffineExpr | None:
    """A host expression as an affine one; None if it is none."""
    if expr.op == "name":
        return AffineExpr.symbol(expr.attr)
    if expr.op == "const":
        return AffineExpr.const(expr.attr) if type(expr.attr) is int else None
    parts = [affine_of(o) for o in expr.operands]
    known = [p for p in parts if p is not None]
    if not known or len(known) < len(parts):
        return None
    if expr.op == "neg":
        return -known[0]
    if expr.op == "add":
        return known[0] + known[1]
    if expr.op == "sub":
        return known[0] - known[1]
    if expr.op == "mul":
        for one, other in (known, known[::-1]):
            if one.is_constant:
                return other * one.constant
    if expr.op in ("floordiv", "mod") and known[1].is_constant and known[1].constant > 0:
        divisor = known[1].constant
        return known[0].floordiv(divisor) if expr.op == "floordiv" else known[0].mod(divisor)
    return None
