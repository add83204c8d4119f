"""The ``for`` loops around calls of a recursion: ``while`` loops over places.

::

    for i, (x, y) in enumerate(zip(xs, ys), 1):     place, first = 0, 1
        ...                                         while place < len(xs) and place < len(ys):
                                                        i, (x, y) = place + first, (xs[place], ..)
                                                        place = place + 1
                                                        ...

Python's iterators of sequences read them by their places, too, and see what changes meanwhile.
"""

from __future__ import annotations

import ast
from typing import Any, Protocol

from fusejit.support.syntax import copied, walk, with_location
from fusejit.tracer.source.jumps import nodes_of
from fusejit.tracer.source.recursion_parts import NotALoop, is_literal, is_looking, stored_names


class OpenBlocks(Protocol):
    """The blocks of a recursion, of which one is open: `RecursionBlocks`."""

    function: ast.FunctionDef
    before: list[ast.stmt]
    locals: set[str]
    shared: set[str]
    builtins: set[str]

    def temporary(self) -> str:
        """A new name."""

    def name(self, what: str) -> str:
        """A name of the loop's own."""

    def load(self, name: str, at: ast.AST) -> ast.expr:
        """A name that is read."""

    def text(self, text: str, at: ast.AST) -> Any:
        """A statement with names of the loop."""

    def assign(self, name: str, value: ast.expr, at: ast.AST) -> ast.stmt:
        """A name that is bound."""

    def keep(self, name: str, value: ast.expr, at: ast.AST) -> None:
        """Bind a name in the open block."""

    def flat(self, node: ast.expr) -> ast.expr:
        """The expression without calls of the function, which are made before it."""

    def callback(self, name: str, *arguments: ast.expr) -> ast.expr:
        """The call of a callback."""

    def is_call(self, node: ast.AST) -> bool:
        """Whether a node calls the function."""


class RecursionLoop:
    """One ``for`` loop of a recursion.

    Parameters
    ----------
    cut : OpenBlocks
        The open block of which takes what comes before the loop.
    node : ast.For
    """

    def __init__(self, cut: OpenBlocks, node: ast.For) -> None:
        self._cut, self._node = cut, node
        self._place = cut.temporary()
        self._step: ast.expr = ast.Constant(1)

    def as_while(self) -> ast.While:
        """The loop over places."""
        cut, node, name = self._cut, self._node, self._place
        match node.iter:
            case ast.Call(ast.Name("range") as function, [*bounds], []) if 1 <= len(bounds) <= 3:
                self._require(function)
                test, item = self._range(bounds)
            case _:
                cut.keep(name, ast.Constant(0), node)
                test, item = self._items(node.iter)
        place = cut.load(name, node)
        step = cut.assign(name, ast.BinOp(place, ast.Add(), self._step), node)
        bind = with_location(ast.Assign(targets=[node.target], value=item), node)
        body = [bind, step, *node.body]
        return with_location(ast.While(test=test, body=body, orelse=node.orelse), node)

    def _require(self, function: ast.Name) -> None:
        """Require that a name is that of Python."""
        cut = self._cut
        if function.id not in cut.builtins:
            cut.builtins.add(function.id)
            check = cut.callback("require_builtin", copied(function), ast.Constant(function.id))
            cut.before.append(with_location(ast.Expr(check), self._node))

    def _is_before(self, last: ast.expr, operator: ast.cmpop | None = None) -> ast.expr:
        place = self._cut.load(self._place, self._node)
        compared = ast.Compare(place, [operator or ast.Lt()], [last])
        return with_location(compared, self._node)

    def _range(self, bounds: list[ast.expr]) -> tuple[ast.expr, ast.expr]:
        cut, node = self._cut, self._node
        is_down = False
        match bounds[2:]:
            case [ast.Constant(int(step))] if step > 0:
                self._step = bounds[2]
            case [ast.UnaryOp(ast.USub(), ast.Constant(int(step)))] if step > 0:
                self._step, is_down = bounds[2], True
            case [_]:
                raise NotALoop
        start, stop = bounds[:2] if len(bounds) > 1 else (ast.Constant(0), bounds[0])
        last = cut.temporary()
        for name, bound in ((self._place, start), (last, stop)):
            cut.keep(name, cut.callback("index_of", cut.flat(bound)), node)
        test = self._is_before(cut.load(last, node), ast.Gt() if is_down else None)
        return test, cut.load(self._place, node)

    def _items(self, iterable: ast.expr) -> tuple[ast.expr, ast.expr]:
        """Whether there is an item at the place, and the item."""
        cut, node = self._cut, self._node
        match iterable:
            case ast.Call(ast.Name("enumerate") as function, [items, *start], []) if len(
                start
            ) < 2 and not isinstance(items, ast.Starred):
                self._require(function)
                number: ast.expr = cut.load(self._place, node)
                if start:
                    first = cut.temporary()
                    cut.keep(first, cut.callback("index_of", cut.flat(start[0])), node)
                    added = ast.BinOp(number, ast.Add(), cut.load(first, node))
                    number = with_location(added, node)
                test, item = self._items(items)
                return test, with_location(ast.Tuple([number, item], ast.Load()), node)
            case ast.Call(ast.Name("zip") as function, [_, _, *_] as several, []):
                self._require(function)
                tests, items_ = zip(*map(self._items, several), strict=True)
                test = with_location(ast.BoolOp(ast.And(), [*tests]), node)
                return test, with_location(ast.Tuple([*items_], ast.Load()), node)
            case ast.Tuple(items) | ast.List(items) if all(map(is_literal, items)):
                name = cut.name(f"items{len(cut.before)}")
                cut.before.append(cut.assign(name, ast.List(items, ast.Load()), node))
                length = cut.text(f"len({name})", node).value
                place = cut.load(self._place, node)
                item = ast.Subscript(cut.load(name, node), place, ast.Load())
                return self._is_before(length), with_location(item, node)
            case _ if self._stays(iterable):
                length = cut.callback("length_of", iterable)
                item = cut.callback("item_at", copied(iterable), cut.load(self._place, node))
                return self._is_before(length), item
        raise NotALoop

    def _stays(self, iterable: ast.expr) -> bool:
        """Whether an expression names the same sequence before each iteration."""
        cut, base = self._cut, iterable
        while isinstance(base, ast.Subscript):
            if not isinstance(base.slice, ast.Name | ast.Constant):
                return False
            base = base.value
        if not isinstance(base, ast.Name):
            return False
        names = {n.id for n in walk(iterable) if isinstance(n, ast.Name)}
        rebound = stored_names([self._node.target, *self._node.body]) | cut.shared
        is_local = base.id in cut.locals and iterable is not base
        return not (names & rebound or is_local) and (
            iterable is base or not self._is_changed(base.id)
        )

    def _is_changed(self, name: str) -> bool:
        """Whether items of a sequence may be exchanged: by a store, a method or a function."""
        for node in nodes_of(self._cut.function.body):
            match node:
                case ast.Subscript(ast.Name(base), _, ast.Store() | ast.Del()) if base == name:
                    return True
                case ast.Attribute(ast.Name(base)) if base == name:
                    return True
                case ast.Call(_, args) if not self._cut.is_call(node):
                    if any(isinstance(a, ast.Name) and a.id == name for a in args):
                        return not is_looking(node.func)
        return False
