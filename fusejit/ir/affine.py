"""Affine expressions over the dims of an iteration domain and the symbols of a graph.

    expr ::= expr + expr | expr - expr | integer * expr | expr floordiv den | expr mod den
           | d0 | d1 | ... | s0 | i0 | ... | integer
    den  ::= integer | symbol

An expression is kept as a sum of atoms with integer coefficients, sorted, so that two expressions
that are equal as linear forms are equal (and hash alike) as Python objects.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence

from fusejit.dataclass import dataclass, field


@dataclass(frozen=True, slots=True)
class Dim:
    """The ``index``-th dim of the iteration domain, printed ``d0``, ``d1``, ..."""

    index: int

    def __str__(self) -> str:
        return f"d{self.index}"


@dataclass(frozen=True, slots=True)
class Sym:
    """An integer that is known when the kernel runs, by its name in the graph (``s0``, ``i0``)."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class _Division:
    """A quotient or a remainder; its text is made once."""

    numerator: AffineExpr
    denominator: int | Sym
    _text: str = field(default="", init=False, repr=False, compare=False)
    word = ""

    def __str__(self) -> str:
        if not self._text:
            text = f"({self.numerator}) {self.word} {self.denominator}"
            object.__setattr__(self, "_text", text)
        return self._text


@dataclass(frozen=True, slots=True)
class FloorDiv(_Division):
    """``numerator floordiv denominator``, rounded towards minus infinity as Python's ``//``."""

    word = "floordiv"


@dataclass(frozen=True, slots=True)
class Mod(_Division):
    """``numerator mod denominator`` with the sign of the denominator as Python's ``%``."""

    word = "mod"


Atom = Dim | Sym | FloorDiv | Mod
_ATOM_RANK: dict[type, int] = {Dim: 0, Sym: 1, FloorDiv: 2, Mod: 3}


def _sort_key(term: tuple[Atom, int]) -> tuple[int, int, str]:
    atom = term[0]
    if isinstance(atom, Dim):
        return (0, atom.index, "")
    if isinstance(atom, Sym):
        return (1, 0, atom.name)
    return (_ATOM_RANK[type(atom)], 0, str(atom))


@dataclass(frozen=True, slots=True)
class AffineExpr:
    """``constant + sum(coefficient * atom)`` over dims, symbols, quotients and remainders.

    >>> d0, s0 = AffineExpr.dim(0), AffineExpr.symbol("s0")
    >>> print(2 * (d0 + s0) - d0 - 1)
    d0 + 2 * s0 - 1
    >>> (d0 + s0) - d0 == s0
    True
    """

    terms: tuple[tuple[Atom, int], ...]
    constant: int
    _hash: int | None = field(default=None, init=False, repr=False, compare=False)
    _symbols: frozenset[str] | None = field(default=None, init=False, repr=False, compare=False)
    _num_nodes: int = field(default=0, init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        """Computed once: expressions are keys of many tables."""
        if self._hash is None:
            object.__setattr__(self, "_hash", hash((self.terms, self.constant)))
        return self._hash  # type: ignore[return-value]

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        """Without the hash, which differs in each process."""
        return AffineExpr, (self.terms, self.constant)

    # -- construction ---------------------------------------------------------------------------
    @staticmethod
    def const(value: int) -> AffineExpr:
        """The integer ``value``."""
        return AffineExpr((), int(value))

    @staticmethod
    @functools.cache
    def dim(index: int) -> AffineExpr:
        """The dim ``d<index>``."""
        return AffineExpr(((Dim(index), 1),), 0)

    @staticmethod
    def symbol(name: str) -> AffineExpr:
        """The symbol called ``name``."""
        return AffineExpr(((Sym(name), 1),), 0)

    @staticmethod
    def of(value: AffineExpr | int) -> AffineExpr:
        """``value`` itself, or the constant it is."""
        return value if isinstance(value, AffineExpr) else AffineExpr.const(value)

    # -- arithmetic -----------------------------------------------------------------------------
    def __add__(self, other: AffineExpr | int) -> AffineExpr:
        other = AffineExpr.of(other)
        constant = self.constant + other.constant
        if not other.terms or not self.terms:
            return AffineExpr(self.terms or other.terms, constant)
        terms = dict(self.terms)
        for atom, coefficient in other.terms:
            terms[atom] = terms.get(atom, 0) + coefficient
        kept = [term for term in terms.items() if term[1]]
        if len(kept) > 1:
            kept.sort(key=_sort_key)
        return AffineExpr(tuple(kept), constant)

    __radd__ = __add__

    def __neg__(self) -> AffineExpr:
        return self * -1

    def __sub__(self, other: AffineExpr | int) -> AffineExpr:
        return self + -AffineExpr.of(other)

    def __rsub__(self, other: int) -> AffineExpr:
        return AffineExpr.const(other) - self

    def __mul__(self, factor: int) -> AffineExpr:
        if not factor:
            return AffineExpr.const(0)
        if factor == 1:
            return self
        return AffineExpr(tuple((a, c * factor) for a, c in self.terms), self.constant * factor)

    __rmul__ = __mul__

    def floordiv(self, denominator: int | AffineExpr) -> AffineExpr:
        """``self floordiv denominator``; parts that divide evenly leave the quotient.

        >>> print((4 * AffineExpr.dim(0) + AffineExpr.symbol("s0") - 8).floordiv(4))
        d0 + (s0) floordiv 4 - 2
        """
        den = _denominator(denominator)
        if den == 1:
            return self
        if isinstance(den, Sym):
            return _quotient(self, den)
        even = tuple((a, c // den) for a, c in self.terms if c % den == 0)
        uneven = tuple((a, c) for a, c in self.terms if c % den)
        whole, left = divmod(self.constant, den)
        if not uneven:
            return AffineExpr(even, whole)
        if left:
            return AffineExpr(even, 0) + _quotient(AffineExpr(uneven, self.constant), den)
        return AffineExpr(even, whole) + _quotient(AffineExpr(uneven, 0), den)

    def mod(self, denominator: int | AffineExpr) -> AffineExpr:
        """``self mod denominator``; multiples of the denominator drop out."""
        den = _denominator(denominator)
        if isinstance(den, Sym):
            return AffineExpr(((Mod(self, den), 1),), 0)
        rest = AffineExpr(
            tuple((a, c % den) for a, c in self.terms if c % den), self.constant % den
        )
        if rest.is_constant:
            return rest
        return AffineExpr(((Mod(rest, den), 1),), 0)

    # -- queries --------------------------------------------------------------------------------
    @property
    def is_constant(self) -> bool:
        """Whether no dim and no symbol occurs."""
        return not self.terms

    def as_constant(self) -> int | None:
        """The integer it is, or None."""
        return None if self.terms else self.constant

    def is_above(self, other: AffineExpr | int) -> bool:
        """Whether it is known to be larger, whatever its dims and symbols are."""
        difference = self - other
        return difference.is_constant and difference.constant > 0

    def as_dim(self) -> int | None:
        """The index of the dim it is (coefficient 1, nothing else), or None."""
        if len(self.terms) == 1 and not self.constant:
            atom, coefficient = self.terms[0]
            if isinstance(atom, Dim) and coefficient == 1:
                return atom.index
        return None

    def as_symbol(self) -> str | None:
        """The name of the symbol it is (coefficient 1, nothing else), or None."""
        if len(self.terms) == 1 and not self.constant:
            atom, coefficient = self.terms[0]
            if isinstance(atom, Sym) and coefficient == 1:
                return atom.name
        return None

    def coefficient(self, atom: Atom) -> int:
        """The coefficient of ``atom`` (0 where it does not occur)."""
        return dict(self.terms).get(atom, 0)

    @property
    def is_linear(self) -> bool:
        """Whether no quotient and no remainder occurs."""
        return all(isinstance(a, Dim | Sym) for a, _ in self.terms)

    def dims(self) -> frozenset[int]:
        """The indices of the dims that occur, inside quotients and remainders too."""
        return frozenset(a.index for a in self._leaves() if isinstance(a, Dim))

    @property
    def num_nodes(self) -> int:
        """How many atoms its text has, as often as they stand in it."""
        if not self._num_nodes:
            inner = (a.numerator.num_nodes for a, _ in self.terms if isinstance(a, FloorDiv | Mod))
            object.__setattr__(self, "_num_nodes", 1 + len(self.terms) + sum(inner))
        return self._num_nodes

    def symbols(self) -> frozenset[str]:
        """The names of the symbols that occur."""
        if self._symbols is None:
            names = frozenset(a.name for a in self._leaves() if isinstance(a, Sym))
            object.__setattr__(self, "_symbols", names)
        return self._symbols  # type: ignore[return-value]

    def _leaves(self) -> Iterator[Dim | Sym]:
        for atom, _ in self.terms:
            if isinstance(atom, Dim | Sym):
                yield atom
            else:
                yield from atom.numerator._leaves()
                if isinstance(atom.denominator, Sym):
                    yield atom.denominator

    # -- substitution and evaluation ------------------------------------------------------------
    def substitute(
        self,
        dims: Sequence[AffineExpr] | Mapping[int, AffineExpr] | None = None,
        symbols: Mapping[str, AffineExpr] | None = None,
    ) -> AffineExpr:
        """Replace dim ``i`` by ``dims[i]`` and each named symbol; what is not named stays."""
        table = dict(enumerate(dims)) if isinstance(dims, Sequence) else dict(dims or {})
        names = symbols or {}

        def given(atom: Atom) -> AffineExpr | None:
            if isinstance(atom, Dim):
                return table.get(atom.index)
            return names.get(atom.name) if isinstance(atom, Sym) else None

        return self._map(given)

    def replace_atoms(self, table: Mapping[Atom, AffineExpr]) -> AffineExpr:
        """Replace whole atoms, quotients and remainders included, inside numerators too.

        >>> half = (AffineExpr.symbol("s0") + 1).floordiv(2)
        >>> print((2 * half - 1).replace_atoms({half.terms[0][0]: AffineExpr.const(3)}))
        5
        """
        return self._map(table.get) if table else self

    def _map(self, given: Callable[[Atom], AffineExpr | None]) -> AffineExpr:
        """The expression with other expressions for the atoms that have one."""
        if not self.terms:
            return self
        total = AffineExpr.const(self.constant)
        for atom, coefficient in self.terms:
            part = given(atom)
            if part is None and isinstance(atom, FloorDiv | Mod):
                den: int | AffineExpr | Sym = atom.denominator
                if isinstance(den, Sym):
                    den = given(den) or AffineExpr.symbol(den.name)
                numerator = atom.numerator._map(given)
                is_quotient = isinstance(atom, FloorDiv)
                part = numerator.floordiv(den) if is_quotient else numerator.mod(den)
            total = total + (part or AffineExpr(((atom, 1),), 0)) * coefficient
        return total

    def evaluate(self, dims: Sequence[int] = (), symbols: Mapping[str, int] | None = None) -> int:
        """The integer it is for given dims and symbols."""
        names = symbols or {}
        total = self.constant
        for atom, coefficient in self.terms:
            if isinstance(atom, Dim):
                part = dims[atom.index]
            elif isinstance(atom, Sym):
                part = names[atom.name]
            else:
                numerator = atom.numerator.evaluate(dims, names)
                den = atom.denominator
                divisor = names[den.name] if isinstance(den, Sym) else den
                part = numerator // divisor if isinstance(atom, FloorDiv) else numerator % divisor
            total += coefficient * part
        return total

    # -- printing -------------------------------------------------------------------------------
    def __str__(self) -> str:
        text = ""
        for atom, coefficient in self.terms:
            size = abs(coefficient)
            factor = str(atom) if size == 1 else f"{size} * {_factor(atom)}"
            sign = "-" if coefficient < 0 else "+"
            text += f" {sign} {factor}" if text else ("-" if sign == "-" else "") + factor
        if not text:
            return str(self.constant)
        if self.constant:
            text += f" {'-' if self.constant < 0 else '+'} {abs(self.constant)}"
        return text

    def __repr__(self) -> str:
        return f"AffineExpr({self})"


def _quotient(numerator: AffineExpr, denominator: int | Sym) -> AffineExpr:
    return AffineExpr(((FloorDiv(numerator, denominator), 1),), 0)


def _factor(atom: Atom) -> str:
    return str(atom) if isinstance(atom, Dim | Sym) else f"({atom})"


def _denominator(value: int | AffineExpr) -> int | Sym:
    if isinstance(value, AffineExpr):
        name = value.as_symbol()
        if name is not None:
            return Sym(name)
        if value.as_constant() is None:
            raise ValueError(f"the divisor of an affine expression is not a symbol: {value}")
        value = value.constant
    if value == 0:
        raise ZeroDivisionError("affine expression divided by 0")
    return value
