"""Names that inner functions rebind: attributes of an object that both functions share.

::

    def outer(n):                       def outer(n):
        count = 0                           shared = shared_names()
        def visit(k):                       shared.count = 0
            nonlocal count                  def visit(k):
            count += k                          shared.count += k
        visit(n)                            visit(n)
        return count                        return shared.count

Both are the same to Python (the cell of a closure is such an object). Loops and conditionals carry
what attributes hold, wherever they are written: see `fusejit.tracer.carried.attributes`.

Source: assignment conversion of compilers for Scheme (Kranz et al., ORBIT, 1986).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from fusejit.support.syntax import children, walk, with_location
from fusejit.tracer.source.bound_names import (
    COMPREHENSIONS,
    FUNCTIONS,
    assigned,
    is_declaration,
    own_name,
    parameters_of,
)

_ASKING = frozenset({"locals", "vars", "dir", "eval", "exec"})


def with_shared_names(node: ast.AST, helper: str) -> None:
    """Make attributes of the names that functions rebind in one around them.

    Parameters
    ----------
    node : ast.AST
        The outermost function; changed in place.
    helper : str
        What the names of callbacks begin with.
    """
    inner = [n for n in walk(node) if isinstance(n, ast.FunctionDef)]
    if not any(isinstance(n, ast.Nonlocal) for n in walk(node)):
        return
    if any(isinstance(n, ast.Name) and n.id in _ASKING for n in walk(node)):
        return
    for k, function in enumerate(reversed(inner)):  # those inside come first
        names = {name for name in _rebound(function) if _may_be_shared(name, function)}
        if names:
            _share(function, names, f"shared names {k}", helper)


def _scopes(function: ast.AST) -> Iterator[ast.AST]:
    """The functions, classes and comprehensions inside a function."""
    for node in walk(function):
        if node is not function and isinstance(node, (*FUNCTIONS, ast.ClassDef, *COMPREHENSIONS)):
            yield node


def _rebound(function: ast.FunctionDef) -> set[str]:
    """The names of a function's own that functions inside it rebind."""
    declared = {name for scope in _scopes(function) for name in _declared(scope, ast.Nonlocal)}
    own = {a.arg for a in parameters_of(function)} | assigned(function.body)
    elsewhere = _declared(function, ast.Nonlocal) | _declared(function, ast.Global)
    return declared & (own - elsewhere)


def _declared(scope: ast.AST, kind: type[ast.Nonlocal] | type[ast.Global]) -> set[str]:
    """The names that a block declares nonlocal or global."""
    pending, found = [*getattr(scope, "body", [])] if _has_block(scope) else [], set()
    while pending:
        node = pending.pop()
        if isinstance(node, kind):
            found |= {*node.names}
        elif not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            pending += children(node)
    return found


def _has_block(scope: ast.AST) -> bool:
    return isinstance(getattr(scope, "body", None), list)


def _may_be_shared(name: str, function: ast.FunctionDef) -> bool:
    """Whether a name means the same all over a function, and plain assignments alone bind it."""
    if name.startswith("__"):
        return False  # which classes mangle
    for scope in _scopes(function):
        is_own = name in {a.arg for a in parameters_of(scope)} | _bound_in(scope)
        if name in _declared(scope, ast.Global):
            return False
        if is_own and name not in _declared(scope, ast.Nonlocal):
            return False
    return not any(_binds_otherwise(node, name) for s in function.body for node in walk(s))


def _bound_in(scope: ast.AST) -> set[str]:
    if isinstance(scope, COMPREHENSIONS):
        return assigned(g.target for g in scope.generators)
    return assigned(getattr(scope, "body")) if _has_block(scope) else set()  # noqa: B009


def _binds_otherwise(node: ast.AST, name: str) -> bool:
    """Whether a statement binds a name as it binds no attribute here, or takes it away."""
    targets: Sequence[ast.AST | None] = ()
    match node:
        case ast.For() | ast.AsyncFor() | ast.NamedExpr():
            targets = [node.target]
        case ast.AnnAssign() if is_declaration(node):
            targets = [node.target]
        case ast.With() | ast.AsyncWith():
            targets = [item.optional_vars for item in node.items]
        case ast.Delete():
            targets = node.targets
    found = (n for target in targets if target is not None for n in walk(target))
    return name in own_name(node) or any(isinstance(n, ast.Name) and n.id == name for n in found)


def _share(function: ast.FunctionDef, names: set[str], holder: str, helper: str) -> None:
    renaming = _Sharing(names, holder)
    first = function.body[0]
    body = [renaming.visit(statement) for statement in function.body]
    made = with_location(ast.Name(f"{helper}.shared_names", ast.Load()), first)
    target = with_location(ast.Name(holder, ast.Store()), first)
    call = with_location(ast.Call(made, [], []), first)
    start: list[ast.stmt] = [with_location(ast.Assign(targets=[target], value=call), first)]
    for name in sorted(names & {a.arg for a in parameters_of(function)}):
        value = with_location(ast.Name(name, ast.Load()), first)
        base = with_location(ast.Name(holder, ast.Load()), first)
        place = with_location(ast.Attribute(base, name, ast.Store()), first)
        start.append(with_location(ast.Assign(targets=[place], value=value), first))
    function.body = [*start, *(s for s in body if s is not None)]


class _Sharing(ast.NodeTransformer):
    """Has names stand for attributes of an object."""

    def __init__(self, names: set[str], holder: str) -> None:
        self._names, self._holder = names, holder

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self._names:
            return node
        base = with_location(ast.Name(self._holder, ast.Load()), node)
        return with_location(ast.Attribute(base, node.id, node.ctx), node)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.stmt:
        node.names = [name for name in node.names if name not in self._names]
        return node if node.names else with_location(ast.Pass(), node)
