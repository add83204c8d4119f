"""Generators that may run at once: what they yield is put into a list when a loop over it begins.

::

    def words(line):                def words(line):
        word = ""                       def run(line):
        for c in line:                      made = []
            if c == " ":                    word = ""
                yield word                  for c in line:
                word = ""                       if c == " ":
            else:                                   made.append(word)
                word += c                           ..
        yield word                          made.append(word)
                                            return made
                                        def python(line):
                                            <the body>
                                        return .st.listed_generator(run, python, (line,), (), False)

Nobody can tell when such a generator runs: it asks for nothing that may change meanwhile, and
changes nothing. The callback looks at what it is given, and at the names from outside. One that may
have many items is left to Python if a loop over it may end early, and after `MAX_STEPS` items. So
is one that raises an exception, which a loop may not have come to.
"""

from __future__ import annotations

import ast

from fusejit.support.syntax import copied, walk, with_location
from fusejit.tracer.source.bound_names import COMPREHENSIONS, assigned
from fusejit.tracer.source.jumps import nodes_of

LISTED, FEW_STEPS = "listed_generator", "few_steps"
_MADE, _STEPS, _RUN, _PYTHON = "the items", "the steps", "<generator>", "<generator of Python>"
_STATEMENTS = (
    *(ast.For, ast.If, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr),
    *(ast.Break, ast.Continue, ast.Pass),
)
_EXPRESSIONS = (
    *(ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp),
    *(ast.Tuple, ast.List, ast.Starred, ast.Subscript, ast.Slice, ast.ListComp),
    *(ast.GeneratorExp, ast.SetComp),
)
_PURE = frozenset(
    (
        *("range", "len", "min", "max", "abs", "int", "float", "bool", "str", "tuple", "list"),
        *("set", "sorted", "enumerate", "zip", "reversed", "sum", "any", "all", "ord", "chr"),
    )
)
_OF_TEXTS = frozenset(name for name in vars(str) if not name.startswith("_")) - {"format"}
_OF_LISTS = frozenset(("append", "pop", "insert", "reverse", "sort", "extend", "add", "discard"))
_NEW = (ast.List, ast.ListComp, ast.SetComp, ast.BinOp)


def with_listed_generators(function: ast.AST, helper: str) -> None:
    """Replace the bodies of such generators, in place."""
    for node in [one for one in walk(function) if isinstance(one, ast.FunctionDef)]:
        if _may_run_at_once(node):
            _replace(node, helper)


def _may_run_at_once(function: ast.FunctionDef) -> bool:
    """Whether nothing but its arguments and names from outside tells what it yields."""
    own = [*nodes_of(function.body)]
    statements = {id(one.value) for one in own if isinstance(one, ast.Expr)}
    called = {id(one.func) for one in own if isinstance(one, ast.Call)}
    new = _new_containers(function)

    def is_allowed(node: ast.AST) -> bool:
        match node:
            case ast.Return():
                return node.value is None
            case ast.Yield():
                return node.value is not None and id(node) in statements
            case ast.While():
                return not _is_endless(node)
            case ast.Call():
                return _is_pure(node, new)
            case ast.Attribute():
                return id(node) in called
            case ast.Subscript(ctx=ast.Store() | ast.Del()):
                return _is_one_of(node, new)
            case ast.stmt():
                return isinstance(node, _STATEMENTS)
            case ast.expr():
                return isinstance(node, _EXPRESSIONS)
        return True

    given = function.args
    is_generator = any(isinstance(one, ast.Yield) for one in own) and function.name != "__iter__"
    if not is_generator or given.vararg or given.kwarg or not all(map(is_allowed, own)):
        return False
    inner = [one for node in own if isinstance(node, COMPREHENSIONS) for one in walk(node)]
    inside = set(map(id, inner))
    return not _stored(inner) & _read([one for one in own if id(one) not in inside])


def _stored(nodes: list[ast.AST]) -> set[str]:
    return {one.id for one in nodes if isinstance(one, ast.Name) and type(one.ctx) is ast.Store}


def _read(nodes: list[ast.AST]) -> set[str]:
    return {one.id for one in nodes if isinstance(one, ast.Name) and type(one.ctx) is ast.Load}


def _is_endless(loop: ast.While) -> bool:
    """Whether a loop has no end but that of who asks for the items."""
    ends = any(isinstance(one, ast.Break | ast.Return) for one in walk(loop))
    return isinstance(loop.test, ast.Constant) and not ends


def _is_one_of(item: ast.AST, names: set[str]) -> bool:
    """Whether it is an item of what one of some names holds."""
    owner = item.value if isinstance(item, ast.Subscript) else None
    return isinstance(owner, ast.Name) and owner.id in names


def _new_containers(function: ast.FunctionDef) -> set[str]:
    """Names that only new lists and sets are assigned to."""
    found: dict[str, bool] = {}
    for node in nodes_of(function.body):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found[target.id] = found.get(target.id, True) and _is_new(node.value)
        elif isinstance(node, ast.For | ast.AugAssign):
            found |= dict.fromkeys(assigned([node], heads=True), False)
    return {name for name, is_new in found.items() if is_new}


def _is_new(node: ast.expr) -> bool:
    if isinstance(node, ast.Subscript):  # list(xs)[::-1]
        return isinstance(node.slice, ast.Slice) and _is_new(node.value)
    called = node.func if isinstance(node, ast.Call) else None
    makes = isinstance(called, ast.Name) and called.id in ("list", "set", "sorted")
    return isinstance(node, _NEW) or makes


def _is_pure(call: ast.Call, new: set[str]) -> bool:
    """Whether a call is that of a function that changes nothing but a new container."""
    function = call.func
    if isinstance(function, ast.Name):
        return function.id in _PURE
    if not isinstance(function, ast.Attribute):
        return False
    owner = function.value
    is_of_new = isinstance(owner, ast.Name) and owner.id in new
    return function.attr in _OF_TEXTS or (is_of_new and function.attr in _OF_LISTS)


def _is_short(function: ast.FunctionDef) -> bool:
    """Whether its loops run over displays: it has as few items as its text says."""
    own = [*nodes_of(function.body)]
    loops = [one for one in own if isinstance(one, ast.For)]
    has_others = any(isinstance(one, (ast.While, *COMPREHENSIONS)) for one in own)
    return not has_others and all(isinstance(one.iter, ast.Tuple | ast.List) for one in loops)


def _replace(function: ast.FunctionDef, helper: str) -> None:
    arguments = function.args
    params = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    own = [*nodes_of(function.body)]
    outside = sorted(_read(own) - {*params, *assigned(function.body), *_stored(own)})
    is_short, at = _is_short(function), function.body[0]
    maker = _Maker(helper, is_short, at)
    run = maker.function(_RUN, params, maker.listing(list(map(copied, function.body))))
    python = maker.function(_PYTHON, params, function.body)
    given = [maker.load(_RUN), maker.load(_PYTHON), maker.names(params), maker.names(outside)]
    listed = maker.callback(LISTED, *given, maker.constant(is_short))
    function.body = [run, python, with_location(ast.Return(value=listed), at)]


class _Maker:
    """Makes the function that lists the items of a generator."""

    def __init__(self, helper: str, is_short: bool, at: ast.stmt) -> None:
        self._helper, self._is_short, self._at = helper, is_short, at

    def load(self, name: str) -> ast.expr:
        """What a name holds."""
        return with_location(ast.Name(id=name, ctx=ast.Load()), self._at)

    def constant(self, value: int) -> ast.expr:
        """A number."""
        return with_location(ast.Constant(value=value), self._at)

    def names(self, names: list[str]) -> ast.expr:
        """The tuple of what some names hold."""
        elements = list(map(self.load, names))
        return with_location(ast.Tuple(elts=elements, ctx=ast.Load()), self._at)

    def callback(self, name: str, *given: ast.expr) -> ast.expr:
        """A call of a callback."""
        function = self.load(f"{self._helper}.{name}")
        return with_location(ast.Call(func=function, args=[*given], keywords=[]), self._at)

    def function(self, name: str, params: list[str], body: list[ast.stmt]) -> ast.FunctionDef:
        """A function with such parameters."""
        args = [with_location(ast.arg(arg=param), self._at) for param in params]
        arguments = ast.arguments([], args, None, [], [], None, [])
        made = ast.FunctionDef(name=name, args=arguments, body=body, decorator_list=[])
        if "type_params" in made._fields:
            vars(made)["type_params"] = []  # of Python 3.12 and later
        return with_location(made, self._at)

    def listing(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of a generator, which put its items into a list, and return that."""
        items = with_location(ast.List(elts=[], ctx=ast.Load()), self._at)
        start = [self._store(_MADE, items)]
        if not self._is_short:
            start.append(self._store(_STEPS, self.constant(0)))
        for node in [one for statement in body for one in walk(statement)]:
            for name, value in ast.iter_fields(node):
                if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                    inner = [new for one in value for new in self._listed(one)]
                    is_pass = isinstance(node, ast.While) and name == "body"
                    setattr(node, name, [*(self._step() if is_pass else ()), *inner])
        own = [new for one in body for new in self._listed(one)]
        return [*start, *own, self._end()]

    def _listed(self, statement: ast.stmt) -> list[ast.stmt]:
        """``yield item`` is ``made.append(item)``, and ``return`` returns the list."""
        if isinstance(statement, ast.Return):
            return [self._end()]
        if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Yield):
            return [statement]
        item = statement.value.value
        assert item is not None
        method = ast.Attribute(value=self.load(_MADE), attr="append", ctx=ast.Load())
        append = with_location(method, statement)
        call = with_location(ast.Call(func=append, args=[item], keywords=[]), statement)
        return [*self._step(), with_location(ast.Expr(value=call), statement)]

    def _step(self) -> list[ast.stmt]:
        """Count an item, or a pass of a ``while`` loop."""
        if self._is_short:
            return []
        more = ast.BinOp(left=self.load(_STEPS), op=ast.Add(), right=self.constant(1))
        count = self._store(_STEPS, with_location(more, self._at))
        check = ast.Expr(value=self.callback(FEW_STEPS, self.load(_STEPS)))
        return [count, with_location(check, self._at)]

    def _store(self, name: str, value: ast.expr) -> ast.stmt:
        target = with_location(ast.Name(id=name, ctx=ast.Store()), self._at)
        return with_location(ast.Assign(targets=[target], value=value), self._at)

    def _end(self) -> ast.stmt:
        return with_location(ast.Return(value=self.load(_MADE)), self._at)
