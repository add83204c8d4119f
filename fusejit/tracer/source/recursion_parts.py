"""The parts of a recursion that is cut into blocks: see `fusejit.tracer.source.recursion`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from fusejit.dataclass import dataclass, field
from fusejit.support.syntax import children, walk

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
LAZY = (*SCOPES, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr)
UNKNOWN = (
    *(ast.Yield, ast.YieldFrom, ast.Await, ast.Try, ast.With, ast.Match),
    *(ast.Global, ast.Delete, ast.Import, ast.ImportFrom),
)


class NotALoop(Exception):
    """A form of recursion that has no loop here."""


@dataclass(eq=False)
class Block:
    """Statements that run to their end, the last of which says which block comes next.

    Attributes
    ----------
    body : list of ast.stmt
    following : list of Block
        What may come next, in the same call of the function.
    returns_to : Block or None
        Where the function goes on after the call that the block ends with.
    arguments : list of ast.expr
        Of that call, one for each parameter that changes.
    at : ast.AST or None
        The call.
    """

    number: int
    body: list[ast.stmt] = field(default_factory=list)
    following: list[Block] = field(default_factory=list)
    returns_to: Block | None = None
    arguments: list[ast.expr] = field(default_factory=list)
    at: ast.AST | None = None


def stored_names(body: Sequence[ast.AST]) -> set[str]:
    """The names that statements bind in the function: not those of comprehensions and others."""
    pending: list[ast.AST] = [*body]
    found: set[str] = set()
    shared: set[str] = set()
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.Nonlocal):
            shared |= {*node.names}
        elif not isinstance(node, LAZY):
            pending += children(node)
    return found - shared


def is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return all(map(is_literal, node.elts))
    if isinstance(node, ast.UnaryOp):
        return is_literal(node.operand)
    return isinstance(node, ast.Constant)


def operands_of(node: ast.AST) -> Iterable[tuple[str, int | None, ast.expr]]:
    """The operands of an expression in the order in which Python evaluates them."""
    for name in node._fields:
        value = getattr(node, name)
        if isinstance(value, ast.keyword):
            raise NotALoop
        if isinstance(value, ast.expr):
            yield name, None, value
        elif isinstance(value, list):
            for k, one in enumerate(value):
                if isinstance(one, ast.keyword):
                    if any(isinstance(n, ast.Call) for n in walk(one)):
                        raise NotALoop
                elif isinstance(one, ast.expr):
                    yield name, k, one


def is_looking(function: ast.expr) -> bool:
    """Whether a function is one that looks at what it is given."""
    return isinstance(function, ast.Name) and function.id in ("len", "sum", "min", "max", "print")
