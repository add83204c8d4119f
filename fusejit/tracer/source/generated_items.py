"""``__iter__`` methods that are one loop with a ``yield``: what they run over, and each item of it.

::

    def __iter__(self):                     def __iter__(self):
        for i in range(self.count):             return .st.generated(lambda: range(self.count),
            yield self.data[i]                                       lambda i: self.data[i])

So a compiled loop over the object runs over the range, and computes the item where Python would.
"""

from __future__ import annotations

import ast

from fusejit.support.syntax import walk, with_location

GENERATED = "generated"
_INNER = (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)


def with_generated_items(function: ast.AST, helper: str) -> None:
    """Replace the body of such a method, in place."""
    if not isinstance(function, ast.FunctionDef) or function.name != "__iter__":
        return
    body = function.body[ast.get_docstring(function, clean=False) is not None :]
    match body:
        case [ast.For(target, items, [ast.Expr(ast.Yield(ast.expr() as item))], [])]:
            names = target.elts if isinstance(target, ast.Tuple) else [target]
        case [ast.Expr(ast.YieldFrom(items))]:
            names = [ast.Name(id="item", ctx=ast.Store())]
            item = ast.Name(id="item", ctx=ast.Load())
            target = names[0]
        case _:
            return
    params = [name.id for name in names if isinstance(name, ast.Name)]
    inside = [node for part in (items, item) for node in walk(part)]
    if len(params) < len(names) or any(isinstance(node, _INNER) for node in inside):
        return
    if len({*params}) < len(params):
        return
    is_taken_apart = ast.Constant(value=isinstance(target, ast.Tuple))
    arguments = [_function([], items), _function(params, item), is_taken_apart]
    callback = ast.Name(id=f"{helper}.{GENERATED}", ctx=ast.Load())
    call = ast.Call(func=callback, args=arguments, keywords=[])
    at = body[0]
    for node in walk(call):
        if isinstance(node, ast.expr | ast.arg) and not hasattr(node, "lineno"):
            with_location(node, at)
    function.body = [with_location(ast.Return(value=call), at)]


def _function(params: list[str], body: ast.expr) -> ast.Lambda:
    arguments = ast.arguments([], [ast.arg(arg=name) for name in params], None, [], [], None, [])
    return ast.Lambda(args=arguments, body=body)
