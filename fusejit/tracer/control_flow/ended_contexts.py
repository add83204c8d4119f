"""Whether a ``with`` has ended an exception: what it binds may then be unbound after it.

::

    with timer():                  with timer():
        y = np.exp(x)                  part0 += 1
                                       y = segments.s0(x)
                                       part0 -= 1
    return y - 1                   if part0 == 0:
                                       return segments.s1(y)
                                   else:
                                       return y - 1        # Python's: y may be unbound

The counter is the number of such statements whose bodies have not come to their ends. It is left
out of a function in which nothing asks for it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from fusejit.syntax import walk
from fusejit.tracer.capture.live_names import is_context

Node = TypeVar("Node", bound=ast.AST)
_BLOCKS = ("body", "orelse", "finalbody")


class EndedContexts:
    """The counter of one split function.

    Parameters
    ----------
    fresh : callable
        Makes a name that the function does not use.
    """

    def __init__(self, fresh: Callable[[], str]) -> None:
        self.depth = 0  # of the statement that is being opened: how many contexts stand around it
        self._fresh = fresh
        self._name: str | None = None

    def choice(self, segment: list[ast.stmt], instead: list[ast.stmt]) -> ast.stmt:
        """The call of a segment, or where a context has ended an exception other statements."""
        at = segment[0]
        self._name = self._name or self._fresh()
        is_open = ast.Compare(
            left=ast.Name(id=self._name, ctx=ast.Load()),
            ops=[ast.Eq()],
            comparators=[ast.Constant(value=self.depth)],
        )
        made = ast.If(test=is_open, body=segment, orelse=instead)
        for node in (made, *walk(is_open)):
            ast.copy_location(node, at)
        return made

    def counted(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The body of the function with the counter in it, if something asks for it."""
        if self._name is None or not body:
            return body
        start = ast.Assign(
            targets=[ast.Name(id=self._name, ctx=ast.Store())], value=ast.Constant(value=0)
        )
        return [_with_location(start, body[0]), *self._block(body, 0)]

    def _block(self, body: Sequence[ast.stmt], inside: int) -> list[ast.stmt]:
        """A block; ``inside`` tells how many contexts a jump out of the loop leaves."""
        made: list[ast.stmt] = []
        for statement in body:
            if isinstance(statement, ast.Break | ast.Continue) and inside:
                made.append(self._step(ast.Sub(), inside, statement))
            made.append(statement)
            is_loop = isinstance(statement, ast.For | ast.While)
            is_counted = is_context(statement)
            if isinstance(statement, ast.Try) and any(map(is_context, _statements(statement))):
                made.insert(-1, self._kept(statement))
            for name, block in _blocks(statement):
                leaves = 0 if is_loop and name == "body" else inside + is_counted
                block[:] = self._block(block, leaves)
            if isinstance(statement, ast.With) and is_counted:
                statement.body.insert(0, self._step(ast.Add(), 1, statement.body[0]))
                statement.body.append(self._step(ast.Sub(), 1, statement.body[-1]))
        return made

    def _kept(self, node: ast.Try) -> ast.stmt:
        """What keeps the counter before a ``try``: its handlers start with that."""
        assert self._name is not None
        kept = self._fresh()
        for handler in node.handlers:
            back = ast.Assign(
                targets=[ast.Name(id=self._name, ctx=ast.Store())],
                value=ast.Name(id=kept, ctx=ast.Load()),
            )
            handler.body.insert(0, _with_location(back, handler.body[0]))
        keep = ast.Assign(
            targets=[ast.Name(id=kept, ctx=ast.Store())],
            value=ast.Name(id=self._name, ctx=ast.Load()),
        )
        return _with_location(keep, node)

    def _step(self, op: ast.operator, number: int, at: ast.stmt) -> ast.stmt:
        assert self._name is not None
        target = ast.Name(id=self._name, ctx=ast.Store())
        return _with_location(
            ast.AugAssign(target=target, op=op, value=ast.Constant(value=number)), at
        )


def _blocks(node: ast.stmt) -> Iterator[tuple[str, list[ast.stmt]]]:
    """The blocks of a compound statement of the function itself, with their names."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    for name in _BLOCKS:
        block = getattr(node, name, None)
        if block:
            yield name, block
    for inner in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield "body", inner.body


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    return (inner for inner in walk(node) if isinstance(inner, ast.stmt))


def _with_location(node: Node, at: ast.AST) -> Node:
    for inner in walk(node):
        ast.copy_location(inner, at)
    return node
