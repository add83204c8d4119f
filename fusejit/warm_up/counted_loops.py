"""Calls that can be abandoned in the middle and started again, compiled.

A call is restartable if it has no effect outside: its arguments are immutable, and the function
changes only objects that it has made. Python runs a copy of a restartable function that counts the
passes through its loops and raises `LoopsTooLong` after a given number::

    while n != 1:
        for _ in passes:
            break
        else:
            raise LoopsTooLong
        ...
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable
from itertools import repeat
from types import CellType, FunctionType
from typing import Any

from fusejit.support.frame_readers import names_in
from fusejit.support.syntax import copied
from fusejit.tracer.source.source_text import (
    FunctionSource,
    as_definition,
    compile_function,
    find_source,
)

_PASSES, _RAISED, _PASS = "fusejit_passes", "fusejit_loops_too_long", "fusejit_pass"
_OWN = (_PASSES, _RAISED, _PASS)
_COUNTED = f"for {_PASS} in {_PASSES}:\n    break\nelse:\n    raise {_RAISED}"
_PURE = (
    *(range, len, abs, min, max, sum, sorted, int, float, complex, bool, str, list, dict, set),
    *(tuple, enumerate, zip, reversed, divmod, pow, round, any, all, ord, chr, bin, hex),
)
_REFUSED = (
    *(ast.Global, ast.Nonlocal, ast.Try, ast.With, ast.Yield, ast.YieldFrom, ast.Await),
    *(ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Lambda, ast.TryStar),
    *(ast.AsyncFor, ast.AsyncWith, ast.AsyncFunctionDef),
)
_IMMUTABLE = (bool, int, float, complex, str, bytes, type(None))


class LoopsTooLong(BaseException):
    """The loops of an interpreted call have made more passes than allowed."""


def is_immutable(value: Any) -> bool:
    """Whether an argument is immutable."""
    kind = type(value)
    return kind in _IMMUTABLE or (kind is tuple and all(map(is_immutable, value)))


def counting(function: FunctionType, passes: int) -> Callable[..., Any] | None:
    """Make a copy of a function that raises `LoopsTooLong` after a number of passes.

    The copy takes immutable arguments by position. None if the function is not restartable.
    """
    source = find_source(function)
    definition = None if isinstance(source, str) else as_definition(source.node)
    if definition is None or isinstance(source, str) or not _is_restartable(function, definition):
        return None
    node = copied(definition)
    for loop in ast.walk(node):
        if isinstance(loop, ast.For | ast.While):
            counted = ast.parse(_COUNTED).body
            for part in (p for statement in counted for p in ast.walk(statement)):
                ast.copy_location(part, loop.body[0])
            loop.body = [*counted, *loop.body]
    return _made(function, source, node, passes)


def _made(
    function: FunctionType, source: FunctionSource, node: ast.FunctionDef, passes: int
) -> Callable[..., Any] | None:
    try:
        code = compile_function(source, node, function.__code__, (_PASSES, _RAISED))
    except (SyntaxError, ValueError, RecursionError):
        return None

    def run(*args: Any) -> Any:
        given = {_PASSES: CellType(repeat(None, passes)), _RAISED: CellType(LoopsTooLong)}
        closure = tuple(given[name] for name in code.co_freevars)
        made = FunctionType(code, function.__globals__, None, None, closure)
        return made(*args)

    return run


def _is_restartable(function: FunctionType, node: ast.FunctionDef) -> bool:
    """Whether a call with immutable arguments has no effect outside."""
    inner = [part for statement in node.body for part in ast.walk(statement)]
    if any(isinstance(part, _REFUSED) for part in inner) or node.args.kwonlyargs:
        return False
    if function.__code__.co_freevars or not {*names_in(function.__code__)}.isdisjoint(_OWN):
        return False
    if node.args.vararg is not None or node.args.kwarg is not None:
        return False
    stored = {p.id for p in inner if isinstance(p, ast.Name) and not isinstance(p.ctx, ast.Load)}
    own = stored | {arg.arg for arg in (*node.args.posonlyargs, *node.args.args)}
    called = {id(part.func) for part in inner if isinstance(part, ast.Call)}
    of_modules = {id(part.value) for part in inner if isinstance(part, ast.Attribute)}
    for part in inner:
        if isinstance(part, ast.Attribute) and not isinstance(part.ctx, ast.Load):
            return False
        if not isinstance(part, ast.Name) or part.id in own:
            if isinstance(part, ast.Name) and id(part) in called:
                return False  # a local value is called
            continue
        value = _known(function, part.id)
        if id(part) in called:
            if not any(value is pure for pure in _PURE):
                return False
        elif not is_immutable(value) and not (value is math and id(part) in of_modules):
            return False
    return True


def _known(function: FunctionType, name: str) -> Any:
    """The value of a global or builtin name; a mutable object if it is unknown."""
    if name in function.__globals__:
        return function.__globals__[name]
    return vars(builtins).get(name, object())
