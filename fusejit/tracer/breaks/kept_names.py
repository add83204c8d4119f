"""What becomes of an exception that leaves a segment: frames are cut, and names kept.

Each call of a segment cuts fusejit's frames from the traceback (see `fusejit.support.tracebacks`)::

    try:
        a = segments.s1(x)
    except BaseException as part1:
        segments.strip_segment_calls(part1)
        raise

In a ``try``, and in a ``with``, whose context may end an exception, a handler finds what was bound
before the statement that failed: NumPy has run it, in a frame that the traceback holds::

    try:
        a, b = segments.s2(x)
    except BaseException as part1:
        part2 = segments.bound(part1, "s2")     # the names of that frame
        if "a" in part2: a = part2["a"]
        if "b" in part2: b = part2["b"]
        segments.strip_segment_calls(part1)
        raise
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from fusejit.support.syntax import walk
from fusejit.tracer.source.live_names import mentioned, needed
from fusejit.tracer.source.new_statements import statement_of


def handled(
    call: ast.stmt,
    helper: str,
    fresh: Callable[[], str],
    kept: tuple[str, Sequence[str]] | None = None,
    *,
    strips: bool,
) -> ast.stmt:
    """The call of a segment with a handler for what it raises.

    Parameters
    ----------
    call : ast.stmt
        The statement that calls it.
    helper : str
        The name under which the split function finds its segments.
    fresh : callable
        Makes a name that the function does not use.
    kept : tuple of (str, sequence of str), optional
        The segment's name and the names that it binds and that are read later.
    strips : bool
        Whether frames are cut.
    """
    error, lines = fresh(), []
    if kept is not None:
        (name, outputs), found = kept, fresh()
        lines = [f"{found} = {helper}.bound({error}, {name!r})"]
        lines += [f"if {n!r} in {found}: {n} = {found}[{n!r}]" for n in outputs]
    if strips:
        lines.append(f"{helper}.strip_segment_calls({error})")
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
