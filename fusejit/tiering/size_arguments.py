"""Which arguments of a function may say how long its loops run.

A function that Python runs is compiled after all if larger arguments come, so each call with a size
is checked (`fusejit.codegen.launcher.call_guard`). An integer that is a key or a summand is no
size: such a check would cost a method of two lines a third of its time. A parameter is a size if
a loop, a slice or a call of a function depends on it::

    def give_back(self, day, isbn):       # no sizes
        book = self.books[isbn]
        book.late += day - book.due
        while book.waiting:
            self.lend(book.waiting.pop())

A decorated method of the same object has its own guard. Other methods may create arrays as long as
an argument is: ``np.arange(n)``.
"""

from __future__ import annotations

import ast
import weakref
from collections import ChainMap
from collections.abc import Iterator, Sequence, Set
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from fusejit.ir.raw_reads import bases_of, is_a, members_of
from fusejit.support.identity import own_signature
from fusejit.tracer.source.entry_stubs import is_entry_stub
from fusejit.tracer.source.source_text import as_definition, find_source

_TAKE_NO_LONGER = frozenset(
    [
        *("abs", "bool", "chr", "complex", "divmod", "float", "format", "getattr", "hasattr"),
        *("hash", "id", "int", "isinstance", "issubclass", "len", "ord", "print", "repr"),
        *("round", "str", "type"),
    ]
)
"""Builtins that do not take longer for larger numbers."""

_METHODS = frozenset(
    [
        *("add", "append", "count", "discard", "endswith", "get", "index", "insert", "pop"),
        *("popleft", "remove", "setdefault", "startswith"),
    ]
)
"""Methods of Python's containers and strings that do not take longer for larger numbers."""

_Places = tuple[bool, ...] | None
_KNOWN: weakref.WeakKeyDictionary[FunctionType, tuple[CodeType, weakref.ref[type], _Places]]
_KNOWN = weakref.WeakKeyDictionary()


def without_others(function: FunctionType | None, args: Sequence[Any]) -> list[Any]:
    """The arguments of a call; None replaces integers and containers that are not sizes."""
    places = _places(function, type(args[0])) if args else None
    if places is None or len(places) != len(args):
        return [*args]
    pairs = zip(args, places, strict=True)
    return [arg if is_size or is_a(arg, np.ndarray) else None for arg, is_size in pairs]


def _places(function: FunctionType | None, owner: type) -> _Places:
    """For each parameter whether it may be a size; None if the function has no source.

    ``owner`` is the class of the first argument.
    """
    if function is None or type(function) is not FunctionType:
        return None
    known = _KNOWN.get(function)
    if known is None or known[0] is not function.__code__ or known[1]() is not owner:
        known = function.__code__, weakref.ref(owner), _found_places(function, owner)
        _KNOWN[function] = known
    return known[2]


def _found_places(function: FunctionType, owner: type) -> _Places:
    source = find_source(function)
    definition = None if isinstance(source, str) else as_definition(source.node)
    if definition is None:
        return None
    names = [*own_signature(function).parameters]
    members = ChainMap(*map(members_of, bases_of(owner)))
    decorated = {f"{names[0]}.{name}" for name, held in members.items() if is_entry_stub(held)}
    found = sizes_of(definition, decorated)
    return tuple(name in found for name in names)


def sizes_of(definition: ast.FunctionDef, decorated: Set[str] = frozenset()) -> set[str]:
    """The names on which the time of a function's statements may depend.

    ``decorated`` are methods of the first parameter that check their own arguments: ``self.lend``.

    Examples
    --------
    >>> tree = ast.parse("def f(n, key, step):\\n for i in range(n): t[key] += step")
    >>> sorted(sizes_of(tree.body[0]))
    ['n', 'range']
    """
    nodes = [node for statement in definition.body for node in ast.walk(statement)]
    found = {name for node in nodes for expr in _sizes(node, decorated) for name in _read(expr)}
    while True:
        given = {
            name
            for node in nodes
            for targets, value in _bindings(node)
            if not found.isdisjoint(name for target in targets for name in _read(target))
            for name in _read(value)
        }
        if given <= found:
            return found
        found |= given


def _sizes(node: ast.AST, decorated: Set[str]) -> Iterator[ast.expr]:
    """The expressions in a node on which it depends how long it takes."""
    match node:
        case ast.For(iter=expr) | ast.comprehension(iter=expr) | ast.While(test=expr):
            yield expr
        case ast.Starred(value=expr) | ast.YieldFrom(value=expr):
            yield expr
        case ast.Call(ast.Attribute(_, name), _, _) if name in _METHODS:
            pass
        case ast.Call(ast.Attribute(ast.Name(owner), name), _, _) if f"{owner}.{name}" in decorated:
            pass
        case ast.Call(ast.Name(name), _, _) if name in _TAKE_NO_LONGER:
            pass
        case ast.Call(ast.Name("max" | "min"), [_, _, *_], _):  # of numbers
            pass
        case ast.Call(_, arguments, keywords):
            yield from arguments
            yield from (keyword.value for keyword in keywords)
        case ast.Subscript(value, ast.Slice() as part, _):
            yield from filter(None, (value, part.lower, part.upper, part.step))
        case ast.BinOp(left, ast.Mult(), right) if _is_sequence(left) or _is_sequence(right):
            yield from (left, right)
        case ast.Compare(_, operators, comparators):
            for operator, other in zip(operators, comparators, strict=True):
                if isinstance(operator, ast.In | ast.NotIn):
                    yield other


def _bindings(node: ast.AST) -> Iterator[tuple[list[ast.expr], ast.expr]]:
    """Targets of a node, and what they are bound to."""
    match node:
        case ast.Assign(targets, value):
            yield targets, value
        case ast.AugAssign(target, _, value) | ast.NamedExpr(target, value):
            yield [target], value
        case ast.AnnAssign(target, _, value) if value is not None:
            yield [target], value
        case ast.For(target, value) | ast.comprehension(target, value):
            yield [target], value


def _read(expr: ast.expr) -> Iterator[str]:
    """The names of an expression; what selects an item of it is left out."""
    match expr:
        case ast.Name(name):
            yield name
        case ast.Subscript(value, index, _) if not isinstance(index, ast.Slice):
            yield from _read(value)
        case _:
            for part in ast.iter_child_nodes(expr):
                yield from _read(part)  # type: ignore[arg-type]


def _is_sequence(node: ast.expr) -> bool:
    return isinstance(node, ast.List | ast.Tuple | ast.ListComp | ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )
