"""Which statements of a function Python runs, and what can be computed before each.

The statement at which a trace ended is Python's, and so is whatever reads names that only Python
can handle, assigns global names, or is of a kind that is not followed. Parts of it that are not are
taken out of it (`fusejit.tracer.breaks.hoisting`). A compound statement that holds it is
opened: Python runs it, and the statements in its blocks are looked at one by one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from enum import Enum

from fusejit.support.syntax import children, copied, walk
from fusejit.tracer.breaks.hoisting import Hoist, is_idle, is_trivial
from fusejit.tracer.source.bound_names import assigned
from fusejit.tracer.source.live_names import is_context, mentioned, named_in_texts

Position = tuple[int, int]

SIMPLE = (
    ast.Assign,
    ast.AnnAssign,
    ast.AugAssign,
    ast.Expr,
    ast.Assert,
    ast.Pass,
    ast.Raise,
    ast.Return,
    ast.Break,
    ast.Continue,
)
COMPOUND = (ast.If, ast.For, ast.While, ast.With, ast.Try)
_JUMPS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_FOLLOWED = (*SIMPLE, ast.If, ast.For, ast.While, ast.With)


class Follow(Enum):
    """Which of what Python makes of objects that no kernel is given is compiled again."""

    NOTHING = "nothing"
    CONVERSIONS = "what is asked for in another dtype or shape: x.astype(np.float32)"
    EVERYTHING = "all of it, as it may be of another kind"


class PythonStatements:
    """The statements of one function that Python runs.

    Parameters
    ----------
    position : tuple of (int, int) or None
        Line and column of the expression at which the trace ended.
    names : frozenset of str
        Names that only Python can handle.
    called : str
        A function or method that only Python calls, if not empty.
    declared : set of str
        Names that the function declares global or nonlocal.
    hoist : Hoist
        Takes parts out of statements.
    follow : Follow
        Which of what Python makes of what the names stand for is compiled again.

    Attributes
    ----------
    native : set of ast.stmt
        Simple statements, and those that are not followed.
    opened : set of ast.stmt
        Compound statements whose blocks are cut.
    heads : set of ast.stmt
        Of the opened ones those whose condition, iterable or context Python evaluates.
    """

    def __init__(
        self,
        position: Position | None,
        names: frozenset[str],
        called: str,
        declared: set[str],
        hoist: Hoist,
        follow: Follow = Follow.NOTHING,
    ) -> None:
        self.native: set[ast.stmt] = set()
        self.opened: set[ast.stmt] = set()
        self.heads: set[ast.stmt] = set()
        self._position = position
        self._names = names
        self._called = called
        self._declared = declared
        self._hoist = hoist
        self._follow = follow
        self._found = False
        self._choices: set[ast.stmt] = set()  # that no kernel can make, loops that it does not run

    def lines(self) -> list[int]:
        """Where Python does more than move values."""
        found = self.native | self.heads | self._choices
        return sorted({s.lineno for s in found if not is_idle(s)})

    def marked(self, block: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements with parts taken out, but those never reached; fills the three sets."""
        made: list[ast.stmt] = []
        for statement in block:
            made += self._marked(statement)
            if isinstance(statement, _JUMPS):
                break
        return made

    def _marked(self, node: ast.stmt) -> list[ast.stmt]:
        is_here = not self._found and self._is_at(node)
        python_is_faster = self._is_pythons(node)
        if not is_here and not python_is_faster and is_followed(node):
            return [node]
        if not isinstance(node, COMPOUND):
            choice = _as_conditional(node) if is_here else None
            if choice is None:
                self._found |= is_here
                return self._split(node)
            node = choice
        self.opened.add(node)
        is_itself = self._position == _start(node) and isinstance(
            node, ast.If | ast.For | ast.While
        )
        if is_here and is_itself:
            self._found = True
            self._choices.add(node)
        before: list[ast.stmt] = []
        if isinstance(node, ast.If | ast.For | ast.While):
            head = node.iter if isinstance(node, ast.For) else node.test
            if (is_here and self._is_at(head)) or self._reads_python(head):
                self._found |= is_here
                self.heads.add(node)
                if not isinstance(node, ast.While):
                    before = self._parts_marked(self._hoist.parts(head))
        elif isinstance(node, ast.With):
            self._found |= is_here and any(map(self._is_at, node.items))
            if is_context(node):
                self.heads.add(node)
        for _, block in blocks(node):
            block[:] = self.marked(block)
        return [*before, node]

    def _split(self, node: ast.stmt) -> list[ast.stmt]:
        """A statement of Python after what can be computed before it.

        Where the trace ended in one of these parts, that part is split, and the rest is compiled.
        """
        is_whole = self._follow is not Follow.NOTHING and self._is_reached(
            getattr(node, "value", None)
        )
        if not isinstance(node, SIMPLE) or node in self._hoist.moved or is_whole:
            self.native.add(node)
            return [node]
        parts, node = self._hoist.statement(node)
        python_is_faster = self._is_pythons(node)
        if python_is_faster or not any(
            self._is_cause(p) for p in parts if p not in self._hoist.moved
        ):
            self.native.add(node)
        return [*self._parts_marked(parts), node]

    def _is_cause(self, part: ast.stmt) -> bool:
        """Whether it is a part of a statement that makes the whole of it Python's."""
        if self._is_at(part):
            return True
        if self._follow is Follow.CONVERSIONS and not _is_conversion(getattr(part, "value", None)):
            return False
        return self._follow is not Follow.NOTHING and self._reads_python(part)

    def _is_reached(self, node: ast.AST | None) -> bool:
        """Whether an expression is what a name of Python's leads to: ``df["a"].to_numpy()``."""
        while True:
            match node:
                case ast.Attribute() | ast.Subscript(slice=ast.Constant() | ast.Name()):
                    node = node.value
                case ast.Call() if all(map(is_trivial, (*node.args, *node.keywords))):
                    node = node.func
                case ast.Name():
                    return node.id in self._names
                case _:
                    return False

    def _parts_marked(self, parts: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The part at which the trace ended, and those that only Python can handle, are split."""
        made: list[ast.stmt] = []
        for part in parts:
            is_split = part in self._hoist.moved or self._reads_python(part) or self._is_at(part)
            made += self._split(part) if is_split else [part]
        return made

    def _is_at(self, node: ast.AST) -> bool:
        """Whether the trace ended in an expression or statement."""
        if isinstance(node, ast.withitem):
            return self._is_at(node.context_expr)
        if self._position is None or not isinstance(node, ast.expr | ast.stmt):
            return False
        decorators = getattr(node, "decorator_list", ())
        first = min([(n.lineno, n.col_offset) for n in (node, *decorators)])
        last = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return first <= self._position < last

    def _is_pythons(self, node: ast.stmt) -> bool:
        return self._reads_python(node) or bool(self._declared & assigned([node]))

    def _reads_python(self, node: ast.AST) -> bool:
        if self._called and any(_called_name(n) == self._called for n in walk(node)):
            return True
        texts = named_in_texts([node], self._names) if self._names else set()
        return bool(self._names & mentioned(node)) or bool(texts)


def _is_conversion(node: ast.AST | None) -> bool:
    """Whether an expression asks for an array in another dtype or shape."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in ("astype", "view", "reshape", "ravel", "squeeze", "asarray", "array")
    return False


def _called_name(node: ast.AST) -> str | None:
    """The last name of what an expression calls."""
    match node:
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name
    return None


def _start(node: ast.AST) -> Position:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _as_conditional(node: ast.stmt) -> ast.If | None:
    """``y = a if c else b`` as a statement with two branches."""
    if not isinstance(node, ast.Assign | ast.Return) or not isinstance(node.value, ast.IfExp):
        return None
    chosen = node.value
    branches: list[list[ast.stmt]] = []
    for value in (chosen.body, chosen.orelse):
        made = copied(node)
        made.value = value
        branches.append([ast.copy_location(made, value)])
    whole = ast.If(test=chosen.test, body=branches[0], orelse=branches[1])
    return ast.copy_location(whole, chosen)


def is_followed(node: ast.stmt) -> bool:
    """Whether a statement, with all that stand in it, may be compiled."""
    if "super" in mentioned(node):  # reads the frame of the method itself
        return False
    statements = [n for n in walk(node) if isinstance(n, ast.stmt)]
    if any(isinstance(n, ast.Raise) and n.exc is None for n in statements):
        return False  # what it raises has the frames of the first time, not the one it runs in
    return all(isinstance(n, _FOLLOWED) and not is_context(n) for n in statements)


def blocks(node: ast.stmt) -> Iterator[tuple[str, list[ast.stmt]]]:
    """The blocks of a compound statement of the function itself, with their names."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if block:
            yield name, block
    for inner in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield "body", inner.body


def declared_names(body: Sequence[ast.stmt]) -> set[str]:
    """Names of the function that it declares to be somebody else's."""
    found: set[str] = set()
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Global | ast.Nonlocal):
            found.update(node.names)
        elif not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            pending += children(node)
    return found
