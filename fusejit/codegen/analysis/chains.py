"""Nests read back from statements: loops one inside the other, and what they load and store.

A *chain* is a `ParallelFor` whose body is one loop inside the other, with names given at each depth
and stores in the innermost one, each at an element of its own. `loop_passes.loop_fusion` and
`codegen.loop_passes.temporal_tiling` rewrite chains; every other statement they leave alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd
from typing import TypeGuard

from fusejit.codegen.analysis.rewriting import subexpressions, with_operands
from fusejit.dataclass import dataclass, replace
from fusejit.ir.loops.nodes import (
    Call,
    Element,
    Expr,
    For,
    If,
    Integer,
    Let,
    ParallelFor,
    Parts,
    Pointer,
    Stmt,
    StoreElement,
    Var,
)
from fusejit.ir.loops.polynomial import Polynomial, factor_names

Access = tuple[Pointer, Polynomial]
"""A pointer and an offset from it."""


@dataclass(frozen=True, slots=True)
class Chain:
    """``levels[k]`` stands before ``loops[k]``, ``points`` in the innermost loop."""

    nest: ParallelFor
    levels: tuple[tuple[Let, ...], ...]
    loops: tuple[For, ...]  # their bodies do not count
    points: tuple[Let | StoreElement | If, ...]

    @property
    def variables(self) -> tuple[str, ...]:
        """The loops' names, from the outermost."""
        return tuple(loop.var for loop in self.loops)

    def lets(self) -> Iterator[Let]:
        """Every name that is given, from the outside."""
        for level in self.levels:
            yield from level
        yield from (s for s in self.points if isinstance(s, Let))

    def stores(self) -> Iterator[tuple[StoreElement, Expr | None]]:
        """Every store, with the condition under which it is done."""
        for s in self.points:
            if isinstance(s, StoreElement):
                yield s, None
            elif isinstance(s, If):
                yield from ((t, s.condition) for t in s.body if isinstance(t, StoreElement))

    def expressions(self) -> Iterator[Expr]:
        """Every expression that is evaluated, and those in it."""
        for let in self.lets():
            yield from subexpressions(let.value)
        for s in self.points:
            if isinstance(s, If):
                yield from subexpressions(s.condition)
        for store, _ in self.stores():
            yield from subexpressions(store.value)

    def reads(self) -> Iterator[Access]:
        """Every element that is loaded."""
        return ((e.pointer, e.offset) for e in self.expressions() if isinstance(e, Element))

    def writes(self) -> Iterator[Access]:
        """Every element that is stored to."""
        yield from ((s.pointer, s.offset) for s, _ in self.stores())

    def written(self) -> frozenset[Pointer]:
        """The pointers that are stored to."""
        return frozenset(pointer for pointer, _ in self.writes())

    def with_names(self, names: dict[str, Expr]) -> Chain:
        """The chain with other names for its loops and for some of its numbers."""

        def let(s: Let) -> Let:
            name = names.get(s.name, Var(s.name))
            assert isinstance(name, Var)
            return replace(s, name=name.name, value=renamed(s.value, names))

        def store(s: StoreElement) -> StoreElement:
            offset = renamed_polynomial(s.offset, names)
            return replace(s, offset=offset, value=renamed(s.value, names))

        def point(s: Let | StoreElement | If) -> Let | StoreElement | If:
            if isinstance(s, Let):
                return let(s)
            if isinstance(s, StoreElement):
                return store(s)
            stores = [store(t) for t in s.body if isinstance(t, StoreElement)]
            return replace(s, condition=renamed(s.condition, names), body=stores)

        def loop(s: For) -> For:
            variable = names[s.var]
            assert isinstance(variable, Var)
            lower, upper = renamed(s.lower, names), renamed(s.upper, names)
            return replace(s, var=variable.name, lower=lower, upper=upper)

        levels = tuple(tuple(map(let, level)) for level in self.levels)
        loops, points = tuple(map(loop, self.loops)), tuple(map(point, self.points))
        return Chain(self.nest, levels, loops, points)

    def statement(self) -> ParallelFor:
        """The nest with what the chain holds now."""
        body: list[Stmt] = list(self.points)
        for level, loop in zip(reversed(self.levels), reversed(self.loops), strict=True):
            body = [*level, replace(loop, body=body)]
        return replace(self.nest, body=body)


def chain_of(statement: Stmt) -> Chain | None:
    """The statement as a chain, or None if it has another form."""
    if not isinstance(statement, ParallelFor):
        return None
    levels: list[tuple[Let, ...]] = []
    loops: list[For] = []
    body: Sequence[Stmt] = statement.body
    while body and isinstance(body[-1], For):
        lets = tuple(s for s in body[:-1] if isinstance(s, Let) and not s.rebind)
        loop = body[-1]
        if len(lets) != len(body) - 1 or loop.step != 1:
            return None
        levels.append(lets)
        loops.append(loop)
        body = loop.body
    points = tuple(s for s in body if _is_point(s))
    if not loops or len(points) != len(body):
        return None
    if (loops[0].lower, loops[0].upper) != (Var("lo"), Var("hi")):
        return None
    chain = Chain(statement, tuple(levels), tuple(loops), points)
    variables = chain.variables
    names = [let.name for let in chain.lets()]
    own = {*names, *variables}
    if len(own) != len(names) + len(variables) or "_" in own:
        return None
    if any(isinstance(p, Parts) for p, _ in (*chain.reads(), *chain.writes())):
        return None  # parts of complex numbers, which are elements of another pointer too
    if any(map(reads_memory, chain.expressions())):
        return None
    if not all(o.mentions(v) for _, o in chain.writes() for v in variables):
        return None  # several points would store to one element
    return chain if any(True for _ in chain.writes()) else None


def _is_point(s: Stmt) -> TypeGuard[Let | StoreElement | If]:
    if isinstance(s, If):
        return not s.orelse and all(isinstance(t, StoreElement) for t in s.body)
    return isinstance(s, StoreElement) or (isinstance(s, Let) and not s.rebind)


def reads_memory(expr: Expr) -> bool:
    """Whether an expression is a call that loads elements by itself."""
    return isinstance(expr, Call) and expr.reads_memory


def elements(expr: Expr) -> Iterator[Access]:
    """The elements that an expression loads."""
    return ((e.pointer, e.offset) for e in subexpressions(expr) if isinstance(e, Element))


def are_apart(first: Polynomial, second: Polynomial, variables: Sequence[str]) -> bool:
    """Whether two offsets never meet, whatever the points: 3 * d0 and 3 * d0 + 1 do not.

    Only terms with a loop's name may differ between two points; what is common to their
    coefficients divides every distance that they make.
    """
    distance = (first - second).as_constant()
    if not distance:
        return False
    step = 0
    for names, coefficient in first.terms:
        if any(v in factor_names(factor) for v in variables for factor in names):
            step = gcd(step, coefficient)
    return step > 1 and distance % step != 0


# --------------------------------------------------------------------------------------- renaming
def renamed(expr: Expr, names: dict[str, Expr]) -> Expr:
    """The expression with names replaced: a name inside an offset by another name alone."""
    if isinstance(expr, Var):
        return names.get(expr.name, expr)
    if isinstance(expr, Integer):
        return Integer(renamed_polynomial(expr.value, names))
    if isinstance(expr, Element):
        return Element(expr.pointer, renamed_polynomial(expr.offset, names))
    return with_operands(expr, lambda operand: renamed(operand, names))


def renamed_polynomial(value: Polynomial, names: dict[str, Expr]) -> Polynomial:
    """The polynomial with names replaced, all at once."""
    new = {old: names[old] for old in value.names() if old in names}
    # two steps, so that a new name is not taken for an old one
    for at, old in enumerate(new):
        value = value.substitute(old, Polynomial.name(f"_{at}_"))
    for at, expr in enumerate(new.values()):
        assert isinstance(expr, Var)
        value = value.substitute(f"_{at}_", Polynomial.name(expr.name))
    return value
