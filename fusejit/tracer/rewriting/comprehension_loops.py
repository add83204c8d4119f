"""The functions that comprehensions become: see `fusejit.tracer.rewriting.generators`."""

from __future__ import annotations

import ast
from typing import Any, TypeVar

from fusejit.support.syntax import copied, with_location

_ITEMS, _TOTAL, _BEST, _VALUE = "the items", "the sum", "the largest or smallest", "a value"
_OPTION = "the option"
FUNCTION, _DTYPE, _ARRAY, _PLACE = "the function", "the dtype", "the array", "the place"
_LIST = "the list"
IS_PYTHONS = "python_is_faster"  # the callback that tells whether a name is the builtin
FILLED, IS_FILLED, NUMBERED = "filled", "is_filled", "numbered"  # callbacks, as those below
PUT, ADD, END = "put_item", "add_item", "end_of_items"
ARRAY_OF, TAKEN = "array_of", "taken"
LOOPED, COMPREHENSION = "looped_list", "comprehension"
Body = list[ast.stmt]
_Node = TypeVar("_Node", bound=ast.AST)
Comprehension = ast.GeneratorExp | ast.ListComp | ast.DictComp | ast.SetComp


def as_tuple(item: ast.expr) -> ast.expr:
    """An item that is a list with no other name as a tuple, which nothing can change."""
    if isinstance(item, ast.List) and not any(isinstance(e, ast.Starred) for e in item.elts):
        return with_location(ast.Tuple(elts=item.elts, ctx=ast.Load()), item)
    return item


class LoopMaker:
    """Makes the function that a comprehension becomes."""

    def __init__(self, call: ast.expr, comprehension: Comprehension, helper: str) -> None:
        self._call = call
        self._of = comprehension
        self._helper = helper

    def function(self, name: str, text: str, has_option: bool) -> ast.FunctionDef:
        """The loop over the items of the comprehension."""
        assert not isinstance(self._of, ast.DictComp)
        value = at = self._of.elt
        start: ast.expr = self.constant(0)
        body: Body = []
        if name == "len":
            body = [self.at(ast.Expr(value=value), at), self._add(self.constant(1), at)]
        elif name == "sum":
            start = self.load(_OPTION) if has_option else start
            body = [self._add(value, at)]
        elif name in ("any", "all"):
            test = value if name == "any" else self.at(ast.UnaryOp(op=ast.Not(), operand=value), at)
            body = [self.at(ast.If(test=test, body=[self._return(name == "any")], orelse=[]), at)]
        else:
            body = self._better(name, value)
        body = self._looped(body)
        if name in ("any", "all"):
            body.append(self._return(name != "any"))
        elif name in ("max", "min"):
            body = [self._store(_BEST, self.constant(None)), *body, *self._end(name, has_option)]
        else:
            body = [self._store(_TOTAL, start), *body, self._return_of(_TOTAL)]
        body.insert(0, self.check(name))
        return self._definition(text, [_ITEMS, *[_OPTION] * has_option], body)

    def _looped(self, body: Body) -> Body:
        """The loops of the comprehension around the statements for one item."""
        for generator in reversed(self._of.generators):
            for test in reversed(generator.ifs):
                body = [self.at(ast.If(test=test, body=body, orelse=[]), test)]
            items = generator.iter
            if generator is self._of.generators[0]:
                items = self.load(_ITEMS)
            loop = ast.For(target=generator.target, iter=items, body=body, orelse=[])
            body = [self.at(loop, generator.target)]
        return body

    def listing(self, text: str) -> ast.FunctionDef:
        """The loop that fills a list, or the comprehension, both over items that are given."""
        of_python = copied(self._of)
        of_python.generators[0].iter = self.load(_ITEMS)
        self._of = copied(self._of)
        body = self._looped([self._put()])
        kind = self.constant(type(self._of).__name__)
        place = map(self.constant, (self._of.lineno, self._of.col_offset))
        made = self.callback(LOOPED, self.load(_ITEMS), kind, *place)
        test = self.callback(IS_FILLED, self.load(_LIST))
        filled = [*body, self._return_of(_LIST)]
        return self._definition(
            text,
            [_ITEMS],
            [
                self._store(_LIST, made),
                self.at(ast.If(test=test, body=filled, orelse=[])),
                self.at(ast.Return(value=of_python)),
            ],
        )

    def _put(self) -> ast.stmt:
        """Store an item: ``made.append(item)``, ``made.add(item)``, ``made[key] = value``."""
        of, made = self._of, self.load(_LIST)
        if isinstance(of, ast.DictComp):
            target = self.at(ast.Subscript(value=made, slice=of.key, ctx=ast.Store()))
            return self.at(ast.Assign(targets=[target], value=of.value), of.value)
        method = "add" if isinstance(of, ast.SetComp) else "append"
        append = self.at(ast.Attribute(value=made, attr=method, ctx=ast.Load()))
        call = self.at(ast.Call(func=append, args=[of.elt], keywords=[]))
        return self.at(ast.Expr(value=call), of.elt)

    def filling(self, text: str, has_dtype: bool) -> ast.FunctionDef:
        """The loop that fills an array, or the call of NumPy's function."""
        assert not isinstance(self._of, ast.DictComp)
        (generator,) = self._of.generators
        value: ast.expr = as_tuple(copied(self._of.elt))
        if isinstance(value, ast.ListComp):  # rows
            value = self.at(ast.Call(func=self.load(FUNCTION), args=[value], keywords=[]))
        place = self.at(ast.Name(id=_PLACE, ctx=ast.Store()))
        target = self.at(ast.Tuple(elts=[place, copied(generator.target)], ctx=ast.Store()))
        put = self.callback(PUT, self.load(_ARRAY), self.load(_PLACE), value)
        body: Body = [self.at(ast.Expr(value=put), self._of.elt)]
        for test in reversed(generator.ifs):
            body = [self.at(ast.If(test=copied(test), body=body, orelse=[]), test)]
        numbered = self.callback(NUMBERED, self.load(_ARRAY), self.load(_ITEMS))
        loop = ast.For(target=target, iter=numbered, body=body, orelse=[])
        result = self.callback(ARRAY_OF, self.load(_ARRAY))
        filled = [self.at(loop), self.at(ast.Return(value=result))]
        given = map(self.load, (FUNCTION, _ITEMS, _DTYPE))
        about = map(self.constant, (not generator.ifs, self._of.lineno, self._of.col_offset))
        array = self.callback(FILLED, *given, *about)
        test = self.callback(IS_FILLED, self.load(_ARRAY))
        generator.iter, first = self.load(_ITEMS), generator.iter
        listed = copied(self._of)
        generator.iter = first
        dtypes = [self.at(ast.keyword(arg="dtype", value=self.load(_DTYPE)))] * has_dtype
        plain = self.at(ast.Call(func=self.load(FUNCTION), args=[listed], keywords=dtypes))
        body = [
            self._store(_ARRAY, array),
            self.at(ast.If(test=test, body=filled, orelse=[])),
            self.at(ast.Return(value=plain)),
        ]
        return self._definition(text, [FUNCTION, _ITEMS, _DTYPE], body)

    def _definition(self, text: str, names: list[str], body: Body) -> ast.FunctionDef:
        parameters = [self.at(ast.arg(arg=n)) for n in names]
        arguments = ast.arguments([], parameters, None, [], [], None, [])
        made = ast.FunctionDef(name=text, args=arguments, body=body, decorator_list=[])
        if "type_params" in made._fields:
            vars(made)["type_params"] = []  # of Python 3.12 and later
        return self.at(made)

    def _better(self, name: str, value: ast.expr) -> Body:
        """``value = ..``, and ``if best is None or value > best: best = value``."""
        is_first = self._compare(self.load(_BEST), ast.Is(), self.constant(None))
        order = ast.Gt() if name == "max" else ast.Lt()
        is_better = self._compare(self.load(_VALUE), order, self.load(_BEST))
        test = self.at(ast.BoolOp(op=ast.Or(), values=[is_first, is_better]), value)
        take = self._store(_BEST, self.load(_VALUE))
        choice = self.at(ast.If(test=test, body=[take], orelse=[]), value)
        return [self._store(_VALUE, value), choice]

    def _end(self, name: str, has_option: bool) -> Body:
        """What ``max`` of nothing is, and the result."""
        if has_option:
            nothing: ast.stmt = self.at(ast.Return(value=self.load(_OPTION)))
        else:
            message = f"{name}() of no items"  # Python says it itself where the call is run again
            error = ast.Call(
                func=self.load("ValueError"), args=[self.constant(message)], keywords=[]
            )
            nothing = self.at(ast.Raise(exc=self.at(error), cause=None))
        is_nothing = self._compare(self.load(_BEST), ast.Is(), self.constant(None))
        return [
            self.at(ast.If(test=is_nothing, body=[nothing], orelse=[])),
            self._return_of(_BEST),
        ]

    def check(self, name: str) -> ast.stmt:
        """Refuse if a name is not Python's own."""
        arguments = [self.constant(name), self.load(name)]
        return self.at(ast.Expr(value=self.callback(IS_PYTHONS, *arguments)))

    def callback(self, name: str, *arguments: ast.expr) -> ast.expr:
        """A call of a callback, which is put in by name."""
        function = self.load(f"{self._helper}.{name}")
        return self.at(ast.Call(func=function, args=[*arguments], keywords=[]))

    def _add(self, value: ast.expr, at: ast.expr) -> ast.stmt:
        total = ast.BinOp(left=self.load(_TOTAL), op=ast.Add(), right=value)
        return self._store(_TOTAL, self.at(total, at))

    def _compare(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> ast.expr:
        return self.at(ast.Compare(left=left, ops=[op], comparators=[right]))

    def _store(self, name: str, value: ast.expr) -> ast.stmt:
        target = self.at(ast.Name(id=name, ctx=ast.Store()))
        return self.at(ast.Assign(targets=[target], value=value))

    def _return(self, value: bool) -> ast.stmt:
        return self.at(ast.Return(value=self.constant(value)))

    def _return_of(self, name: str) -> ast.stmt:
        return self.at(ast.Return(value=self.load(name)))

    def constant(self, value: Any) -> ast.expr:
        """A constant."""
        return self.at(ast.Constant(value=value))

    def load(self, name: str) -> ast.expr:
        """A name that is read."""
        return self.at(ast.Name(id=name, ctx=ast.Load()))

    def at(self, node: _Node, place: ast.AST | None = None) -> _Node:
        """``node`` at the line of the comprehension, or of a part of it."""
        return ast.copy_location(node, place or self._of)
