"""Extents and decisions about them.

Every question about sizes ("is this extent 1?", "does this slice clamp?") is asked here. It is
first proved or refuted from what is known (constants, sizes are >= 0, decisions taken before); only
if that fails is it answered with the sizes of this call and recorded as a guard on the decision.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fusejit.errors import NeedsPython
from fusejit.ir.affine import AffineExpr, Atom, FloorDiv, Mod, Sym
from fusejit.ir.graph import Guard
from fusejit.ir.host import HostExpr
from fusejit.ir.host_affine import sides_of
from fusejit.tracer.program.equalities import Equalities
from fusejit.tracer.program.locations import current_location, needs_python

MAX_SIZE = 1 << 47  # no array has more elements than a process has addresses
Extents = tuple[AffineExpr, ...]
_MAX_STEPS = 300  # sums that a proof looks at


class Varies(Exception):
    """A decision about an integer that is not the same in all iterations of a loop."""

    def __init__(self, expr: AffineExpr) -> None:
        super().__init__("a size, an index or a bound of a slice differs between iterations")
        self.expr = expr


def _cannot_check(left: AffineExpr, right: AffineExpr, reason: str) -> None:
    raise Varies(left - right)


def _cannot_assume(comparison: str, expr: AffineExpr, reason: str) -> None:
    raise Varies(expr)


def _without_quotients(expr: AffineExpr) -> Iterator[AffineExpr]:
    """Sums of which ``expr >= 0`` follows if one is not negative, with one quotient less each.

    ``c * floor(n / k)`` lies between ``c * (n - k + 1) / k`` and ``c * n / k``.
    """
    for atom, coefficient in expr.terms:
        if not isinstance(atom, FloorDiv) or not isinstance(atom.denominator, int):
            continue
        k = atom.denominator
        if k <= 0:
            continue
        rest = expr - AffineExpr(((atom, coefficient),), 0)
        numerator = atom.numerator if coefficient < 0 else atom.numerator - (k - 1)
        yield rest * k + numerator * coefficient + (k - 1)


def _cannot_ask_for_some(extent: AffineExpr, name: str) -> None:
    raise Varies(extent)


class Decisions:
    """Symbols with their values in this call, what is known of them, and the guards."""

    def __init__(self) -> None:
        self.hints: dict[str, int] = {}
        self.equalities = Equalities()
        self.guards: list[Guard] = []
        self._bounds: dict[str, tuple[int | None, int | None]] = {}
        self._ranges: dict[Atom, tuple[int | None, int | None]] = {}  # that follow from these
        self._nonnegative: list[AffineExpr] = []
        self._nonzero: set[AffineExpr] = set()
        self._guarded: set[tuple[str, bool]] = set()
        self._locals: dict[str, tuple[AffineExpr | None, AffineExpr | None]] = {}
        self._facts_of: dict[str, list[AffineExpr]] = {}
        self._checked_equal: dict[
            str, AffineExpr
        ] = {}  # integers of open blocks, and what they are
        self.emit_check: Callable[[AffineExpr, AffineExpr, str], None] = _cannot_check
        self._of_results: set[str] = set()  # sizes of what host calls return
        self._assumes = True
        self.first_guess: NeedsPython | None = None
        """Where Python can ask what has been guessed first of a size that a host call returns."""
        self.emit_some: Callable[[AffineExpr, str], None] = _cannot_ask_for_some
        self.emit_assumption: Callable[[str, AffineExpr, str], None] = _cannot_assume

    # -- symbols ----------------------------------------------------------------------------------
    def add_symbol(
        self, name: str, hint: int, low: int | None = None, high: int | None = None
    ) -> AffineExpr:
        """Declare a symbol that is ``hint`` in this call and within given bounds in every call."""
        self.hints[name] = hint
        self._note_bounds(name, low, high)
        return AffineExpr.symbol(name)

    def add_local(
        self, name: str, hint: int, low: AffineExpr | None, high: AffineExpr | None
    ) -> AffineExpr:
        """Declare an integer of a block, which no guard can mention, and its bounds there."""
        constant = [None if e is None else e.as_constant() for e in (low, high)]
        symbol = self.add_symbol(name, hint, *constant)
        self._locals[name] = (low, high)
        facts = [symbol - low] if low is not None else []
        facts += [high - symbol] if high is not None else []
        self._facts_of[name] = facts
        self._nonnegative += facts
        return symbol

    def forget_local(self, name: str) -> None:
        """Its block has ended: what was known there need not hold after it."""
        facts = self._facts_of.pop(name, [])
        self._checked_equal.pop(name, None)
        self._nonnegative = [
            f
            for f in self._nonnegative
            if name not in f.symbols() and not any(f is one for one in facts)
        ]

    def age_of(self, name: str) -> int:
        """A number that is larger for an integer of a block that was declared later."""
        return list(self._locals).index(name) if name in self._locals else -1

    def is_local(self, expr: AffineExpr) -> bool:
        """Whether an expression varies within a call."""
        return bool(self._locals) and not self._locals.keys().isdisjoint(expr.symbols())

    def extreme(self, expr: AffineExpr, sign: int) -> AffineExpr | None:
        """The least (-1) or largest (1) value in terms of symbols of the call; None: unknown."""
        for name in reversed(list(self._locals)):
            coefficient = expr.coefficient(Sym(name))
            if not coefficient:
                if name in expr.symbols():
                    return None  # inside a quotient
                continue
            bound = self._locals[name][1 if coefficient * sign > 0 else 0]
            if bound is None:
                return None
            expr = self.canonical(expr + (bound - AffineExpr.symbol(name)) * coefficient)
        return expr

    def canonical(self, expr: AffineExpr) -> AffineExpr:
        """The expression with equal symbols and quotients replaced by one of them."""
        expr = self.equalities.canonical(expr)
        while not self._checked_equal.keys().isdisjoint(expr.symbols()):
            expr = self.equalities.canonical(expr.substitute(symbols=self._checked_equal))
        return expr

    def note_checked(self, zero: AffineExpr, name: str) -> None:
        """Replace ``name`` by the solution of ``zero == 0``, which the kernel has checked.

        ``name`` is a symbol of the block with the check, so no other block is concerned.
        Expressions that were made before the check keep it.
        """
        zero = self.canonical(zero)
        sign = zero.coefficient(Sym(name))
        rest = AffineExpr.symbol(name) - zero * sign
        if abs(sign) == 1 and name not in rest.symbols():
            self._checked_equal[name] = rest

    def forget_checked(self) -> None:
        """The trace is complete: what follows is about the whole graph."""
        self._checked_equal.clear()

    def hint(self, expr: AffineExpr) -> int:
        """The value in this call."""
        return expr.evaluate((), self.hints)

    def constant(self, expr: AffineExpr) -> int | None:
        """The integer it is in every call, if that is known."""
        return self.canonical(expr).as_constant()

    # -- decisions --------------------------------------------------------------------------------
    def nonnegative(self, expr: AffineExpr, reason: str = "") -> bool:
        """Decide ``expr >= 0``."""
        expr = self.canonical(expr)
        if self.proves_nonnegative(expr):
            return True
        if self.proves_nonnegative(-expr - 1):
            return False
        if self.is_local(expr):
            try:
                return self._always_nonnegative(expr, reason)
            except Varies:
                if not self.may_assume(expr):
                    raise
            return self._assume_sign(expr, reason)
        answer = self.hint(expr) >= 0
        self._guard("ge", expr, answer, reason)
        self._learn_nonnegative(expr if answer else -expr - 1)
        return answer

    def _always_nonnegative(self, expr: AffineExpr, reason: str) -> bool:
        """Decide ``expr >= 0`` for all values that the symbols of the block take in this call."""
        least = self.extreme(expr, -1)
        if least is not None and self.hint(least) >= 0 and self.nonnegative(least, reason):
            return True
        most = self.extreme(expr, 1)
        if most is not None and self.hint(most) < 0 and not self.nonnegative(most, reason):
            return False
        raise Varies(expr)

    def at_most(self, left: AffineExpr | int, right: AffineExpr | int, reason: str = "") -> bool:
        """Decide ``left <= right``."""
        return self.nonnegative(AffineExpr.of(right) - AffineExpr.of(left), reason)

    def equal(
        self,
        left: AffineExpr | int,
        right: AffineExpr | int,
        reason: str = "",
        *,
        or_raises: bool = False,
    ) -> bool:
        """Decide ``left == right``; equal symbols are one symbol from then on.

        With ``or_raises`` NumPy raises where they differ: of sizes that nobody knows while tracing
        it is assumed that they do not. Else a size is taken not to be one certain number.
        """
        difference = self.canonical(AffineExpr.of(left) - AffineExpr.of(right))
        known = difference.as_constant()
        if known is not None:
            return known == 0
        if difference in self._nonzero or -difference in self._nonzero:
            return False
        above, below = -difference - 1, difference - 1
        if self.proves_nonnegative(above) or self.proves_nonnegative(below):
            return False
        if self.is_local(difference):
            if not self.may_assume(difference):
                if any(self._holds_always(e, reason) for e in (above, below)):
                    return False
                raise Varies(difference)
            answer = or_raises or len(difference.symbols()) > 1
            self.emit_assumption("equal" if answer else "not_equal", difference, reason)
            if not or_raises:
                self._note_guess()
            if not answer:
                self._nonzero.add(difference)
            return answer
        answer = self.hint(difference) == 0
        self._guard("eq", difference, answer, reason)
        if answer:
            self._unify(difference)
        else:
            self._nonzero.add(difference)
        return answer

    def checked_equal(
        self, left: AffineExpr, right: AffineExpr, reason: str, *, or_raises: bool = False
    ) -> bool:
        """`equal`, but integers that differ within a call are checked by the kernel to be one."""
        if self.is_local(left - right):
            self.check_equal(left, right, reason)
            return True
        return self.equal(left, right, reason, or_raises=or_raises)

    def check_equal(self, left: AffineExpr, right: AffineExpr, reason: str) -> None:
        """Ensure that two integers are one, in the kernel where that is not known here."""
        if self.canonical(left - right).as_constant() != 0:
            self.emit_check(left, right, reason)

    def is_empty(self, extent: AffineExpr, name: str) -> bool:
        """Decide ``extent == 0`` for a reduction; where iterations differ, a check that it is not.

        NumPy's ``name`` (max, min, argmax or argmin) is an error without elements.
        """
        try:
            return self.equal(extent, 0, f"{name} of an empty array")
        except Varies:
            self.emit_some(extent, name)
            return False

    def _holds_always(self, expr: AffineExpr, reason: str) -> bool:
        try:
            return self._always_nonnegative(expr, reason)
        except Varies:
            return False

    def note_size_of_result(self, name: str) -> None:
        """A local symbol is a size that a host call returns: what is decided of it is assumed."""
        self._of_results.add(name)

    def is_counter(self, name: str) -> bool:
        """Whether a symbol is an integer of a block and no size: an induction variable, an item."""
        return name in self._locals and name not in self._of_results

    def may_assume(self, expr: AffineExpr) -> bool:
        """Whether the only locals of an expression are sizes of what host calls return.

        Nobody knows them while tracing. A decision takes the answer for arrays of some elements,
        and the kernel checks that it holds, after the call.
        """
        local = self._locals.keys() & expr.symbols()
        return self._assumes and local <= self._of_results

    @contextmanager
    def without_assumptions(self) -> Iterator[None]:
        """For conditions inside of loops and branches, which go both ways in one call."""
        before, self._assumes = self._assumes, False
        try:
            yield
        finally:
            self._assumes = before

    def _assume_sign(self, expr: AffineExpr, reason: str) -> bool:
        answer = self.hint(expr) >= 0
        fact = expr if answer else -expr - 1
        self.emit_assumption("greater_equal", fact, reason)
        self._note_guess()
        self._learn_nonnegative(fact)
        return answer

    def _note_guess(self) -> None:
        if self.first_guess is None:
            what = "a size of what a function of NumPy's returns decides"
            self.first_guess = needs_python(what, "ask for it outside the decorated function")

    def exactly(self, expr: AffineExpr, reason: str = "") -> int:
        """The value of this call, guarded: for what must be a Python int."""
        if self.is_local(self.canonical(expr)):
            raise Varies(expr)
        value = self.hint(expr)
        self.equal(expr, value, reason)
        return value

    def condition(self, expr: HostExpr, answer: bool, reason: str = "") -> bool:
        """Record a decision about a host expression that is not a comparison of sizes."""
        key = (str(expr), answer)
        if key not in self._guarded:
            self._guarded.add(key)
            self.guards.append(Guard(expr, answer, current_location(), reason))
        return answer

    def range_of(self, expr: AffineExpr) -> tuple[int | None, int | None]:
        """Bounds that hold in every call; None where there is none."""
        low: int | None = expr.constant
        high: int | None = expr.constant
        for atom, coefficient in expr.terms:
            part = self._atom_range(atom)
            small, large = part if coefficient > 0 else part[::-1]
            low = None if low is None or small is None else low + coefficient * small
            high = None if high is None or large is None else high + coefficient * large
        return low, high

    def assume_nonnegative(self, expr: AffineExpr) -> None:
        """Note something that holds by construction (``min(a, b) <= a``)."""
        self._learn_nonnegative(self.canonical(expr))

    # -- proofs -----------------------------------------------------------------------------------
    def proves_nonnegative(self, expr: AffineExpr) -> bool:
        """Whether ``expr >= 0`` follows from what is known, as far as `_MAX_STEPS` find out."""
        expr = self.canonical(expr)
        steps = itertools.count()
        if self._obvious(expr, steps):
            return True
        symbols = expr.symbols()
        facts = [f for f in map(self.canonical, self._nonnegative) if f.symbols() & symbols]
        if any(self._obvious(expr - f, steps) for f in facts):
            return True
        relevant = facts[:12]
        return any(
            self._obvious(expr - f - g, steps) for i, f in enumerate(relevant) for g in relevant[i:]
        )

    def _obvious(self, expr: AffineExpr, steps: Iterator[int]) -> bool:
        """Whether it follows from bounds, with up to three quotients replaced by theirs.

        The order in which they are replaced does not matter: each sum is looked at once.
        """
        seen = {expr}
        reached = [expr]
        for _ in range(4):
            pending, reached = reached, []
            for one in pending:
                low = self.range_of(one)[0]
                if low is not None and low >= 0:
                    return True
                for found in _without_quotients(one):
                    if next(steps) >= _MAX_STEPS:
                        return False
                    if found not in seen:
                        seen.add(found)
                        reached.append(found)
        return False

    def _atom_range(self, atom: Atom) -> tuple[int | None, int | None]:
        if isinstance(atom, Sym):
            return self._bounds.get(atom.name, (None, None))
        known = self._ranges.get(atom)
        if known is None:
            known = self._ranges[atom] = self._range_of_quotient(atom)
        return known

    def _range_of_quotient(self, atom: Atom) -> tuple[int | None, int | None]:
        if isinstance(atom, FloorDiv) and isinstance(atom.denominator, int):
            low, high = self.range_of(atom.numerator)
            k = atom.denominator
            ends = (
                None if low is None else low // k,
                None if high is None else high // k,
            )
            return ends if k > 0 else ends[::-1]
        if isinstance(atom, Mod) and isinstance(atom.denominator, int):
            k = atom.denominator
            return (0, k - 1) if k > 0 else (k + 1, 0)
        return None, None

    def _learn_nonnegative(self, fact: AffineExpr) -> None:
        name = None
        if len(fact.terms) == 1:
            atom, coefficient = fact.terms[0]
            if isinstance(atom, Sym) and abs(coefficient) == 1:
                name = atom.name
        if name is None:
            self._nonnegative.append(fact)
            return
        low, high = self._bounds.get(name, (None, None))
        if fact.coefficient(Sym(name)) == 1:  # s + constant >= 0
            bound = -fact.constant
            low = bound if low is None else max(low, bound)
        else:
            high = fact.constant if high is None else min(high, fact.constant)
        self._note_bounds(name, low, high)

    def _note_bounds(self, name: str, low: int | None, high: int | None) -> None:
        if self._bounds.get(name) != (low, high):
            self._ranges.clear()
        self._bounds[name] = (low, high)

    def _unify(self, zero: AffineExpr) -> None:
        """Note that ``zero == 0``, and what that says of the bounds of what is replaced."""
        replaced = self.equalities.add(zero)
        for atom, value in replaced:
            low, high = self._atom_range(atom)
            facts = [] if low is None else [value - low]
            facts += [] if high is None else [high - value]
            if isinstance(atom, FloorDiv) and isinstance(atom.denominator, int):
                rest = atom.numerator - value * atom.denominator  # 0 <= rest < denominator
                facts += [rest, abs(atom.denominator) - 1 - rest] if atom.denominator > 0 else []
            for fact in facts:
                if not self.proves_nonnegative(fact):
                    self._learn_nonnegative(self.canonical(fact))
        if not replaced:
            self._nonnegative += [zero, -zero]

    def _guard(self, op: str, expr: AffineExpr, answer: bool, reason: str) -> None:
        left, right = sides_of(-expr if op == "eq" and expr.constant > 0 else expr)
        self.condition(HostExpr(op, (left, right)), answer, reason)


# ------------------------------------------------------------------------------------ axis order
def normal_order(order: tuple[int, ...]) -> tuple[int, ...] | None:
    """None for C order."""
    return None if list(order) == sorted(order) else order
