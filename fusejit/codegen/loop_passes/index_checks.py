"""Checks of indices that always hold are dropped, or asked once before a loop.

A check asks whether an index, counted from the end where it is negative, is below the size. What
loops, conditions and checks before it say of the integers (`codegen.analysis.integer_facts`) often
decides that, as well as the sign of the index::

    while j >= 0 and x[j] > key:        # 0 <= j by the condition, j < i: j starts there and falls
        x[j + 1] = x[j]

What a loop carries keeps a bound if it starts within it and each iteration stays: bounds are tried,
and those that an iteration breaks are given up. A loop whose indices run through a range between
unknown ends asks for both ends in front (`fusejit.codegen.loop_passes.loop_versions`).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fusejit.codegen.analysis.integer_facts import (
    And,
    Condition,
    Facts,
    Inside,
    NonNegative,
    Not,
    Opaque,
)
from fusejit.codegen.analysis.integer_values import HIDDEN, Known64, Values, is_condition
from fusejit.codegen.analysis.kernel_statements import (
    U64,
    cells_of,
    changed,
    flat,
    given,
    is_check,
    is_division,
    is_nest,
    is_work,
    moduli,
)
from fusejit.codegen.loop_passes.loop_versions import needed_before_loop, tested
from fusejit.codegen.loop_passes.unread_names import drop_unread
from fusejit.dataclass import replace
from fusejit.ir.analysis.index_symbols import LARGEST_SYMBOL, index_symbols
from fusejit.ir.analysis.symbol_facts import SymbolFacts, affine_of
from fusejit.ir.graph import Graph
from fusejit.ir.loops.index_math import I64
from fusejit.ir.loops.nodes import (
    Apply,
    For,
    If,
    Let,
    ParallelFor,
    Scratch,
    Stmt,
    StoreElement,
    While,
)
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.loops.scalar_math import SELECT, cast

ROUNDS = 4  # times that bounds of what a loop carries are tried
VISITS, LEAST_VISITS = 8, 1000  # of each statement: loops in loops in loops are tried less
STEP = 16  # a counter that moves by no more never leaves 64 bits: that takes years

Bound = tuple[int, Polynomial]
"""``sign * (cell - bound) >= 0``."""
_State = tuple[dict[str, Known64], dict[Any, Any]]


def prove_checks(
    statements: Sequence[Stmt],
    symbols: Callable[[], CallFacts],
    dtypes: Mapping[str, np.dtype],
) -> list[Stmt]:
    """The statements of a kernel without the checks that hold.

    Parameters
    ----------
    statements : sequence of Stmt
        All of a kernel, but for its top.
    symbols : callable
        What is known in each call: `facts_of_symbols`, asked only if there are checks.
    dtypes : mapping
        The dtype of each pointer that is a parameter.
    """
    if not any(map(is_work, flat(statements))):
        return list(statements)
    walk = _Walk(statements, symbols(), dtypes)
    return drop_unread(walk.block(statements), walk.values.cells)


CallFacts = tuple[list[Polynomial], dict[str, Polynomial]]
"""What is not negative, and the integers that scalar inputs are."""


def facts_of_symbols(graph: Graph) -> CallFacts:
    """What holds in each call that the graph serves."""
    found: list[Polynomial] = []
    for name in sorted(index_symbols(graph)):
        symbol = Polynomial.name(name)
        found += [symbol + LARGEST_SYMBOL, LARGEST_SYMBOL - symbol]
    symbols = SymbolFacts(graph)
    found += [Polynomial.name(name) - low for name, low in symbols.low.items()]
    for fact in map(Polynomial.from_affine, symbols.known):
        if not fact.has_quotients:
            found.append(fact)
    numbers: dict[str, Polynomial] = {}
    for at, scalar in enumerate(graph.scalars):
        if scalar.value.type.dtype == np.dtype(np.int64):
            affine = affine_of(scalar.expr)
            exact = None if affine is None else Polynomial.from_affine(affine)
            numbers[f"x{at}"] = Polynomial.name(f"x{at}") if exact is None else exact
    return found, numbers


class _Walk:
    def __init__(
        self,
        statements: Sequence[Stmt],
        symbols: CallFacts,
        dtypes: Mapping[str, np.dtype],
    ) -> None:
        facts = Facts()
        for fact in symbols[0]:
            facts.add(fact)
        every = list(flat(statements))
        count = Counter(name for s in every for name in given(s))
        count.update(s.name for s in every if isinstance(s, Let) and s.rebind)
        cells = frozenset(name for name, times in count.items() if times > 1)
        scratch = {s.name: s.dtype for s in every if isinstance(s, Scratch)}
        stored = frozenset(changed(statements)) | cells
        self.facts = facts
        self.values = Values(facts, {**dtypes, **scratch}, stored, cells)
        self.values.of.update(symbols[1])
        self.open: list[tuple[Polynomial, Polynomial]] = []  # index, size of checks that stay
        self.asked: list[Bound] = []  # bounds that loops around try to keep
        self.may_version = True
        self.may_visit = VISITS * len(every) + LEAST_VISITS  # statements, while bounds are tried

    # -- statements ------------------------------------------------------------------------------
    def block(self, statements: Sequence[Stmt]) -> list[Stmt]:
        """Statements in program order; what they say holds after them."""
        self.may_visit -= len(statements)
        return [new for s in statements for new in self.statement(s)]

    def statement(self, s: Stmt) -> list[Stmt]:
        if isinstance(s, Let):
            return [self.let(s)]
        if isinstance(s, StoreElement):
            self.values.read(s.value)
            return [s]
        if isinstance(s, If):
            return self.check(s) if is_check(s) else self.branch(s)
        if isinstance(s, For):
            return self.counted(s)
        if isinstance(s, While):
            return [self.conditional(s)]
        if isinstance(s, ParallelFor) and s.of_program:
            return [self.chunk(s)]
        return [s]

    def let(self, s: Let) -> Let:
        """A name is given: what it stands for from here on."""
        is_mutable = s.name in self.values.cells
        known = self.values.read(s.value, "" if is_mutable else s.name)
        self.values.of.pop(s.name, None)
        if known is not None:
            self.values.of[s.name] = known
        elif not is_mutable:
            self.values.new_atom(s.name)  # younger than the loop around
        if not isinstance(s.value, Apply):
            return s
        if s.value.op == SELECT:
            for arm in s.value.operands[1:]:
                if isinstance(known, Polynomial) and self.values.read(arm) == known:
                    return replace(s, value=arm)
        return replace(s, value=self.division(s.value)) if is_division(s) else s

    def division(self, value: Apply) -> Apply:
        """A division of unsigned numbers where both are known not to be negative: it is shorter."""
        for operand, low in zip(value.operands, (0, 1), strict=True):
            known = self.values.read(operand)
            if not isinstance(known, Polynomial) or not self.facts.is_exact(known):
                return value
            if not self.facts.proves(known - low):
                return value
        operands = tuple(cast(o, U64) for o in value.operands)
        op = replace(value.op, kind="u")
        return cast(Apply(op, operands, U64), I64)

    def check(self, s: If) -> list[Stmt]:
        """``if not inside: leave``."""
        condition = self.values.condition(s.condition)
        if self.facts.decides(condition, False):
            return []
        if isinstance(condition, Not) and isinstance(condition.of, Inside):
            index, size = condition.of.index, condition.of.size
            self.open.append(self.values.wraps.get(index, (index, size)))
        self.facts.assume(condition, False)
        return [s]

    def branch(self, s: If) -> list[Stmt]:
        """A conditional: each branch knows the condition, what they give is joined behind."""
        condition = self.values.condition(s.condition)
        has_two_forms = bool(s.body and s.orelse) and isinstance(s.body[-1], ParallelFor)
        if has_two_forms and self.facts.decides_by_cases(condition):
            return self.block(s.body)
        before, mark = self._state(), self.facts.mark()
        bodies: list[list[Stmt]] = []
        ends: list[dict[str, Known64]] = []
        kept: list[dict[str, list[Bound]]] = []
        cells = sorted(cells_of((*s.body, *s.orelse), self.values.cells))
        for truth, body in ((True, s.body), (False, s.orelse)):
            self._restore(before)
            self.facts.assume(condition, truth)
            bodies.append(self.block(body))
            ends.append(self.values.of)
            kept.append({name: self._bounds_of(self.values.of.get(name)) for name in cells})
            self.facts.forget(mark)
        self._restore(before)
        for name in cells:
            first, second = (end.get(name) for end in ends)
            joined = self._joined(condition, first, second)
            self.values.of.pop(name, None)
            if joined is not None:
                self.values.of[name] = joined
            if isinstance(joined, Polynomial) and joined != first:
                for sign, bound in kept[0][name]:
                    if (sign, bound) in kept[1][name]:
                        self.facts.add((joined - bound) * sign)
        return [replace(s, body=bodies[0], orelse=bodies[1])]

    def _bounds_of(self, known: Known64 | None) -> list[Bound]:
        """Which of the bounds that loops around ask for an integer keeps."""
        if not isinstance(known, Polynomial) or not self.facts.is_exact(known):
            return []
        return [b for b in self.asked if self.facts.proves((known - b[1]) * b[0])]

    def _joined(
        self, condition: Condition, first: Known64 | None, second: Known64 | None
    ) -> Known64 | None:
        """What a cell holds after a branch."""
        if first == second:
            return first
        if is_condition(first) and is_condition(second):
            if self.facts.decides(second, False):
                return And(condition, first)
            if self.facts.decides(first, True):
                return Not(And(Not(condition), Not(second)))
            return None
        if not isinstance(first, Polynomial) or not isinstance(second, Polynomial):
            return None
        distance, atom = (first - second).as_constant(), self.values.new_atom()
        if distance is not None and self.facts.is_exact(first) and self.facts.is_exact(second):
            low, high = (second, first) if distance > 0 else (first, second)
            self.facts.add(atom - low)
            self.facts.add(high - atom)
        return atom

    # -- loops -----------------------------------------------------------------------------------
    def counted(self, s: For) -> list[Stmt]:
        """A counted loop: its name lies between its ends."""
        lower, upper = self.values.read(s.lower), self.values.read(s.upper)
        ends = None
        if isinstance(lower, Polynomial) and isinstance(upper, Polynomial):
            ends = lower, upper
        is_mutable = s.var in self.values.cells

        def body() -> list[Stmt]:
            var = self.values.of[s.var] = self.values.new_atom("" if is_mutable else s.var)
            if ends is not None and self.facts.is_exact(ends[0]):
                self.facts.add(var - ends[0])
            if ends is not None and self.facts.is_exact(ends[1]):
                self.facts.add(ends[1] - 1 - var)
            return self.block(s.body)

        before, num_open = self._state(), len(self.open)
        slow: list[Stmt] = [replace(s, body=self._carried(s, body))]
        still_open = self.open[num_open:]
        if is_mutable or ends is None or not still_open or not self.may_version or is_nest(s):
            return slow
        rank = self.facts.rank(s.var)
        conditions = needed_before_loop(
            self.facts,
            s.var,
            ends,
            still_open,
            lambda name: name[0] != HIDDEN and self.facts.rank(name) < rank,
        )
        if conditions is None:
            return slow
        behind, mark = self._state(), self.facts.mark()
        self._restore(before)
        for condition in conditions:
            self.facts.add(condition)
        fast = replace(s, body=self._carried(s, body))
        self.facts.forget(mark)
        self._restore(behind)
        is_better = len(self.open) - num_open < 2 * len(still_open)
        self.open[num_open:] = still_open
        return [If(tested(conditions), [fast], slow)] if is_better else slow

    def chunk(self, s: ParallelFor) -> ParallelFor:
        """Iterations ``lo`` to ``hi`` of a parallel loop: they lie within its extent."""
        before, mark, extent = self._state(), self.facts.mark(), self.values.read(s.extent)
        low, high = (self.values.new_atom() for _ in range(2))
        self.values.of.update(lo=low, hi=high)
        self.facts.add(low)
        if isinstance(extent, Polynomial) and self.facts.is_exact(extent):
            self.facts.add(extent - high)
        body = self.block(s.body)
        self.facts.forget(mark)
        self._restore(before)
        return replace(s, body=body)

    def conditional(self, s: While) -> While:
        """A loop with a condition, which holds in its body."""
        head: list[Stmt] = []

        def test() -> Condition:
            head[:] = self.block(s.head)
            return self.values.condition(s.condition)

        def body() -> list[Stmt]:
            self.facts.assume(test())
            return self.block(s.body)

        new = self._carried(s, body, test)
        return replace(s, head=head, body=new)

    def _carried(
        self,
        s: For | While,
        body: Callable[[], list[Stmt]],
        test: Callable[[], Condition] = lambda: Opaque(),
    ) -> list[Stmt]:
        """The body, with bounds of what the loop carries; they hold after the loop too."""
        entry, num_open = self._state(), len(self.open)
        may_version, asked = self.may_version, self.asked
        cells = cells_of((s,), self.values.cells) - {s.var if isinstance(s, For) else ""}
        self.may_version = False
        bounds: dict[str, list[Bound]] = {}
        if self.may_visit > 0 and any(map(is_work, flat((s,)))):
            ends = dict.fromkeys(m - 1 for inner in flat((s,)) for m in moduli(inner))
            bounds = self._bounds_at_entry(entry, cells, test, list(ends))
        for rounds in range(ROUNDS, -1, -1):
            self.asked = [*dict.fromkeys((*asked, *itertools.chain(*bounds.values())))]
            may_try = rounds and bounds and self.may_visit > 0
            kept = self._kept(entry, cells, bounds, body) if may_try else {}
            is_stable, bounds = kept == bounds, kept
            if is_stable:
                break
        del self.open[num_open:]
        self.may_version = may_version
        mark = self.facts.mark()
        self._enter(entry, cells, bounds)
        new = body()
        self.facts.forget(mark)
        self.asked = asked
        self._enter(entry, cells, bounds)
        return new

    def _bounds_at_entry(
        self,
        entry: _State,
        cells: frozenset[str],
        test: Callable[[], Condition],
        ends: Sequence[int],
    ) -> dict[str, list[Bound]]:
        """Bounds of integers that hold before a loop and may hold in it.

        Where an integer starts, 0, -1, what the loop's condition compares it with, and ``ends``.
        """
        mark, newest = self.facts.mark(), self.facts.newest
        atoms = self._enter(entry, cells, {})
        distances = list(_distances(test()))
        self.facts.forget(mark)
        self._restore(entry)
        found: dict[str, list[Bound]] = {}
        for name, atom in atoms.items():
            start = self.values.of[name]
            if not isinstance(start, Polynomial) or not self.facts.is_bounded(start):
                continue
            tried = [(1, start), (1, Polynomial.const(0)), (1, Polynomial.const(-1)), (-1, start)]
            tried += [(-1, Polynomial.const(last)) for last in ends]
            for distance in distances:
                (variable,) = atom.names()
                sign = distance.coefficient(variable).as_constant()
                end = -(distance - atom * (sign or 0)) * (sign or 0)
                if sign in (1, -1) and all(self.facts.rank(n) <= newest for n in end.names()):
                    tried += [(sign, end), (sign, end - sign)]
            held = [b for b in tried if self.facts.proves((start - b[1]) * b[0])]
            found[name] = [*dict.fromkeys(held)]
        return {name: own for name, own in found.items() if own}

    def _enter(
        self, entry: _State, cells: frozenset[str], bounds: Mapping[str, list[Bound]]
    ) -> dict[str, Polynomial]:
        """What the loop changes is unknown, but for its bounds."""
        self._restore(entry)
        atoms = {}
        for name in sorted(cells):
            if not isinstance(self.values.of.get(name), Polynomial):
                self.values.of.pop(name, None)
                continue
            atom = self.values.of[name] = atoms[name] = self.values.new_atom()
            for sign, bound in bounds.get(name, ()):
                self.facts.add((atom - bound) * sign)
        return atoms

    def _kept(
        self,
        entry: _State,
        cells: frozenset[str],
        bounds: Mapping[str, list[Bound]],
        body: Callable[[], list[Stmt]],
    ) -> dict[str, list[Bound]]:
        """The bounds that one iteration keeps if all of them hold before it."""
        mark = self.facts.mark()
        starts = self._enter(entry, cells, bounds)
        body()
        kept: dict[str, list[Bound]] = {}
        for name, own in bounds.items():
            end = self.values.of.get(name)
            if not isinstance(end, Polynomial):
                continue
            moved = (end - starts[name]).as_constant()
            if (moved is not None and abs(moved) <= STEP) or self.facts.is_exact(end):
                kept[name] = [b for b in own if self.facts.proves((end - b[1]) * b[0])]
        self.facts.forget(mark)
        return {name: own for name, own in kept.items() if own}

    # -- places ----------------------------------------------------------------------------------
    def _state(self) -> _State:
        return dict(self.values.of), dict(self.values.made)

    def _restore(self, state: _State) -> None:
        self.values.of, self.values.made = dict(state[0]), dict(state[1])


def _distances(condition: Condition) -> Iterator[Polynomial]:
    """What is not negative where a condition holds."""
    if isinstance(condition, And):
        yield from _distances(condition.first)
        yield from _distances(condition.second)
    elif isinstance(condition, NonNegative):
        yield condition.left - condition.right
    elif isinstance(condition, Not) and isinstance(condition.of, NonNegative):
        yield condition.of.right - condition.of.left - 1
