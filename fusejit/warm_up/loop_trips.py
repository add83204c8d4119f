"""Trip counts of the loops of a function, as far as the arguments of a call give them."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fusejit.ir.raw_reads import held_by

_SIZED = (list, tuple, dict, set, frozenset, str, bytes, bytearray, range)
_SAME_LENGTH = {"enumerate", "reversed", "sorted", "list", "tuple", "iter", "items", "values"}
_SAME_LENGTH |= {"keys", "copy"}
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}
_LARGEST = 1 << 62  # number that enters the arithmetic


def loop_trips(body: Iterable[ast.AST], arguments: Mapping[str, Any]) -> int:
    """Count the passes through all loops of some statements; one for each unknown trip count.

    Examples
    --------
    >>> tree = ast.parse("for i in range(n):\\n    for x in data:\\n        use(i, x)")
    >>> loop_trips(tree.body, {"n": 10, "data": [1, 2, 3]})
    30
    """
    return sum(_trips(node, arguments) for node in body)


def _trips(node: ast.AST, arguments: Mapping[str, Any]) -> int:
    if isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
        return 0
    inner = loop_trips(ast.iter_child_nodes(node), arguments)
    if isinstance(node, ast.For):
        return _length(node.iter, arguments) * max(1, inner)
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
        for generator in reversed(node.generators):
            inner = _length(generator.iter, arguments) * max(1, inner)
        return inner
    return max(1, inner) if isinstance(node, ast.While) else inner


def _length(node: ast.expr, arguments: Mapping[str, Any]) -> int:
    """The number of items; 1 if it is unknown."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id == "range":
            numbers = [_number(arg, arguments) for arg in node.args]
            if not numbers or len(numbers) > 3 or any(n is None for n in numbers):
                return 1
            bounds = [n for n in numbers if n is not None]
            return len(range(*bounds)) if 0 not in bounds[2:] else 1
        if node.func.id in _SAME_LENGTH and node.args:
            return _length(node.args[0], arguments)
        if node.func.id == "zip" and node.args:
            return min(_length(arg, arguments) for arg in node.args)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _length(node.func.value, arguments) if node.func.attr in _SAME_LENGTH else 1
    value = _value(node, arguments)
    return len(value) if type(value) in _SIZED else 1


def _number(node: ast.expr, arguments: Mapping[str, Any]) -> int | None:
    """An integer, if it follows from the arguments."""
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _number(node.left, arguments), _number(node.right, arguments)
        if left is None or right is None or (right == 0 and isinstance(node.op, ast.FloorDiv)):
            return None
        made = int(_OPERATORS[type(node.op)](left, right))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand, arguments)
        return None if inner is None else -inner
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        is_len = node.func.id == "len" and len(node.args) == 1
        value: Any = _value(node.args[0], arguments) if is_len else None
        return len(value) if type(value) in _SIZED else None
    else:
        value = _value(node, arguments)
        if type(value) is not int:
            return None
        made = value
    return made if abs(made) < _LARGEST else None


def _value(node: ast.expr, arguments: Mapping[str, Any]) -> Any:
    """An argument, an item of it, what an object holds under a name, or a constant; or None."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return arguments.get(node.id)
    if isinstance(node, ast.Attribute):
        return held_by(_value(node.value, arguments), node.attr)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        value, at = _value(node.value, arguments), node.slice.value
        if type(value) in (list, tuple) and type(at) is int and -len(value) <= at < len(value):
            return value[at]
    return None
