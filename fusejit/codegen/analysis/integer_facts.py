"""What is known of integers at a place of a kernel: linear inequalities, and proofs from them.

A fact is a polynomial that is not negative. Its names are integers that do not change: symbols,
loop variables, and *atoms* (an element, what a cell holds in one iteration). A polynomial stands
for the 64-bit integer that a kernel computes from its names modulo 2**64, so what a comparison says
is a fact only where the polynomial itself fits 64 bits (`Facts.is_exact`); a proof that it lies
between 0 and a size needs no such care.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from fusejit.dataclass import dataclass
from fusejit.ir.loops.polynomial import Factor, Polynomial

DEPTH = 6  # facts that one proof adds up
SPLITS = 4  # extrema of which both cases are tried
DEPTH_OF_CASES, STEPS = 3, 600  # such proofs are many, and most lead nowhere
FITS = 1 << 62

Monomial = tuple[Factor, ...]


# ------------------------------------------------------------------------------------- conditions
@dataclass(frozen=True, slots=True)
class NonNegative:
    """``left - right >= 0``: a comparison of two integers."""

    left: Polynomial
    right: Polynomial


@dataclass(frozen=True, slots=True)
class Equal:
    """``left == right``."""

    left: Polynomial
    right: Polynomial


@dataclass(frozen=True, slots=True)
class Inside:
    """``0 <= index < size``: a comparison of the two as unsigned numbers, where a size is one."""

    index: Polynomial
    size: Polynomial


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite."""

    of: Condition


@dataclass(frozen=True, slots=True)
class And:
    """Both."""

    first: Condition
    second: Condition


@dataclass(frozen=True, slots=True)
class Known:
    """True or false."""

    value: bool


@dataclass(frozen=True, eq=False)
class Opaque:
    """A bool of which nothing is known, and which no other one equals."""


Condition = NonNegative | Equal | Inside | Not | And | Known | Opaque


# ------------------------------------------------------------------------------------------ facts
class Facts:
    """Inequalities that hold, newer ones last; `mark` and `forget` undo what a branch added."""

    def __init__(self) -> None:
        self._facts: list[Polynomial] = []
        self._of: dict[Monomial, list[tuple[int, Polynomial]]] = {}
        self._rank: dict[str, int] = {}
        self._choices: dict[str, tuple[int, Polynomial, Polynomial]] = {}
        self._depth, self._steps = DEPTH, -1  # left of a proof by cases
        self.newest = 0

    def new_atom(self, name: str) -> Polynomial:
        """An integer of which nothing is known; proofs replace newer names by older ones."""
        self.newest += 1
        self._rank[name] = self.newest
        return Polynomial.name(name)

    def rank(self, name: str) -> int:
        """The place of an atom among all, in program order; 0 for symbols."""
        return self._rank.get(name, 0)

    def mark(self) -> int:
        """How many facts there are."""
        return len(self._facts)

    def forget(self, mark: int) -> None:
        """Drop the facts after a mark."""
        while len(self._facts) > mark:
            for monomial, _ in self._facts.pop().terms:
                if monomial:
                    self._of[monomial].pop()

    def add(self, fact: Polynomial) -> None:
        """Note ``fact >= 0``."""
        self._facts.append(fact)
        for monomial, coefficient in fact.terms:
            if monomial:
                self._of.setdefault(monomial, []).append((coefficient, fact))

    def add_extremum(self, atom: Polynomial, operands: tuple[Polynomial, ...], sign: int) -> None:
        """Note that an atom is the larger (1) or the smaller (-1) of two integers."""
        first, second = operands
        for operand in operands:
            self.add((atom - operand) * sign)
        if sign < 0 and all(map(self.proves, operands)):
            self.add(atom)
        (name,) = atom.names()
        self._choices[name] = sign, first, second

    # -- proofs --------------------------------------------------------------------------------
    def proves(self, goal: Polynomial) -> bool:
        """Whether ``goal >= 0`` follows: a sum of facts and of a constant that is not negative.

        >>> i, n = Polynomial.name("i"), Polynomial.name("n")
        >>> facts = Facts()
        >>> facts.add(i), facts.add(n - 2 - i)
        (None, None)
        >>> facts.proves(n - 1 - i), facts.proves(n - 3 - i)
        (True, False)
        """
        return self._follows(goal, self._depth, {})

    def _follows(self, goal: Polynomial, depth: int, failed: dict[Polynomial, int]) -> bool:
        """`proves`; ``failed``: goals that did not follow in this proof, and from how many facts.

        Sums of the same facts lead to one goal in many orders.
        """
        constant = goal.as_constant()
        if constant is not None:
            return constant >= 0
        if depth <= failed.get(goal, 0) or self._steps == 0:
            return False
        self._steps -= 1
        monomial, coefficient = max(goal.terms, key=lambda term: self._rank_of(term[0]))
        for given, fact in reversed(self._of.get(monomial, ())):
            if given * coefficient < 0:
                continue
            common = gcd(given, coefficient)
            scale = abs(given) // common  # an integer is not negative if it is above -1 / scale
            rest = goal * scale + (scale - 1) - fact * (abs(coefficient) // common)
            if self._follows(rest, depth - 1, failed):
                return True
        failed[goal] = depth
        return False

    def _rank_of(self, monomial: Monomial) -> tuple[int, int]:
        ranks = [self._rank.get(str(name), 0) for name in monomial]
        return (max(ranks), len(ranks)) if ranks else (-1, 0)

    def is_exact(self, value: Polynomial) -> bool:
        """Whether the polynomial is the integer that the kernel computes, not modulo 2**64."""
        if len(value.terms) == 1 and value.terms[0][1] == 1 and len(value.terms[0][0]) == 1:
            return True
        return self.is_bounded(value)

    def is_bounded(self, value: Polynomial) -> bool:
        """Whether a polynomial is far from the ends of 64 bits."""
        return self.proves(value + FITS) and self.proves(FITS - value)

    def decides(self, condition: Condition, truth: bool = True) -> bool:
        """Whether a condition is known to be ``truth``."""
        if isinstance(condition, Known):
            return condition.value is truth
        if isinstance(condition, Not):
            return self.decides(condition.of, not truth)
        if isinstance(condition, And):
            both = (self.decides(c, truth) for c in (condition.first, condition.second))
            return all(both) if truth else any(both)
        if isinstance(condition, NonNegative | Equal):
            distance = condition.left - condition.right
            if isinstance(condition, NonNegative):
                proved = self.proves(distance if truth else -distance - 1)
            elif truth:
                proved = self.proves(distance) and self.proves(-distance)
            else:
                proved = self.proves(distance - 1) or self.proves(-distance - 1)
            return proved and self.is_exact(condition.left) and self.is_exact(condition.right)
        if isinstance(condition, Inside) and truth:
            index, size = condition.index, condition.size
            return self.proves(index) and self.proves(size - 1 - index) and self.proves(FITS - size)
        return False

    def decides_by_cases(self, condition: Condition) -> bool:
        """Whether a condition holds, whichever of two integers an extremum is.

        >>> i, last, count = map(Polynomial.name, ["i", "last", "count"])
        >>> zero, facts = Polynomial.const(0), Facts()
        >>> for name in (i, last):
        ...     facts.add(name), facts.add(1000 - name)
        (None, None)
        (None, None)
        >>> facts.add_extremum(count, (last - i, zero), 1)
        >>> none, fits = NonNegative(zero, count), NonNegative(last - i, count)
        >>> either = Not(And(Not(none), Not(fits)))
        >>> [facts.decides_by_cases(c) for c in (none, fits, either)]
        [False, False, True]
        """
        self._steps, self._depth = STEPS, DEPTH_OF_CASES
        holds = any(
            all(self._decides_case(condition, name, case) for case in (0, 1))
            for name in self._extrema_near(condition)
        )
        self._steps, self._depth = -1, DEPTH
        return holds

    def _decides_case(self, condition: Condition, name: str, case: int) -> bool:
        sign, *operands = self._choices[name]
        chosen, other = operands[case], operands[1 - case]
        mark, atom = self.mark(), Polynomial.name(name)
        for fact in (atom - chosen, chosen - atom, (chosen - other) * sign):
            self.add(fact)
        holds = self.decides(condition)
        self.forget(mark)
        return holds

    def _extrema_near(self, condition: Condition) -> list[str]:
        """Extrema of which a condition tells something, or the facts about its integers do."""
        names = {n for side in _sides(condition) for n in side.names()}
        facts = [fact for name in names for _, fact in self._of.get((name,), ())]
        near = names.union(*(fact.names() for fact in facts)) & self._choices.keys()
        return sorted(near, key=self.rank, reverse=True)[:SPLITS]

    def assume(self, condition: Condition, truth: bool = True) -> None:
        """Note what follows from a condition."""
        if isinstance(condition, Not):
            self.assume(condition.of, not truth)
        elif isinstance(condition, And) and truth:
            self.assume(condition.first)
            self.assume(condition.second)
        elif isinstance(condition, NonNegative | Equal):
            if self.is_exact(condition.left) and self.is_exact(condition.right):
                self._compare(condition, truth)
        elif isinstance(condition, Inside) and truth:
            index, size = condition.index, condition.size
            if self.is_exact(index) and self.proves(size) and self.is_exact(size):
                self.add(index)
                self.add(size - 1 - index)

    def _compare(self, condition: NonNegative | Equal, truth: bool) -> None:
        distance = condition.left - condition.right
        if isinstance(condition, NonNegative):
            self.add(distance if truth else -distance - 1)
        elif truth:
            self.add(distance)
            self.add(-distance)
        elif self.proves(distance):
            self.add(distance - 1)
        elif self.proves(-distance):
            self.add(-distance - 1)


def _sides(condition: Condition) -> Iterator[Polynomial]:
    """The integers that a condition compares."""
    if isinstance(condition, NonNegative | Equal):
        yield from (condition.left, condition.right)
    elif isinstance(condition, Inside):
        yield from (condition.index, condition.size)
    elif isinstance(condition, Not):
        yield from _sides(condition.of)
    elif isinstance(condition, And):
        yield from _sides(condition.first)
        yield from _sides(condition.second)
