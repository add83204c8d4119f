"""Inner functions with ``functools.cache``: a table beside them, which their bodies look into.

::

    @lru_cache(maxsize=None)            memo = {}
    def ways(n, k):                     def ways(n, k):
        if n == 0:                          key = (n, k)
            return 1                        if key in memo:
        return ways(n - 1, k) + ..              return memo[key]
                                            if n == 0:
                                                memo[key] = result = 1
                                                return result
                                            memo[key] = result = ways(n - 1, k) + ..
                                            return result

Both have the results of earlier calls, of which the table has all. Functions that are asked for
more than to be called (``ways.cache_info()``) stay as they are; so do those of modules, whose
tables outlive the call.
"""

from __future__ import annotations

import ast
from typing import Any

from fusejit.support.syntax import copied, walk, with_location
from fusejit.tracer.source.bound_names import is_dotted
from fusejit.tracer.source.jumps import nodes_of
from fusejit.tracer.source.new_statements import made_of

_CACHES = ("cache", "lru_cache")


def with_memo_tables(node: ast.AST, helper: str) -> None:
    """Give the inner functions of a function their tables.

    Parameters
    ----------
    node : ast.AST
        The outermost function; changed in place.
    helper : str
        What the new names begin with.
    """
    called = {id(n.func) for n in walk(node) if isinstance(n, ast.Call)}
    asked = {
        n.id
        for n in walk(node)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and id(n) not in called
    }
    for outer in [n for n in walk(node) if isinstance(n, ast.FunctionDef)]:
        body: list[ast.stmt] = []
        for statement in outer.body:
            if isinstance(statement, ast.FunctionDef) and statement.name not in asked:
                body += _table_of(statement, helper) if _has_one_form(statement, node) else []
            body.append(statement)
        outer.body = body


def _has_one_form(function: ast.FunctionDef, node: ast.AST) -> bool:
    """Whether all calls give all parameters in order: others have results of their own."""
    count = len(function.args.posonlyargs) + len(function.args.args)
    calls = (n for n in walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name))
    own = [call for call in calls if call.func.id == function.name]  # type: ignore[attr-defined]
    starred = any(isinstance(a, ast.Starred) for call in own for a in call.args)
    return not starred and all(len(c.args) == count and not c.keywords for c in own)


def _table_of(function: ast.FunctionDef, helper: str) -> list[ast.stmt]:
    """The statements before a function that has a table; none if it has no decorator of these."""
    cache = _cache_of(function)
    arguments = function.args
    if cache is None or arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
        return []
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    if not names or any(isinstance(n, ast.Yield | ast.YieldFrom) for n in nodes_of(function.body)):
        return []
    memo, key, result = f"{helper}_memo_{function.name}", f"{helper}_key", f"{helper}_found"
    held = names[0] if len(names) == 1 else f"({', '.join(names)})"

    first, last = function.body[0], function.body[-1]
    keeping = _Keeping(f"{memo}[{key}] = {result}", result, helper)
    body = [new for old in function.body for new in _listed(keeping.visit(old))]
    look_up = [
        _with_check(made_of(f"{key} = {held}", first, helper), helper),
        made_of(f"if {key} in {memo}:\n    return {memo}[{key}]", first, helper),
    ]
    function.body = [*look_up, *body, made_of(f"{memo}[{key}] = None", last, helper)]
    function.decorator_list = []
    require = with_location(ast.Name(f"{helper}.require_cache", ast.Load()), function)
    call = with_location(ast.Call(require, [copied(cache)], []), function)
    return [with_location(ast.Expr(call), function), made_of(f"{memo} = {{}}", function, helper)]


class _Keeping(ast.NodeTransformer):
    """Has each ``return`` of a function keep the result first."""

    def __init__(self, store: str, result: str, helper: str) -> None:
        self._store, self._result, self._helper = store, result, helper

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        kept = made_of(f"{self._result} = None", node, self._helper)
        kept.value = node.value or kept.value
        kept.value = self._checked(kept.value)
        store = made_of(self._store, node, self._helper)
        return [kept, store, made_of(f"return {self._result}", node, self._helper)]

    def _checked(self, value: ast.expr) -> ast.expr:
        check = with_location(ast.Name(f"{self._helper}.memo_value", ast.Load()), value)
        return with_location(ast.Call(check, [value], []), value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node


def _with_check(store: ast.Assign, helper: str) -> ast.Assign:
    check = with_location(ast.Name(f"{helper}.memo_key", ast.Load()), store)
    store.value = with_location(ast.Call(check, [store.value], []), store)
    return store


def _listed(made: Any) -> list[ast.stmt]:
    return made if isinstance(made, list) else [made]


def _cache_of(function: ast.FunctionDef) -> ast.expr | None:
    """The decorator that keeps all results."""
    match function.decorator_list:
        case [ast.Name() | ast.Attribute() as cache] if is_dotted(cache):
            name = cache.attr if isinstance(cache, ast.Attribute) else cache.id
            return cache if name == "cache" else None
        case [ast.Call(cache, [ast.Constant(None)], [])] if is_dotted(cache):
            return cache
        case [ast.Call(cache, [], [ast.keyword("maxsize", ast.Constant(None))])]:
            return cache if is_dotted(cache) else None
    return None
