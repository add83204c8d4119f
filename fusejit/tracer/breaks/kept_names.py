"""What names hold after a segment that raises: a handler, say, reads them.

In a ``try``, and in a ``with``, whose context may end an exception, a handler finds what was bound
before the statement that failed: NumPy has run it, in a frame that the traceback holds::

    try:
        a, b = segments.s2(x)
    except BaseException as part1:
        part2 = segments.bound(part1, "s2")     # the names of that frame
        if "a" in part2: a = part2["a"]
        if "b" in part2: b = part2["b"]
        raise
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from fusejit.syntax import walk
from fusejit.tracer.source.live_names import mentioned, needed
from fusejit.tracer.source.new_statements import statement_of


def keeping(
    call: ast.stmt,
    outputs: Sequence[str],
    segment: tuple[str, str],
    fresh: Callable[[], str],
) -> ast.stmt:
    """The call of a segment that, where it raises, leaves the names that it has bound.

    Parameters
    ----------
    call : ast.stmt
        The statement that calls it.
    outputs : sequence of str
        The names that it binds and that are read later.
    segment : tuple of (str, str)
        The name under which the split function finds its segments, and that of this one.
    fresh : callable
        Makes a name that the function does not use.
    """
    error, found = fresh(), fresh()
    helper, name = segment
    lines = [f"{found} = {helper}.bound({error}, {name!r})"]
    lines += [f"if {n!r} in {found}: {n} = {found}[{n!r}]" for n in outputs]
    text = "try: pass\nexcept BaseException as " + "\n ".join([f"{error}:", *lines, "raise"])
    made: ast.Try = statement_of(text, call)
    made.body = [call]
    return made


def read_on_failure(node: ast.stmt) -> set[str]:
    """What the other blocks of a statement may read when one of them fails."""
    if not isinstance(node, ast.Try):
        return set()
    types = [mentioned(h.type) for h in node.handlers if h.type is not None]
    others = [node.orelse, node.finalbody, *(h.body for h in node.handlers)]
    return set().union(*types, *map(needed, others))


def binds_at_its_end(run: Sequence[ast.stmt]) -> bool:
    """Whether statements bind nothing before all that may fail is done: ``y = np.sqrt(x)``."""
    if any(isinstance(n, ast.NamedExpr) for s in run for n in walk(s)):
        return False
    match run:
        case [ast.Assign(targets=[ast.Name()])] | [ast.AugAssign()] | [ast.AnnAssign()]:
            return True
        case [ast.Expr() | ast.Assert() | ast.Raise()]:
            return True
    return False
