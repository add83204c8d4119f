"""Integer polynomials over names: extents, strides and element offsets of generated code.

An offset is a sum of subscripts times strides, and strides of dense arrays are products of extents,
so affine expressions are not closed under what addressing needs; polynomials are. Because equal
polynomials are equal objects, "may these two loops be one?" is an equality test.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping

from fusejit.dataclass import dataclass
from fusejit.ir.affine import AffineExpr, Dim, FloorDiv, Sym


@dataclass(frozen=True, slots=True)
class Quotient:
    """``numerator // denominator``, or ``numerator % denominator``: a factor of polynomials."""

    numerator: Polynomial
    denominator: Polynomial
    is_remainder: bool = False

    def __str__(self) -> str:
        divisor = f"{self.denominator}"
        if not self.denominator.is_factor:
            divisor = f"({divisor})"
        return f"(({self.numerator}) {'%' if self.is_remainder else '//'} {divisor})"

    def names(self) -> frozenset[str]:
        """The variables of both sides."""
        return self.numerator.names() | self.denominator.names()

    def __lt__(self, other: Factor) -> bool:
        """The order of factors in printed terms."""
        return str(self) < str(other)

    def __gt__(self, other: Factor) -> bool:
        return str(self) > str(other)


Factor = str | Quotient
"""A variable, or a quotient."""


@dataclass(frozen=True, slots=True)
class Polynomial:
    """``sum(coefficient * product(factors))``, of variables and quotients.

    >>> i, n = Polynomial.name("i"), Polynomial.name("n")
    >>> print((i + 1) * n)
    i * n + n
    >>> ((i + 1) * n).coefficient("i") == n
    True
    """

    terms: tuple[tuple[tuple[Factor, ...], int], ...]

    @staticmethod
    def const(value: int) -> Polynomial:
        """The integer ``value``."""
        return Polynomial((((), value),) if value else ())

    @staticmethod
    def name(name: str) -> Polynomial:
        """The variable ``name``."""
        return Polynomial((((name,), 1),))

    @staticmethod
    def quotient(
        numerator: Polynomial, denominator: Polynomial | int, *, remainder: bool = False
    ) -> Polynomial:
        """``numerator // denominator``, or the remainder."""
        divisor = Polynomial.of(denominator)
        number, by = numerator.as_constant(), divisor.as_constant()
        if number is not None and by:
            return Polynomial.const(number % by if remainder else number // by)
        return Polynomial((((Quotient(numerator, divisor, remainder),), 1),))

    @staticmethod
    def of(value: Polynomial | int) -> Polynomial:
        """``value`` itself, or the constant it is."""
        return value if isinstance(value, Polynomial) else Polynomial.const(value)

    @staticmethod
    def _from(terms: Mapping[tuple[Factor, ...], int]) -> Polynomial:
        kept = [(names, c) for names, c in terms.items() if c]
        return Polynomial(tuple(sorted(kept, key=lambda t: (-len(t[0]), t[0]))))

    @staticmethod
    def from_affine(expr: AffineExpr, dims: Mapping[int, Polynomial] | None = None) -> Polynomial:
        """An affine expression with its dims replaced."""
        dims = dims or {}
        total = Polynomial.const(expr.constant)
        for atom, coefficient in expr.terms:
            if isinstance(atom, Dim):
                part = dims[atom.index]
            elif isinstance(atom, Sym):
                part = Polynomial.name(atom.name)
            else:
                numerator = Polynomial.from_affine(atom.numerator, dims)
                by = atom.denominator
                divisor = Polynomial.name(by.name) if isinstance(by, Sym) else Polynomial.const(by)
                is_remainder = not isinstance(atom, FloorDiv)
                part = Polynomial.quotient(numerator, divisor, remainder=is_remainder)
            total = total + part * coefficient
        return total

    def __add__(self, other: Polynomial | int) -> Polynomial:
        if isinstance(other, int):
            return self._plus(other) if other else self
        terms = dict(self.terms)
        for names, coefficient in other.terms:
            terms[names] = terms.get(names, 0) + coefficient
        return Polynomial._from(terms)

    def _plus(self, number: int) -> Polynomial:
        """The sum with an integer; the constant is the last term."""
        terms = self.terms
        if terms and not terms[-1][0]:
            number += terms[-1][1]
            terms = terms[:-1]
        return Polynomial((*terms, ((), number)) if number else terms)

    __radd__ = __add__

    def __neg__(self) -> Polynomial:
        return self * -1

    def __sub__(self, other: Polynomial | int) -> Polynomial:
        return self + -other

    def __rsub__(self, other: int) -> Polynomial:
        return Polynomial.of(other) - self

    def __mul__(self, other: Polynomial | int) -> Polynomial:
        if isinstance(other, int):
            if other == 1:
                return self
            return Polynomial(tuple((n, c * other) for n, c in self.terms) if other else ())
        terms: dict[tuple[Factor, ...], int] = {}
        for left, a in self.terms:
            for right, b in other.terms:
                names = tuple(sorted(left + right))
                terms[names] = terms.get(names, 0) + a * b
        return Polynomial._from(terms)

    __rmul__ = __mul__

    @property
    def is_constant(self) -> bool:
        """Whether no name occurs."""
        return all(not names for names, _ in self.terms)

    def as_constant(self) -> int | None:
        """The integer it is, or None."""
        if not self.is_constant:
            return None
        return self.terms[0][1] if self.terms else 0

    @property
    def is_factor(self) -> bool:
        """Whether it is a variable, a quotient or an integer of at least 0 alone."""
        if len(self.terms) > 1:
            return False
        return all(c == 1 if names else c > 0 for names, c in self.terms) and all(
            len(names) <= 1 for names, _ in self.terms
        )

    def coefficient(self, name: str) -> Polynomial:
        """What ``name`` is multiplied by (the name is assumed to occur linearly)."""
        terms: dict[tuple[Factor, ...], int] = {}
        for names, c in self.terms:
            if name in names:
                rest = list(names)
                rest.remove(name)
                terms[tuple(rest)] = terms.get(tuple(rest), 0) + c
        return Polynomial._from(terms)

    def mentions(self, name: str) -> bool:
        """Whether ``name`` occurs, inside quotients too."""
        return any(name in factor_names(factor) for names, _ in self.terms for factor in names)

    def is_linear_in(self, name: str) -> bool:
        """Whether ``name`` occurs as a factor only, not inside quotients."""
        return not any(
            isinstance(factor, Quotient) and name in factor.names()
            for names, _ in self.terms
            for factor in names
        )

    def substitute(self, name: str, value: Polynomial) -> Polynomial:
        """Replace a variable, inside quotients too.

        >>> i, n = Polynomial.name("i"), Polynomial.name("n")
        >>> print((i * n + Polynomial.quotient(i, 2)).substitute("i", n + 1))
        n * n + ((n + 1) // 2) + n
        """
        total = Polynomial.const(0)
        for names, c in self.terms:
            part = Polynomial.const(c)
            for factor in names:
                if factor == name:
                    part = part * value
                elif isinstance(factor, Quotient):
                    sides = factor.numerator, factor.denominator
                    inner = [side.substitute(name, value) for side in sides]
                    part = part * Polynomial.quotient(*inner, remainder=factor.is_remainder)
                else:
                    part = part * Polynomial.name(factor)
            total = total + part
        return total

    @property
    def has_quotients(self) -> bool:
        """Whether a factor is no variable."""
        return any(isinstance(factor, Quotient) for names, _ in self.terms for factor in names)

    def names(self) -> frozenset[str]:
        """All variables, those inside quotients too."""
        factors = (factor for names, _ in self.terms for factor in names)
        return frozenset().union(*map(factor_names, factors))

    def summands(self) -> Iterator[tuple[tuple[Factor, ...], int]]:
        """The terms as they are added up, a positive one first: ``n - i``, not ``-i + n``."""
        first = next((at for at, (_, c) in enumerate(self.terms) if c > 0), 0)
        parts = (self.terms[first : first + 1], self.terms[:first], self.terms[first + 1 :])
        return itertools.chain(*parts)

    def __str__(self) -> str:
        text = ""
        for names, c in self.summands():
            size = abs(c)
            factors = ([str(size)] if size != 1 or not names else []) + list(map(str, names))
            sign = "-" if c < 0 else "+"
            body = " * ".join(factors)
            text += f" {sign} {body}" if text else ("-" if sign == "-" else "") + body
        return text or "0"


def product(factors: Iterable[Polynomial]) -> Polynomial:
    """The product of polynomials; 1 for none."""
    total = Polynomial.const(1)
    for factor in factors:
        total = total * factor
    return total


def factor_names(factor: Factor) -> frozenset[str]:
    """The variables of a factor."""
    return frozenset((factor,)) if isinstance(factor, str) else factor.names()
