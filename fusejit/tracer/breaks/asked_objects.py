"""Functions that ask which of several objects a name holds: what segments hand on are new numbers.

::

    best = start
    for i in range(n):
        if x[i] > best:
            best = limit
    log.append(best)            # Python's
    return best is limit        # not so if a segment has returned best

Whether something is None, True or False is known by its value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from fusejit.support.syntax import walk
from fusejit.tracer.source.bound_names import assigned
from fusejit.tracer.source.live_names import surely_assigned

_SINGLETONS = (None, True, False, ...)
_CHOICES = (ast.IfExp, ast.BoolOp)
_BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match)
_LOOPS = (ast.For, ast.While)


def asks_what_was_bound(function: ast.AST) -> bool:
    """Whether a name that was given an object of many is compared with other objects."""
    for block in (b for node in walk(function) for _, b in ast.iter_fields(node)):
        if not isinstance(block, list):
            continue
        for at, statement in enumerate(block):
            if isinstance(statement, ast.stmt) and _hands_on(statement):
                names = assigned([statement])
                for later in block[at if isinstance(statement, _LOOPS) else at + 1 :]:
                    if names & {*_asked(later)}:
                        return True
                    names -= surely_assigned([later])
    return False


def _hands_on(node: ast.stmt) -> bool:
    """Whether it may bind a name to a number that is there already."""
    if isinstance(node, _BLOCKS) or isinstance(getattr(node, "value", None), ast.Constant):
        return True
    return any(isinstance(n, _CHOICES) for n in walk(node))


def _asked(node: ast.AST) -> Iterator[str]:
    """Names that are compared by identity with what may be anything."""
    for test in walk(node):
        if isinstance(test, ast.Compare):
            operands = [test.left, *test.comparators]
            for operator, pair in zip(test.ops, pairwise(operands), strict=True):
                if isinstance(operator, ast.Is | ast.IsNot) and not any(map(_is_singleton, pair)):
                    yield from (o.id for o in pair if isinstance(o, ast.Name))


def _is_singleton(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and any(node.value is one for one in _SINGLETONS)
