"""Affine expressions of symbols as host expressions, which the launcher computes."""

from __future__ import annotations

from fusejit.ir.affine import AffineExpr, FloorDiv, Mod, Sym
from fusejit.ir.host import HostExpr


def host_of(expr: AffineExpr) -> HostExpr:
    """An affine expression of symbols as a host expression over their names."""
    total: HostExpr | None = None
    for atom, coefficient in expr.terms:
        if isinstance(atom, Sym):
            part = HostExpr.named(atom.name)
        elif isinstance(atom, FloorDiv | Mod):
            den = atom.denominator
            divisor = HostExpr.named(den.name) if isinstance(den, Sym) else HostExpr.const(den)
            op = "floordiv" if isinstance(atom, FloorDiv) else "mod"
            part = HostExpr(op, (host_of(atom.numerator), divisor))
        else:
            raise ValueError(f"{expr} depends on the iteration domain")
        size = abs(coefficient)
        if size != 1:
            part = HostExpr("mul", (part, HostExpr.const(size)))
        if total is None:
            total = part if coefficient > 0 else HostExpr("neg", (part,))
        else:
            total = HostExpr("add" if coefficient > 0 else "sub", (total, part))
    if total is None:
        return HostExpr.const(expr.constant)
    if expr.constant:
        op = "add" if expr.constant > 0 else "sub"
        total = HostExpr(op, (total, HostExpr.const(abs(expr.constant))))
    return total


def sides_of(expr: AffineExpr) -> tuple[HostExpr, HostExpr]:
    """``expr`` compared with 0 as two sides without negative terms: ``s0 - 3`` is s0 and 3."""
    if expr.constant <= 0 and not any(c > 0 for _, c in expr.terms):
        return host_of(expr), HostExpr.const(0)
    left = AffineExpr(tuple(t for t in expr.terms if t[1] > 0), max(expr.constant, 0))
    right = left - expr
    return host_of(left), host_of(right)
