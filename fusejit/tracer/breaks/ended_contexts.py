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
from collections.abc import Callable, Sequence

from fusejit.support.syntax import walk
from fusejit.tracer.breaks.python_statements import blocks
from fusejit.tracer.source.live_names import is_context
from fusejit.tracer.source.new_statements import statement_of


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
        made: ast.If = statement_of(f"if {self._name} == {self.depth}: pass", at)
        made.body, made.orelse = segment, instead
        return made

    def counted(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The body of the function with the counter in it, if something asks for it."""
        if self._name is None or not body:
            return body
        return [statement_of(f"{self._name} = 0", body[0]), *self._block(body, 0)]

    def _block(self, body: Sequence[ast.stmt], inside: int) -> list[ast.stmt]:
        """A block; ``inside`` tells how many contexts a jump out of the loop leaves."""
        made: list[ast.stmt] = []
        for node in body:
            if isinstance(node, ast.Break | ast.Continue) and inside:
                made.append(self._step("-", inside, node))
            made.append(node)
            is_loop = isinstance(node, ast.For | ast.While)
            is_counted = is_context(node)
            inner = (n for n in walk(node) if isinstance(n, ast.With))
            if isinstance(node, ast.Try) and any(map(is_context, inner)):
                made.insert(-1, self._kept(node))
            for name, block in blocks(node):
                leaves = 0 if is_loop and name == "body" else inside + is_counted
                block[:] = self._block(block, leaves)
            if isinstance(node, ast.With) and is_counted:
                node.body.insert(0, self._step("+", 1, node.body[0]))
                node.body.append(self._step("-", 1, node.body[-1]))
        return made

    def _kept(self, node: ast.Try) -> ast.stmt:
        """What keeps the counter before a ``try``: its handlers start with that."""
        kept = self._fresh()
        for handler in node.handlers:
            handler.body.insert(0, statement_of(f"{self._name} = {kept}", handler.body[0]))
        keep: ast.stmt = statement_of(f"{kept} = {self._name}", node)
        return keep

    def _step(self, sign: str, number: int, at: ast.stmt) -> ast.stmt:
        made: ast.stmt = statement_of(f"{self._name} {sign}= {number}", at)
        return made
