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
                                        return .st.listed_generator(run, python, (line,), (), True)

Nobody can tell when such a generator runs: it asks for nothing that may change meanwhile, changes
nothing, and has an end. The callback looks at what it is given, and at the names from outside.
"""

from __future__ import annotations

import ast

from fusejit.support.syntax import copied, walk, with_location
from fusejit.tracer.source.bound_names import COMPREHENSIONS, assigned
from fusejit.tracer.source.jumps import nodes_of

LISTED = "listed_generator"
_MADE, _RUN, _PYTHON = "the items", "<generator>", "<generator of Python>"
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
_MAY_RAISE = (ast.Subscript, ast.Call, ast.Pow)
_DIVISIONS = (ast.Div, ast.FloorDiv, ast.Mod)


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


def _may_raise(node: ast.AST) -> bool:
    """Whether an expression may raise of numbers and texts."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, _DIVISIONS):
        return not (isinstance(node.right, ast.Constant) and node.right.value)
    return isinstance(node, _MAY_RAISE)


def _replace(function: ast.FunctionDef, helper: str) -> None:
    arguments = function.args
    params = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    own = [*nodes_of(function.body)]
    outside = sorted(_read(own) - {*params, *assigned(function.body), *_stored(own)})
    is_finite = not any(isinstance(one, ast.While) for one in own)
    never_raises = not any(map(_may_raise, own))
    at = function.body[0]

    def load(name: str) -> ast.expr:
        return with_location(ast.Name(id=name, ctx=ast.Load()), at)

    def parts(names: list[str]) -> ast.expr:
        return with_location(ast.Tuple(elts=list(map(load, names)), ctx=ast.Load()), at)

    run = _definition(_RUN, params, [_made(at), *map(copied, function.body), _returned(at)], at)
    for node in walk(run):
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(node, name, [_appended(one) for one in value])
    python = _definition(_PYTHON, params, function.body, at)
    ends = with_location(ast.Constant(value=is_finite and never_raises), at)
    callback = load(f"{helper}.{LISTED}")
    given = [load(_RUN), load(_PYTHON), parts(params), parts(outside), ends]
    call = with_location(ast.Call(func=callback, args=given, keywords=[]), at)
    function.body = [run, python, with_location(ast.Return(value=call), at)]


def _definition(
    name: str, params: list[str], body: list[ast.stmt], at: ast.stmt
) -> ast.FunctionDef:
    args = [with_location(ast.arg(arg=param), at) for param in params]
    arguments = ast.arguments([], args, None, [], [], None, [])
    made = ast.FunctionDef(name=name, args=arguments, body=body, decorator_list=[])
    if "type_params" in made._fields:
        vars(made)["type_params"] = []  # of Python 3.12 and later
    return with_location(made, at)


def _made(at: ast.stmt) -> ast.stmt:
    target = with_location(ast.Name(id=_MADE, ctx=ast.Store()), at)
    value = with_location(ast.List(elts=[], ctx=ast.Load()), at)
    return with_location(ast.Assign(targets=[target], value=value), at)


def _returned(at: ast.stmt) -> ast.stmt:
    value = with_location(ast.Name(id=_MADE, ctx=ast.Load()), at)
    return with_location(ast.Return(value=value), at)


def _appended(statement: ast.stmt) -> ast.stmt:
    """``yield item`` as ``made.append(item)``, and ``return`` with what was made."""
    if isinstance(statement, ast.Return) and statement.value is None:
        return _returned(statement)
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Yield):
        return statement
    made = with_location(ast.Name(id=_MADE, ctx=ast.Load()), statement)
    append = with_location(ast.Attribute(value=made, attr="append", ctx=ast.Load()), statement)
    item = statement.value.value
    assert item is not None
    call = with_location(ast.Call(func=append, args=[item], keywords=[]), statement)
    return with_location(ast.Expr(value=call), statement)
