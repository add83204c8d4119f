"""Lists that a loop appends to, at most one item in each iteration, and that become an array.

::

    out = []
    for i in range(n):
        t = x[i] * 2
        out.append(t)
    return np.array(out)

becomes, before anything else is done to the function,::

    out = []
    items = range(n)
    array = filled(np.array, items, None)
    for place, i in numbered(array, items):
        t = x[i] * 2
        add_item(array, place, out.append, t)
    end_of_items(array)
    return np.array(taken(array, out))

if nothing else in the function mentions the list: nobody can tell it from an array.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeVar

from fusejit.support.syntax import copied, walk, with_location
from fusejit.tracer.rewriting.comprehension_loops import ADD, END, FILLED, NUMBERED, TAKEN
from fusejit.tracer.rewriting.generators import HELD
from fusejit.tracer.source.bound_names import bound_names, identifiers, is_constant
from fusejit.tracer.source.jumps import JUMPS, nodes_of

_USES = {"array", "asarray", "mean", "sum", "max", "min", "std", "var", "median"}
"""Functions of NumPy that make an array of a list, and nothing else of it."""
_OF_DTYPES = {"array", "asarray"}  # the others add in their `dtype=`
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)
_Body = list[ast.stmt]
_Node = TypeVar("_Node", bound=ast.AST)


def appended_lists_as_arrays(function: ast.FunctionDef, helper: str) -> None:
    """Rewrite such loops of a function, in place."""
    count = 0
    bound = bound_names(function)
    for block in _blocks(function):
        for loop in [s for s in block if isinstance(s, ast.For)]:
            use = _use(function, block, loop, bound)
            if use is not None:
                count += 1
                at = block.index(loop)
                block[at : at + 1] = _Filling(f"{helper}_c_list{count}", helper, loop).made(use)


def _blocks(function: ast.FunctionDef) -> Iterator[_Body]:
    """The blocks of the statements of a function, those inside first."""
    nested = [n for n in nodes_of(function.body) if isinstance(n, ast.For | ast.While | ast.If)]
    for node in reversed(nested):
        yield from (block for block in (node.body, node.orelse) if block)
    yield function.body


def _use(
    function: ast.FunctionDef, block: _Body, loop: ast.For, bound: set[str]
) -> ast.Call | None:
    """The call that makes an array of the list of a loop, if nothing else is done with the list."""
    added = [s for s in _once(loop.body) if _appended(s) is not None]
    if len(added) != 1 or loop.orelse:
        return None
    name = _appended(added[0])
    mentions = [n for n in walk(function) if name in [*identifiers(n)]]
    at = block.index(loop)
    starts = [s for s in block[:at] if _is_empty_list(s, name)]
    if len(mentions) != 3 or len(starts) != 1:
        return None
    for statement in block[at + 1 :]:
        if isinstance(statement, _SIMPLE):
            found = next((n for n in _at_once(statement) if _is_use(n, name, bound)), None)
            if found is not None:
                return found  # type: ignore[return-value]
    return None


def _once(body: _Body) -> Iterator[ast.stmt]:
    """The statements of a loop that an iteration may run once."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If):
            yield from _once([*statement.body, *statement.orelse])


def _is_sure(loop: ast.For) -> bool:
    """Whether each iteration appends an item."""
    jumps = any(isinstance(n, JUMPS) for n in nodes_of(loop.body))
    return not jumps and any(_appended(s) is not None for s in loop.body)


def _appended(statement: ast.stmt) -> str | None:
    """The name of the list that a statement appends one item to."""
    match statement:
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "append"), [item], [])) if (
            not isinstance(item, ast.Starred)
        ):
            return name
    return None


def _is_empty_list(statement: ast.stmt, name: str | None) -> bool:
    match statement:
        case ast.Assign([ast.Name(known)], ast.List([])) | ast.AnnAssign(
            ast.Name(known), _, ast.List([])
        ):
            return known == name
    return False


def _at_once(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a statement that are evaluated once, with its names."""
    yield node
    if not isinstance(node, HELD):
        for child in ast.iter_child_nodes(node):
            yield from _at_once(child)


def _is_use(node: ast.AST, name: str | None, bound: set[str]) -> bool:
    match node:
        case ast.Call(ast.Attribute(ast.Name(module), function), [ast.Name(known)], keywords):
            is_known = known == name and function in _USES and module not in bound
            return is_known and all(
                k.arg == "dtype" and function in _OF_DTYPES and is_constant(k.value, bound)
                for k in keywords
            )
    return False


class _Filling:
    """The statements for one loop."""

    def __init__(self, name: str, helper: str, loop: ast.For) -> None:
        self._array, self._items, self._place = name, f"{name}_items", f"{name}_place"
        self._helper = helper
        self._loop = loop

    def made(self, use: ast.Call) -> _Body:
        """The loop, whose items go into an array if there is one; ``use`` takes what it leaves."""
        loop = self._loop
        dtype = next((k.value for k in use.keywords), None) or self._constant(None)
        about = map(self._constant, (_is_sure(loop), loop.lineno, loop.col_offset))
        given = (copied(use.func), self._load(self._items), copied(dtype), *about)
        before = [
            self._store(self._items, loop.iter),
            self._store(self._array, self._call(FILLED, *given)),
        ]
        head = ast.Tuple(elts=[self._name(self._place), loop.target], ctx=ast.Store())
        loop.target = self._at(head)
        loop.iter = self._call(NUMBERED, self._load(self._array), self._load(self._items))
        for statement in _once(loop.body):
            self._add(statement)
        use.args[0] = self._call(TAKEN, self._load(self._array), use.args[0])
        end = self._call(END, self._load(self._array))
        return [*before, loop, self._at(ast.Expr(value=end))]

    def _add(self, statement: ast.stmt) -> None:
        """Have the statement that appends an item do so only if there is no array."""
        match statement:
            case ast.Expr(ast.Call(append, [item], [])) if _appended(statement) is not None:
                place = self._load(self._place)
                is_new = self._constant(isinstance(item, ast.List))
                given = (self._load(self._array), place, append, item, is_new)
                statement.value = self._call(ADD, *given)

    def _call(self, callback: str, *arguments: ast.expr) -> ast.expr:
        function = self._load(f"{self._helper}.{callback}")
        return self._at(ast.Call(func=function, args=[*arguments], keywords=[]))

    def _constant(self, value: object) -> ast.expr:
        return self._at(ast.Constant(value=value))  # type: ignore[arg-type]

    def _store(self, name: str, value: ast.expr) -> ast.stmt:
        return self._at(ast.Assign(targets=[self._name(name)], value=value))

    def _name(self, name: str) -> ast.Name:
        return self._at(ast.Name(id=name, ctx=ast.Store()))

    def _load(self, name: str) -> ast.Name:
        return self._at(ast.Name(id=name, ctx=ast.Load()))

    def _at(self, node: _Node) -> _Node:
        return with_location(node, self._loop)
