"""Repeat what tools change in a tree before they compile it.

pytest rewrites ``assert`` statements, and marimo renames what is private to a cell: ``_scale``
becomes ``_cell_Hbol_scale``. With the same change the tree gives the function's bytecode.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
import warnings
from types import CodeType, FunctionType
from typing import Any, TypeVar

from fusejit.support.frame_readers import names_in
from fusejit.support.syntax import copied, parse, walk

Node = TypeVar("Node", bound=ast.AST)

_PYTEST = "_pytest.assertion.rewrite"
_OF_CELL = re.compile(r"(_cell_(?:[^\W_][\w-]*?))(_\w*)")  # of marimo: prefix and written name


# -- asserts of pytest ---------------------------------------------------------------------------
def rewritten_asserts(function: FunctionType, text: str) -> ast.Module | None:
    """The tree of a module as pytest compiles it; None if pytest has not loaded the module."""
    if "@pytest_ar" not in function.__globals__ or _PYTEST not in sys.modules:
        return None
    config = getattr(function.__globals__.get("__loader__"), "config", None)
    return _rewritten(function.__code__.co_filename, text, config)


@functools.lru_cache(maxsize=32)
def _rewritten(filename: str, text: str, config: Any) -> ast.Module:
    rewrite: Any = sys.modules[_PYTEST]
    tree: ast.Module = parse(text, filename=filename)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rewrite.rewrite_asserts(tree, text.encode(), filename, config)
    return tree


def place_of(node: ast.AST) -> tuple[Any, ...]:
    """Where a function stands, in its text and in what a tool made of the text."""
    at: Any = node
    return type(node), at.lineno, at.col_offset, at.end_lineno, at.end_col_offset


# -- names of marimo -----------------------------------------------------------------------------
def written_names(code: CodeType) -> dict[str, str]:
    """The names that marimo has given to private names of a cell, by written name."""
    found = (_OF_CELL.fullmatch(name) for name in {code.co_name, *names_in(code)})
    return {match[2]: match[0] for match in found if match}


def with_names(node: Node, names: dict[str, str]) -> Node:
    """A copy of a tree with other names of variables and functions."""
    made = copied(node)
    for part in walk(made):
        for field in ("id", "name"):
            if getattr(part, field, None) in names:
                setattr(part, field, names[getattr(part, field)])
    return made
