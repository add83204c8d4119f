"""Statements that are put into the user's functions, written as Python text."""

from __future__ import annotations

import ast
from typing import Any

from fusejit.syntax import parse, walk


def statement_of(text: str, at: ast.AST) -> Any:
    """The statement that ``text`` is, all of it at the position of another node."""
    (made,) = parse(text).body
    for node in walk(made):
        ast.copy_location(node, at)
    return made
