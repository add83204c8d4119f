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

from fusejit.syntax import children, walk

Names = frozenset[str]
State = Names | None  # what is bound; None where nothing arrives

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def sure_names(node: ast.AST) -> Names:
    """The names that every function in ``node`` binds before it reads them."""
    assigned: set[str] = set()
    unsure: set[str] = set()
    for inner in walk(node):
        if isinstance(inner, ast.FunctionDef):
            flow = Flow()
            arguments = inner.args
            named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            named += [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
            flow.block(inner.body, frozenset(a.arg for a in named))
            assigned |= flow.assigned
            unsure |= flow.unsure
    return frozenset(assigned - unsure)


class Flow:
    """The walk through one function."""

    def __init__(self) -> None:
        self.assigned: set[str] = set()
        self.read: set[str] = set()  # before they had a value, or perhaps
        self.refused: set[str] = set()  # names that others may bind or unbind
        self.breaks: list[list[Names]] = []

    @property
    def unsure(self) -> set[str]:
        """Names that may be read without a value."""
        return self.read | self.refused

    def block(self, body: Sequence[ast.stmt], state: State) -> State:
        """What is bound behind some statements."""
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
                state = self.expression(node.iter, state)
                return self.loop(node, state, self.bound(node.target, state), state)
            case ast.While():
                state = self.expression(node.test, state)
                is_endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
                return self.loop(node, state, state, None if is_endless else state)
            case ast.Break():
                self.breaks[-1].append(state)
                return None
            case ast.Continue():
                return None
            case ast.Return():
                self.expression(node.value, state)
                return None
            case ast.Raise():
                self.expressions([e for e in (node.exc, node.cause) if e is not None], state)
                return None
            case ast.Assign():
                state = self.expression(node.value, state)
                for target in node.targets:
                    state = self.bound(target, state)
                return state
            case ast.AnnAssign():
                state = self.expression(node.value, state)
                return state if node.value is None else self.bound(node.target, state)
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
            behind = _joined(behind, state)
        return behind

    def other(self, node: ast.stmt, state: Names) -> State:
        """Statements that are not followed: what they bind is unsure."""
        for inner in walk(node):
            if isinstance(inner, ast.Name):
                self.assigned.add(inner.id)
                self.refused.add(inner.id)
            elif isinstance(inner, ast.Global | ast.Nonlocal):
                self.refused.update(inner.names)
        name = getattr(node, "name", None)
        return state | {name} if isinstance(node, ast.FunctionDef) and name else state

    # -- expressions ------------------------------------------------------------------------------
    def expression(self, node: ast.expr | None, state: Names) -> Names:
        """Read an expression; what its ``:=`` bind, where they are always reached."""
        if node is None:
            return state
        if isinstance(node, ast.BoolOp):
            state = self.expression(node.values[0], state)
            self.expressions(node.values[1:], state)
            return state
        if isinstance(node, ast.IfExp):
            state = self.expression(node.test, state)
            self.expressions([node.body, node.orelse], state)
            return state
        if isinstance(node, ast.NamedExpr):
            return self.bound(node.target, self.expression(node.value, state))
        if isinstance(node, ast.Lambda):
            state = self.expressions(evaluated_at_once(node), state)
        elif isinstance(node, _COMPREHENSIONS):
            state = self.expression(node.generators[0].iter, state)
        if isinstance(node, _FUNCTIONS + _COMPREHENSIONS):
            own = {n.id for n in walk(node) if isinstance(n, ast.Name) and _is_store(n)}
            own |= {n.arg for n in walk(node) if isinstance(n, ast.arg)}
            self.refused |= {n.target.id for n in walk(node) if isinstance(n, ast.NamedExpr)}
            self.loads(node, state | own)
            return state
        if isinstance(node, ast.Name):
            self.loads(node, state)
            return state
        return self.expressions(children(node), state)

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
        """What is bound behind a target."""
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


def evaluated_at_once(node: ast.Lambda | ast.GeneratorExp) -> list[ast.expr]:
    """What is evaluated where a function or generator is made: not in its own scope."""
    if isinstance(node, ast.GeneratorExp):
        return [node.generators[0].iter]
    return [d for d in (*node.args.defaults, *node.args.kw_defaults) if d is not None]


def _is_store(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _joined(left: State, right: State) -> State:
    if left is None or right is None:
        return right if left is None else left
    return left & right
