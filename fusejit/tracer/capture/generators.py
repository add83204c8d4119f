"""Generator expressions under ``sum``, ``any``, ``all``, ``max``, ``min`` as loops of their own.

::

    y = sum(x[i] * w for i in range(n) if m[i])

becomes, before anything else is done to the function,::

    def <genexpr>(items):
        total = 0
        for i in items:
            if m[i]:
                total = total + x[i] * w
        return total
    y = <genexpr>(range(n))

which is what Python does, and can be traced like any other loop. So are ``sum([..])`` and
``len([..])`` of a list comprehension. ``np.array([..])`` of one fills an array::

    def <listcomp>(function, items, dtype):
        array = filled(function, items, dtype)
        if is_filled(array):
            for place, i in numbered(array, items):
                put(array, place, x[i] * w)
            return array_of(array)
        return function([x[i] * w for i in items])  # with dtype=dtype, if that is given

Any other list comprehension makes a list::

    def <listcomp>(items):
        made = looped_list(items)
        if is_filled(made):
            for i in items:
                made.append(x[i] * w)
            return made
        return [x[i] * w for i in items]

The names of the new functions and of what is theirs have
blanks in them, so that they are nobody else's.
"""

from __future__ import annotations

import ast
import builtins
from typing import Any, TypeVar

from fusejit.syntax import copied, walk, with_location
from fusejit.tracer.program.active_trace import active_trace
from fusejit.tracer.program.locations import unsupported
from fusejit.tracer.source.bound_names import bound_names, is_constant

_GENERATORS = ("sum", "any", "all", "max", "min")
_LISTS = ("sum", "max", "min", "len")
_ITEMS, _TOTAL, _BEST, _VALUE = "the items", "the sum", "the largest or smallest", "a value"
_OPTIONS = {"sum": "start", "max": "default", "min": "default"}
_OPTION = "the option"
_ARRAYS = ("array", "asarray")
_FUNCTION, _DTYPE, _ARRAY, _PLACE = "the function", "the dtype", "the array", "the place"
_LIST = "the list"
IS_PYTHONS = "python_is_faster"  # the callback that tells whether a name is the builtin
FILLED, IS_FILLED, NUMBERED = "filled", "is_filled", "numbered"  # callbacks, as those below
PUT, ADD, END = "put_item", "add_item", "end_of_items"
ARRAY_OF, TAKEN = "array_of", "taken"
LOOPED, COMPREHENSION = "looped_list", "comprehension"
_Body = list[ast.stmt]
_Node = TypeVar("_Node", bound=ast.AST)
_Comprehension = ast.GeneratorExp | ast.ListComp | ast.DictComp
HELD = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def python_is_faster(name: str, function: Any) -> None:
    """Refuse if ``sum`` of a generator is not Python's own ``sum``."""
    if active_trace() is not None and function is not getattr(builtins, name):
        what = f"calls a function named {name} that is not Python's with a generator expression"
        raise unsupported(what, "give the function another name")


def reductions_as_loops(function: ast.FunctionDef, helper: str) -> None:
    """Replace such calls in the statements of a function, in place."""
    replacer = _Replacer(helper, bound_names(function))
    function.body = replacer.block(function.body)


class _Replacer(ast.NodeTransformer):
    """Replaces calls in expressions and collects the functions that they become."""

    def __init__(self, helper: str, bound: set[str]) -> None:
        self._helper = helper
        self._bound = bound
        self._made: _Body = []
        self._count = 0

    def block(self, body: _Body) -> _Body:
        """The statements of a block, each with what it needs in front."""
        result: _Body = []
        for statement in body:
            result += self._statement(statement)
        return result

    def _statement(self, node: ast.stmt) -> _Body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return [node]
        outer, self._made = self._made, []
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(node, name, self.block(value))
            elif isinstance(value, list):
                for item in value:
                    if isinstance(item, ast.ExceptHandler | ast.match_case):
                        item.body = self.block(item.body)
                    elif isinstance(item, ast.AST) and not isinstance(node, ast.While):
                        self.generic_visit(item)
                        # a whole expression in a list stands under ``targets``: never a call
            elif isinstance(value, ast.expr) and not isinstance(node, ast.While):
                setattr(node, name, self.visit(value))
        made, self._made = self._made, outer
        return [*made, node]

    def visit(self, node: ast.AST) -> Any:
        """Leave alone what is evaluated later, or with other names."""
        if isinstance(node, ast.ListComp | ast.DictComp) and _runs_at_once(node):
            return self._filled(node)
        return node if isinstance(node, HELD) else super().visit(node)

    def visit_Call(self, node: ast.Call) -> ast.Call:
        listed = _listed(node, self._bound)
        if listed is not None:
            self._visit_around(node, listed)
            return self._array(node, listed)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        found = self._comprehension(name, node)
        if found is None or name in self._bound:
            self.generic_visit(node)
            return node
        self._visit_around(node, found)
        options = [*node.args[1:], *(k.value for k in node.keywords)]
        self._count += 1
        text = f"<genexpr {self._count}>" if self._count > 1 else "<genexpr>"
        maker = _Maker(node, found, self._helper)
        function = maker.function(name, text, bool(options))
        function.body = self.block(function.body)
        self._made.append(function)
        return maker.at(
            ast.Call(func=maker.load(text), args=[found.generators[0].iter, *options], keywords=[])
        )

    def _visit_around(self, node: ast.Call, found: ast.GeneratorExp | ast.ListComp) -> None:
        """Visit a call but for the comprehension that it is given, whose loop comes later."""
        node.func = self.visit(node.func)
        node.args = [arg if arg is found else self.visit(arg) for arg in node.args]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        found.generators[0].iter = self.visit(found.generators[0].iter)

    def _array(self, node: ast.Call, listed: ast.ListComp) -> ast.Call:
        """``np.array`` of a list comprehension as a call of a function of its own."""
        text = self._name_of_list()
        maker = _Maker(node, listed, self._helper)
        function = maker.filling(text, bool(node.keywords))
        function.body[1:2] = self.block(function.body[1:2])  # the loop
        self._made.append(function)
        dtypes = [k.value for k in node.keywords] or [maker.constant(None)]
        arguments = [node.func, listed.generators[0].iter, *dtypes]
        return maker.at(ast.Call(func=maker.load(text), args=arguments, keywords=[]))

    def _filled(self, node: ast.ListComp | ast.DictComp) -> ast.expr:
        """A comprehension of a list or dictionary as a call of a function of its own."""
        text = self._name_of_list()
        maker = _Maker(node, node, self._helper)
        first = node.generators[0].iter
        function = maker.listing(text)
        function.body[1:2] = self.block(function.body[1:2])  # the loop
        self._made.append(function)
        place = map(maker.constant, (node.lineno, node.col_offset))
        return maker.callback(COMPREHENSION, maker.load(text), self.visit(first), *place)

    def _name_of_list(self) -> str:
        self._count += 1
        return f"<listcomp {self._count}>" if self._count > 1 else "<listcomp>"

    @staticmethod
    def _comprehension(name: str, node: ast.Call) -> ast.GeneratorExp | ast.ListComp | None:
        """The comprehension that a call reduces, if it can be a loop."""
        first = node.args[0] if node.args else None
        if isinstance(first, ast.GeneratorExp) and name in _GENERATORS:
            found: ast.GeneratorExp | ast.ListComp = first
        elif isinstance(first, ast.ListComp) and name in _LISTS:
            found = first
        else:
            return None
        options = [*(_OPTIONS.get(name) for _ in node.args[1:]), *(k.arg for k in node.keywords)]
        if options and (name in ("max", "min") and len(node.args) > 1):
            return None
        if len(options) > 1 or any(o is None or o != _OPTIONS.get(name) for o in options):
            return None
        return found if _runs_at_once(found) else None


def as_tuple(item: ast.expr) -> ast.expr:
    """An item that is a list with no other name as a tuple, which nothing can change."""
    if isinstance(item, ast.List) and not any(isinstance(e, ast.Starred) for e in item.elts):
        return with_location(ast.Tuple(elts=item.elts, ctx=ast.Load()), item)
    return item


def _listed(node: ast.Call, bound: set[str]) -> ast.ListComp | None:
    """The list comprehension of ``np.array([.. for .. in ..])``, if it can be a loop."""
    is_named = isinstance(node.func, ast.Attribute) and node.func.attr in _ARRAYS
    is_nested = isinstance(node.func, ast.Name) and node.func.id == _FUNCTION
    has_more = len(node.args) != 1 or not all(
        k.arg == "dtype" and is_constant(k.value, bound) for k in node.keywords
    )
    if has_more or not (is_named or is_nested):
        return None
    (listed,) = node.args
    if not isinstance(listed, ast.ListComp) or len(listed.generators) > 1:
        return None
    return listed if _runs_at_once(listed) else None


def _runs_at_once(found: _Comprehension) -> bool:
    """Whether a comprehension binds and awaits nothing."""
    inner = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
    is_async = any(g.is_async for g in found.generators)
    return not is_async and not any(isinstance(n, inner) for n in walk(found))


class _Maker:
    """Nodes of one function."""

    def __init__(self, call: ast.expr, comprehension: _Comprehension, helper: str) -> None:
        self._call = call
        self._of = comprehension
        self._helper = helper

    def function(self, name: str, text: str, has_option: bool) -> ast.FunctionDef:
        """The loop over the items of the comprehension."""
        assert not isinstance(self._of, ast.DictComp)
        value = at = self._of.elt
        start: ast.expr = self.constant(0)
        body: _Body = []
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
        body.insert(0, self._check(name))
        return self._definition(text, [_ITEMS, *[_OPTION] * has_option], body)

    def _looped(self, body: _Body) -> _Body:
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
        is_list = self.constant(isinstance(self._of, ast.ListComp))
        place = map(self.constant, (self._of.lineno, self._of.col_offset))
        made = self.callback(LOOPED, self.load(_ITEMS), is_list, *place)
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
        """Store an item of the comprehension: ``made.append(item)``, ``made[key] = value``."""
        of, made = self._of, self.load(_LIST)
        if isinstance(of, ast.DictComp):
            target = self.at(ast.Subscript(value=made, slice=of.key, ctx=ast.Store()))
            return self.at(ast.Assign(targets=[target], value=of.value), of.value)
        append = self.at(ast.Attribute(value=made, attr="append", ctx=ast.Load()))
        call = self.at(ast.Call(func=append, args=[of.elt], keywords=[]))
        return self.at(ast.Expr(value=call), of.elt)

    def filling(self, text: str, has_dtype: bool) -> ast.FunctionDef:
        """The loop that fills an array, or the call of NumPy's function."""
        assert not isinstance(self._of, ast.DictComp)
        (generator,) = self._of.generators
        value: ast.expr = as_tuple(copied(self._of.elt))
        if isinstance(value, ast.ListComp):  # rows
            value = self.at(ast.Call(func=self.load(_FUNCTION), args=[value], keywords=[]))
        place = self.at(ast.Name(id=_PLACE, ctx=ast.Store()))
        target = self.at(ast.Tuple(elts=[place, copied(generator.target)], ctx=ast.Store()))
        put = self.callback(PUT, self.load(_ARRAY), self.load(_PLACE), value)
        body: _Body = [self.at(ast.Expr(value=put), self._of.elt)]
        for test in reversed(generator.ifs):
            body = [self.at(ast.If(test=copied(test), body=body, orelse=[]), test)]
        numbered = self.callback(NUMBERED, self.load(_ARRAY), self.load(_ITEMS))
        loop = ast.For(target=target, iter=numbered, body=body, orelse=[])
        result = self.callback(ARRAY_OF, self.load(_ARRAY))
        filled = [self.at(loop), self.at(ast.Return(value=result))]
        given = map(self.load, (_FUNCTION, _ITEMS, _DTYPE))
        about = map(self.constant, (not generator.ifs, self._of.lineno, self._of.col_offset))
        array = self.callback(FILLED, *given, *about)
        test = self.callback(IS_FILLED, self.load(_ARRAY))
        generator.iter, first = self.load(_ITEMS), generator.iter
        listed = copied(self._of)
        generator.iter = first
        dtypes = [self.at(ast.keyword(arg="dtype", value=self.load(_DTYPE)))] * has_dtype
        plain = self.at(ast.Call(func=self.load(_FUNCTION), args=[listed], keywords=dtypes))
        body = [
            self._store(_ARRAY, array),
            self.at(ast.If(test=test, body=filled, orelse=[])),
            self.at(ast.Return(value=plain)),
        ]
        return self._definition(text, [_FUNCTION, _ITEMS, _DTYPE], body)

    def _definition(self, text: str, names: list[str], body: _Body) -> ast.FunctionDef:
        parameters = [self.at(ast.arg(arg=n)) for n in names]
        arguments = ast.arguments([], parameters, None, [], [], None, [])
        made = ast.FunctionDef(name=text, args=arguments, body=body, decorator_list=[])
        if "type_params" in made._fields:
            vars(made)["type_params"] = []  # of Python 3.12 and later
        return self.at(made)

    def _better(self, name: str, value: ast.expr) -> _Body:
        """``value = ..``, and ``if best is None or value > best: best = value``."""
        is_first = self._compare(self.load(_BEST), ast.Is(), self.constant(None))
        order = ast.Gt() if name == "max" else ast.Lt()
        is_better = self._compare(self.load(_VALUE), order, self.load(_BEST))
        test = self.at(ast.BoolOp(op=ast.Or(), values=[is_first, is_better]), value)
        take = self._store(_BEST, self.load(_VALUE))
        choice = self.at(ast.If(test=test, body=[take], orelse=[]), value)
        return [self._store(_VALUE, value), choice]

    def _end(self, name: str, has_option: bool) -> _Body:
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

    def _check(self, name: str) -> ast.stmt:
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
