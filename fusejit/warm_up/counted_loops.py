"""Functions that may be begun anew: a call is given up once its loops have run too often.

Which is so if nothing outside can tell that a call was begun: the arguments cannot be changed, and
the function changes only what it has made itself. Then Python runs a copy that counts the passes
through its loops, and raises `LoopsTooLong` after so many::

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
import copy
import math
from collections.abc import Callable
from itertools import repeat
from types import CellType, FunctionType
from typing import Any

from fusejit.tracer.capture.source_text import (
    FunctionSource,
    as_definition,
    compile_function,
    find_source,
)

_PASSES, _RAISED, _PASS = "fusejit_passes", "fusejit_loops_too_long", "fusejit_pass"
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
    """The loops of a call have run too often for Python to go on with it."""


def is_immutable(value: Any) -> bool:
    """Whether an argument cannot be changed."""
    kind = type(value)
    return kind in _IMMUTABLE or (kind is tuple and all(map(is_immutable, value)))


def counting(function: FunctionType, passes: int) -> Callable[..., Any] | None:
    """The function, given up after so many passes through its loops; None if that could be told.

    Takes what the function takes, of which nothing may be changed (`is_immutable`).
    """
    source = find_source(function)
    definition = None if isinstance(source, str) else as_definition(source.node)
    if definition is None or isinstance(source, str) or not _may_begin_anew(function, definition):
        return None
    node = copy.deepcopy(definition)
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


def _may_begin_anew(function: FunctionType, node: ast.FunctionDef) -> bool:
    """Whether a call changes nothing that was there before."""
    inner = [part for statement in node.body for part in ast.walk(statement)]
    if any(isinstance(part, _REFUSED) for part in inner) or node.args.kwonlyargs:
        return False
    if function.__code__.co_freevars:
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
                return False  # of a value
            continue
        value = _known(function, part.id)
        if id(part) in called:
            if not any(value is pure for pure in _PURE):
                return False
        elif not is_immutable(value) and not (value is math and id(part) in of_modules):
            return False
    return True


def _known(function: FunctionType, name: str) -> Any:
    """What a name from outside stands for; an object that may be changed if that is not told."""
    if name in function.__globals__:
        return function.__globals__[name]
    return vars(builtins).get(name, object())
