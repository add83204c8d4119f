"""Equal symbols and quotients: what a decision ``a == b`` replaces from then on.

``s1 == s0`` replaces the symbol ``s1``, ``(s0 + 1) floordiv 2 == 1`` the whole quotient. An
equality in which nothing stands alone (``2 * s0 == 3 * s1``) is kept as it is and recognised where
just that combination occurs.
"""

from __future__ import annotations

import math

from fusejit.ir.affine import AffineExpr, Atom, FloorDiv, Mod, Sym

_MAX_ROUNDS = 64


class Equalities:
    """A set of equalities between affine expressions of symbols."""

    def __init__(self) -> None:
        self._symbols: dict[str, AffineExpr] = {}
        self._quotients: dict[Atom, AffineExpr] = {}
        self._combinations: list[AffineExpr] = []

    def __bool__(self) -> bool:
        return bool(self._symbols or self._quotients or self._combinations)

    def canonical(self, expr: AffineExpr) -> AffineExpr:
        """The expression with everything replaced that is known to be equal to something else."""
        if not self:
            return expr
        for _ in range(_MAX_ROUNDS):  # equal after each; rules that lead in a circle must not last
            before = expr
            if self._symbols and any(s in self._symbols for s in expr.symbols()):
                expr = expr.substitute(symbols=self._symbols)
            if self._quotients and not expr.is_linear:
                expr = expr.replace_atoms(self._quotients)
            if expr == before:
                break
        for zero in self._combinations:
            if expr.terms == zero.terms:
                return AffineExpr.const(expr.constant - zero.constant)
            if expr.terms == (-zero).terms:
                return AffineExpr.const(expr.constant + zero.constant)
        return expr

    def add(self, zero: AffineExpr) -> list[tuple[Atom, AffineExpr]]:
        """Note that ``zero == 0``; returns what is replaced from now on, and by what."""
        replaced: list[tuple[Atom, AffineExpr]] = []
        pending = [zero]
        while pending:
            zero = _reduced(self.canonical(pending.pop()))
            if zero.is_constant:
                continue
            chosen = _replaceable(zero)
            if chosen is None:
                self._combinations.append(zero)
                continue
            atom, value = chosen
            replaced.append(chosen)
            if isinstance(atom, Sym):
                self._symbols[atom.name] = value
            else:
                self._quotients[atom] = value
            # older equalities may name what has just been replaced
            quotients = list(self._quotients.items())
            for key, old in quotients:
                expr = AffineExpr(((key, 1),), 0)
                del self._quotients[key]
                new, value = self.canonical(expr), self.canonical(old)
                if new == expr and not _occurs(key, value):
                    self._quotients[key] = value
                else:
                    pending.append(new - value)
            pending += self._combinations
            self._combinations = []
        return replaced


def _reduced(zero: AffineExpr) -> AffineExpr:
    """Divided by the greatest common divisor: ``2 * s0 - 2`` is ``s0 - 1``."""
    factor = math.gcd(zero.constant, *(c for _, c in zero.terms))
    if factor <= 1:
        return zero
    return AffineExpr(tuple((a, c // factor) for a, c in zero.terms), zero.constant // factor)


def _replaceable(zero: AffineExpr) -> tuple[Atom, AffineExpr] | None:
    """An atom that ``zero == 0`` determines, the newest symbol if it can be, and its value."""
    for kind in (Sym, FloorDiv | Mod):
        for atom, coefficient in reversed(zero.terms):
            if not isinstance(atom, kind) or abs(coefficient) != 1:
                continue
            rest = zero - AffineExpr(((atom, coefficient),), 0)
            if not _occurs(atom, rest):
                return atom, rest * -coefficient
    return None


def _occurs(atom: Atom, expr: AffineExpr) -> bool:
    if isinstance(atom, Sym):
        return atom.name in expr.symbols()
    return any(
        a == atom or (isinstance(a, FloorDiv | Mod) and _occurs(atom, a.numerator))
        for a, _ in expr.terms
    )
