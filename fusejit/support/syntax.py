"""Syntax trees of Python text, made safely from any thread.

CPython before 3.11.8 and 3.12.1 counts the depth of the tree it builds in one place for all threads
(gh-106905): two threads that build trees at once can get ``SystemError: AST constructor recursion
depth mismatch``. Our own trees are therefore built one at a time, and built again when some other
library's thread came between.

Examples
--------
>>> ast.dump(parse("a", "eval").body)
"Name(id='a', ctx=Load())"
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from typing import Any, TypeVar

from fusejit.support.locks import ForkSafeLock

Node = TypeVar("Node", bound=ast.AST)

_building = ForkSafeLock()
_ATTEMPTS = 100


def parse(text: str, mode: str = "exec", *, filename: str = "<fusejit>", flags: int = 0) -> Any:
    """Return the tree of `text`: `ast.parse`, one thread at a time.

    Parameters
    ----------
    text : str
        Python source.
    mode : str
        ``"exec"`` or ``"eval"``.
    filename : str
        What a `SyntaxError` names.
    flags : int
        More compiler flags, such as `ast.PyCF_ALLOW_TOP_LEVEL_AWAIT`.

    Returns
    -------
    ast.Module or ast.Expression

    Raises
    ------
    SyntaxError
        If the text is not Python.
    """
    for attempt in range(_ATTEMPTS):
        try:
            with _building:
                return compile(text, filename, mode, ast.PyCF_ONLY_AST | flags, dont_inherit=True)
        except SystemError:
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


def run_text(text: str, filename: str, names: dict[str, Any]) -> None:
    """Run a generated text in ``names``; tracebacks and debuggers show its lines."""
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec"), names)


_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}
"""The fields of classes of nodes, but for ``ctx``."""


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below ``node``, as `ast.iter_child_nodes` has them, but for ``ctx``.

    All that is traced is walked many times, and whether a name is read or bound says ``node.ctx``.
    """
    kind = type(node)
    names = _FIELDS.get(kind)
    if names is None:
        names = _FIELDS[kind] = tuple(name for name in node._fields if name != "ctx")
    found: list[ast.AST] = []
    for name in names:
        value = getattr(node, name, None)
        if value is None or type(value) is str:
            continue
        if isinstance(value, ast.AST):
            found.append(value)
        elif type(value) is list:
            found += [item for item in value if isinstance(item, ast.AST)]
    return found


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """``node`` and all nodes below it, in the order of `ast.walk`, but for ``ctx``.

    Examples
    --------
    >>> [type(n).__name__ for n in walk(parse("x[0]", "eval"))]
    ['Expression', 'Subscript', 'Name', 'Constant']
    """
    pending = [node]
    for each in pending:
        pending += children(each)
        yield each


def fields_of(node: ast.AST) -> list[tuple[str, Any]]:
    """The fields and positions of a node by name, without the attributes that tools attach.

    IPython's tracebacks set ``parent`` on each node of the trees that they show, and so on the
    ``Load()`` and ``Add()`` that all trees share.
    """
    known = vars(node)
    return [(name, known[name]) for name in (*node._fields, *node._attributes) if name in known]


def copied(node: Node) -> Node:
    """A copy of a tree, some times faster than `copy.deepcopy`."""
    made = type(node)()
    for name, value in fields_of(node):
        if isinstance(value, ast.AST):
            value = copied(value)
        elif isinstance(value, list):
            value = [copied(v) if isinstance(v, ast.AST) else v for v in value]
        setattr(made, name, value)
    return made


def with_location(node: Node, at: ast.AST) -> Node:
    """A new node at the position of another one."""
    return ast.copy_location(node, at)


def has_plain_format(part: ast.expr) -> bool:
    """Whether a part of an f-string has no width or precision that is computed."""
    spec = part.format_spec if isinstance(part, ast.FormattedValue) else None
    if not isinstance(spec, ast.JoinedStr):
        return True
    return len(spec.values) <= 1 and all(isinstance(v, ast.Constant) for v in spec.values)
