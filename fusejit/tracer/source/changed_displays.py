"""Which containers and strings of a function its loops change: ``out.append(v)``, ``s += c``.

A trace finds that out by itself, one list in each attempt; from here it knows before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fusejit.tracer.source.jumps import nodes_of

_METHODS = frozenset(
    [
        *("append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "setdefault"),
        *("add", "discard", "update"),
    ]
)
_UNROLLED = 4  # iterations of a loop that is unrolled


def changed_displays(function: ast.FunctionDef) -> set[ast.AST]:
    """The displays that are bound to a name which a loop changes the object of."""
    displays = {value: name for node in nodes_of(function.body) for name, value in _display(node)}
    found: set[ast.AST] = set()
    for loop in nodes_of(function.body) if displays else ():
        if isinstance(loop, ast.While) or (isinstance(loop, ast.For) and not _is_unrolled(loop)):
            inside = {*nodes_of(loop.body)}
            names = {name for node in inside for name in _changed(node)}
            changed = {d for d, name in displays.items() if name in names and d not in inside}
            is_of_words = isinstance(loop, ast.For) and _is_over_words(loop)
            found |= {d for d in changed if isinstance(d, ast.Constant) or not is_of_words}
    texts = {displays[d] for d in found if isinstance(d, ast.Constant)}  # of all or of none
    return found | {d for d, name in displays.items() if name in texts}


def _display(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, value):
            if value is not None and _is_display(value):
                yield name, value


def _is_unrolled(loop: ast.For) -> bool:
    """Whether a loop is short."""
    match loop.iter:
        case ast.Call(ast.Name("range"), [ast.Constant(int(count))], []):
            return count <= _UNROLLED
        case ast.List(elts) | ast.Tuple(elts):
            return len(elts) <= _UNROLLED
    return False


def _is_over_words(loop: ast.For) -> bool:
    """Whether a loop runs over parts of a text, which Python may hold: then it has lists, too."""
    match loop.iter:
        case ast.Call(ast.Attribute(_, "split" | "rsplit" | "splitlines")):
            return True
    return False


def _changed(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Call(ast.Attribute(ast.Name(name), method)) if method in _METHODS:
            yield name
        case ast.Subscript(ast.Name(name), _, ast.Store() | ast.Del()):
            yield name
        case ast.AugAssign(ast.Name(name)):
            yield name


def _is_display(value: ast.expr) -> bool:
    match value:
        case ast.List() | ast.Dict() | ast.Set() | ast.Constant(str()):
            return True
        case ast.BinOp(ast.List(), ast.Mult()) | ast.BinOp(_, ast.Mult(), ast.List()):
            return True
        case ast.BinOp(left, ast.Add(), right):
            return any(_is_display(side) for side in (left, right) if is_list(side))
    return False


def is_list(node: ast.expr) -> bool:
    """Whether an expression is a display of a list, or one that is repeated."""
    match node:
        case ast.List() | ast.ListComp() | ast.BinOp(ast.List(), ast.Mult()):
            return True
        case ast.BinOp(_, ast.Mult(), ast.List()):
            return True
    return False
