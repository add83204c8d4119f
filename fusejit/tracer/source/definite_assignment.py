"""Which names of a function have a value wherever they are read, whatever way leads there.

::

    for i in range(n):
        if x[i] > limit:
            found = i           # found is bound at every ``break``,
            break
    else:
        found = -1              # and where the loop ends by itself:
    return found                # so it always has a value here

Such a name may be given any number where a branch leaves it unbound: nothing reads that. Source:
the definite assignment of the Java Language Specification, chapter 16.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from fusejit.support.syntax import children, walk
from fusejit.tracer.source.bound_names import (
    COMPREHENSIONS,
    Comprehension,
    assigned,
    evaluated_at_once,
    free_names,
    is_declaration,
    own_name,
    parameters_of,
    unbound,
)

Names = frozenset[str]
State = Names | None  # what is bound; None where nothing arrives

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def definitely_assigned_names(node: ast.AST) -> Names:
    """The names that every function in ``node`` binds before it reads them."""
    assigned: set[str] = set()
    possibly_unbound: set[str] = set()
    for inner in walk(node):
        if isinstance(inner, ast.FunctionDef):
            flow = Flow()
            flow.block(inner.body, frozenset(a.arg for a in parameters_of(inner)))
            assigned |= flow.assigned
            possibly_unbound |= flow.possibly_unbound | unbound([inner])
    return frozenset(assigned - possibly_unbound)


class Flow:
    """The walk through one function."""

    def __init__(self) -> None:
        self.assigned: set[str] = set()
        self.read: set[str] = set()  # before they had a value, or perhaps
        self.refused: set[str] = set()  # names that others may bind or unbind
        self.breaks: list[list[Names]] = []

    @property
    def possibly_unbound(self) -> set[str]:
        """Names that may be read without a value."""
        return self.read | self.refused

    def block(self, body: Sequence[ast.stmt], state: State) -> State:
        """What is bound after some statements."""
        for statement in body:
            if state is None:
                return None  # never reached
            state = self.statement(statement, state)
        return state

    def statement(self, node: ast.stmt, state: Names) -> State:
        match node:
            case ast.If():
                state = self.expression(node.test, state)
                return _joined(self.block(node.body, state), self.block(node.orelse, state))
            case ast.For():
                state = self.expression(node.iter, state) - unbound([node])
                return self.loop(node, state, self.bound(node.target, state), state)
            case ast.While():
                state = self.expression(node.test, state - unbound([node]))
                is_endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
                return self.loop(node, state, state, None if is_endless else state)
            case ast.Break():
                self.breaks[-1].append(state)
                return None
            case ast.Continue():
                return None
            case ast.Return() | ast.Raise():
                self.expressions(children(node), state)
                return None
            case ast.Assign():
                state = self.expression(node.value, state)
                for target in node.targets:
                    state = self.bound(target, state)
                return state
            case ast.AnnAssign():
                state = self.expression(node.value, state)
                return state if is_declaration(node) else self.bound(node.target, state)
            case ast.AugAssign():
                self.loads(node.target, state)
                return self.bound(node.target, self.expression(node.value, state))
            case ast.Expr():
                return self.expression(node.value, state)
            case ast.Assert():
                state = self.expression(node.test, state)
                self.expression(node.msg, state)
                return state
            case ast.With():
                for item in node.items:
                    state = self.expression(item.context_expr, state)
                    if item.optional_vars is not None:
                        state = self.bound(item.optional_vars, state)
                return self.block(node.body, state)
            case ast.Match():
                return self.match(node, self.expression(node.subject, state))
            case ast.Delete():
                for deleted in node.targets:
                    self.loads(deleted, state)
                    self.assigned |= unbound([deleted])
                return state - unbound([node])
            case ast.Import() | ast.ImportFrom():
                self.assigned |= own_name(node)
                return state | own_name(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self.assigned |= own_name(node)
                return self.scope(node, state) | own_name(node)
            case ast.Pass():
                return state
        return self.other(node, state)

    def loop(self, node: ast.For | ast.While, around: Names, inside: Names, ended: State) -> State:
        """A loop: its body starts with what was bound before it, in every iteration."""
        self.breaks.append([])
        self.block(node.body, inside)
        breaks = self.breaks.pop()
        behind = self.block(node.orelse, ended)
        for state in breaks:
            behind = _joined(behind, state - unbound([node]))
        return behind

    def match(self, node: ast.Match, state: Names) -> State:
        """A ``match``: a pattern that fails may have bound some of its names, or none."""
        behind: State = None
        is_complete = False
        for case in node.cases:
            self.expressions(_read_by(case.pattern), state)
            names = assigned([case.pattern])
            self.assigned |= names
            inside = self.expression(case.guard, state | names)
            behind = _joined(behind, self.block(case.body, inside))
            is_complete |= case.guard is None and _always_matches(case.pattern)
        return behind if is_complete else _joined(behind, state)

    def other(self, node: ast.stmt, state: Names) -> State:
        """Statements that are not followed: what they bind is possibly unbound."""
        names = assigned([node])
        names |= {inner.id for inner in walk(node) if isinstance(inner, ast.Name)}
        self.assigned |= names
        self.refused |= names
        for inner in walk(node):
            if isinstance(inner, ast.Global | ast.Nonlocal):
                self.refused.update(inner.names)
        return state

    # -- expressions ------------------------------------------------------------------------------
    def expression(self, node: ast.expr | None, state: Names) -> Names:
        """Read an expression; what its ``:=`` bind, where they are always reached."""
        if node is None:
            return state
        match node:
            case ast.BoolOp():
                state = self.expression(node.values[0], state)
                self.expressions(node.values[1:], state)
                return state
            case ast.Compare():
                state = self.expressions([node.left, node.comparators[0]], state)
                self.expressions(node.comparators[1:], state)
                return state
            case ast.IfExp():
                state = self.expression(node.test, state)
                return self.expression(node.body, state) & self.expression(node.orelse, state)
            case ast.NamedExpr():
                return self.bound(node.target, self.expression(node.value, state))
            case ast.Lambda():
                return self.scope(node, state)
            case ast.Name():
                self.loads(node, state)
                return state
        if isinstance(node, COMPREHENSIONS):
            return self.comprehension(node, state)
        return self.expressions(children(node), state)

    def scope(self, node: _Definition | ast.Lambda, state: Names) -> Names:
        """A function or class: whatever it reads may be read at once."""
        state = self.expressions(evaluated_at_once(node), state)
        self.read |= free_names(node) - state - own_name(node)
        for inner in walk(node):
            if isinstance(inner, ast.Nonlocal):
                self.refused.update(inner.names)
        return state

    def comprehension(self, node: Comprehension, state: Names) -> Names:
        """A comprehension: its ``:=`` bind in the block around it, if there are items."""
        state = inside = self.expression(node.generators[0].iter, state)
        for position, generator in enumerate(node.generators):
            if position:
                inside = self.expression(generator.iter, inside)
            self.expressions(_read_by(generator.target), inside)
            inside = self.expressions(generator.ifs, inside | assigned([generator.target]))
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self.expressions(results, inside)
        return state

    def expressions(self, nodes: Iterable[ast.AST], state: Names) -> Names:
        for node in nodes:
            if isinstance(node, ast.expr):
                state = self.expression(node, state)
            else:
                state = self.expressions(children(node), state)
        return state

    def loads(self, node: ast.AST, state: Names) -> None:
        """Names that are read."""
        self.read |= {n.id for n in walk(node) if isinstance(n, ast.Name)} - state

    def bound(self, target: ast.expr, state: Names) -> Names:
        """What is bound after a target."""
        if isinstance(target, ast.Name):
            self.assigned.add(target.id)
            return state | {target.id}
        if isinstance(target, ast.Tuple | ast.List):
            for item in target.elts:
                state = self.bound(item, state)
            return state
        if isinstance(target, ast.Starred):
            return self.bound(target.value, state)
        return self.expression(target, state)


def _read_by(node: ast.AST) -> list[ast.Name]:
    """The names that a target or pattern reads: ``a`` in ``a[0]``, ``E`` in ``case E.x``."""
    return [n for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]


def _always_matches(pattern: ast.pattern) -> bool:
    """Whether a pattern matches whatever it is given: ``_``, ``x``, ``1 | x``."""
    if isinstance(pattern, ast.MatchOr):
        return any(map(_always_matches, pattern.patterns))
    if isinstance(pattern, ast.MatchAs):
        return pattern.pattern is None or _always_matches(pattern.pattern)
    return False


def _joined(left: State, right: State) -> State:
    if left is None or right is None:
        return right if left is None else left
    return left & right
