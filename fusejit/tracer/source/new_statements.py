"""Statements that are put into the user's functions, written as Python text."""

from __future__ import annotations

import ast
from typing import Any

from fusejit.support.syntax import parse, walk


def statement_of(text: str, at: ast.AST, *, has_extent: bool = True) -> Any:
    """The statement that ``text`` is, all of it at the position of another node.

    Without an extent it ends where it begins: see `fusejit.support.tracebacks`.
    """
    (made,) = parse(text).body
    for node in walk(made):
        ast.copy_location(node, at)
        if not has_extent and isinstance(node, ast.stmt | ast.expr):
            node.end_lineno, node.end_col_offset = node.lineno, node.col_offset
    return made


def made_of(text: str, at: ast.AST, helper: str) -> Any:
    """The same with names that begin with ``helper``, which is no part of Python's own names."""
    made = statement_of(text.replace(helper, _STAND_IN), at)
    for node in walk(made):
        if isinstance(node, ast.Name):
            node.id = node.id.replace(_STAND_IN, helper)
    return made


_STAND_IN = "_fusejit_"
