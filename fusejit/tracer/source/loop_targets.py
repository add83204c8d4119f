"""Targets: ``for self.n in items`` names the item first, and what a target takes apart.

::

    for self.n in items:              for .st_item1 in items:
        body                              self.n = .st_item1
                                          body

So the store is a statement of the body, where a compiled loop finds what it changes.
"""

from __future__ import annotations

import ast
from typing import Any

from fusejit.support.syntax import walk, with_location


def with_named_items(function: ast.AST, helper: str) -> None:
    """Replace such heads in a function, in place."""
    loops = [node for node in walk(function) if isinstance(node, ast.For)]
    for number, loop in enumerate(node for node in loops if _stores(node.target)):
        name = f"{helper}_item{number}"
        target = loop.target
        value = with_location(ast.Name(id=name, ctx=ast.Load()), target)
        store = with_location(ast.Assign(targets=[target], value=value), target)
        loop.target = with_location(ast.Name(id=name, ctx=ast.Store()), target)
        loop.body.insert(0, store)


def parts_of_target(target: ast.expr) -> Any:
    """What a target takes apart: see `fusejit.tracer.flow.taken_apart`."""
    if not isinstance(target, ast.Tuple | ast.List):
        return None
    if any(isinstance(one, ast.Starred) for one in target.elts):
        return None
    return tuple(map(parts_of_target, target.elts))


def _stores(target: ast.expr) -> bool:
    """Whether a target is, or holds, an attribute or an item of an object."""
    return any(isinstance(node, ast.Attribute | ast.Subscript) for node in walk(target))
