"""Products of extents: one symbol for each product of unknowns, so that equal ones are equal.

Extents are affine, and ``s0 * s1`` is not. It gets a symbol of its own, computed once per call
(or in the block that knows its factors), and sums of such products are affine again:
``(s0 - 2) * s1`` is ``s2 - 2 * s1`` with ``s2 = s0 * s1``. Products are multiplied out, so two of
them that are equal as polynomials are equal as expressions.
"""

from __future__ import annotations

from collections.abc import Iterable

from fusejit.ir.affine import AffineExpr, Atom, Sym
from fusejit.ir.analysis.index_symbols import LARGEST_COEFFICIENT
from fusejit.ir.host import HostExpr
from fusejit.ir.host_affine import host_of
from fusejit.tracer.builder.shapes import MAX_SIZE
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.indexing.kernel_indices import local_product
from fusejit.tracer.program.fallback import Fallback

_Terms = dict[tuple[Atom, ...], int]


def product(trace: Trace, factors: Iterable[AffineExpr]) -> AffineExpr:
    """The product of sizes (each >= 0), with symbols for the products of unknowns in it."""
    total = product_if_small(trace, factors)
    if total is None:
        raise Fallback("a product of sizes beyond 47 bits, or with a large factor")
    return total


def product_if_small(trace: Trace, factors: Iterable[AffineExpr]) -> AffineExpr | None:
    """`product`, or None if it is too large for a kernel to compute with."""
    terms: _Terms = {(): 1}
    num_unknown = 0
    for factor in factors:
        factor = trace.decisions.canonical(factor)
        num_unknown += not factor.is_constant
        terms = _multiply(terms, _expanded(trace, factor))
    total = AffineExpr.const(terms.pop((), 0))
    if sum(map(abs, terms.values())) > LARGEST_COEFFICIENT:
        return None
    for atoms, coefficient in sorted(terms.items(), key=lambda t: tuple(map(str, t[0]))):
        monomial = _monomial(trace, atoms)
        if monomial is None:
            return None
        total = total + monomial * coefficient
    total = trace.decisions.canonical(total)
    if num_unknown > 1 and not trace.decisions.proves_nonnegative(total):
        trace.decisions.assume_nonnegative(total)
    return total


def _multiply(left: _Terms, right: _Terms) -> _Terms:
    result: _Terms = {}
    for a, x in left.items():
        for b, y in right.items():
            atoms = tuple(sorted(a + b, key=str))
            result[atoms] = result.get(atoms, 0) + x * y
    return {atoms: c for atoms, c in result.items() if c}


def _expanded(trace: Trace, expr: AffineExpr) -> _Terms:
    """An affine expression as a polynomial of atoms that are no products."""
    total: _Terms = {(): expr.constant} if expr.constant else {}
    for atom, coefficient in expr.terms:
        known = trace.products.get(atom.name) if isinstance(atom, Sym) else None
        atoms = (atom,) if known is None else known
        total[atoms] = total.get(atoms, 0) + coefficient
    return total


def _monomial(trace: Trace, atoms: tuple[Atom, ...]) -> AffineExpr | None:
    """A product of atoms: the atom itself, or the symbol of the product."""
    first, *rest = factors = [AffineExpr(((atom, 1),), 0) for atom in atoms]
    if not rest:
        return first
    if any(map(trace.decisions.is_local, factors)):
        local: AffineExpr = local_product(trace, factors)
        return _noted(trace, local, atoms)
    expr, value = host_of(first), trace.decisions.hint(first)
    low: int | None = 0 if trace.decisions.proves_nonnegative(first) else None
    for factor in rest:
        expr = HostExpr("mul", (expr, host_of(factor)))
        value *= trace.decisions.hint(factor)
        if not trace.decisions.proves_nonnegative(factor):
            low = None
    if abs(value) > MAX_SIZE:
        return None
    return _noted(trace, trace.symbol(expr, value, low), atoms)


def _noted(trace: Trace, symbol: AffineExpr, atoms: tuple[Atom, ...]) -> AffineExpr:
    name = symbol.as_symbol()
    assert name is not None
    trace.products[name] = atoms
    return symbol
