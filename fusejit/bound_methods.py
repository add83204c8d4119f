"""The object of a bound method in ``a.m.explain(x)``.

Python finds the ``explain`` of a bound method on its function, which does not know the object. The
call stands in the source of the caller's frame: the names and attributes before ``.explain`` give
the bound method there.
"""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Iterator
from types import FrameType, MethodType
from typing import Any

from fusejit.identity import own_signature
from fusejit.syntax import parse

_READS = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.expr_context)


def with_object(
    of: tuple[Any, Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType
) -> tuple[Any, ...]:
    """The positional arguments of the call that a function shall explain or check.

    Parameters
    ----------
    of : pair of callables
        The undecorated function and its entry stub.
    name : str
        The attribute of the function that was called.
    args, kwargs
        The arguments that it was given.
    frame : frame
        The caller's.

    Raises
    ------
    TypeError
        If the function does not take these arguments.
    """
    function, stub = of
    methods = [m for m in _called_in(frame, name) if getattr(m, "__func__", None) is stub]
    objects = {id(method.__self__): method.__self__ for method in methods}
    if len(objects) == 1:
        args = (*objects.values(), *args)
    try:
        own_signature(function).bind(*args, **kwargs)
    except TypeError as error:
        owner, _, last = function.__qualname__.rpartition(".")
        if owner and not owner.endswith("<locals>"):
            error.add_note(f"pass the object as in {owner}.{last}.{name}(object, ...)")
        raise
    return args


def _called_in(frame: FrameType, name: str) -> Iterator[MethodType]:
    """The bound methods whose attribute is called where a frame is."""
    for owner in _owners(frame, name):
        if all(isinstance(node, _READS) for node in ast.walk(owner)):
            code = compile(ast.Expression(owner), "<fusejit>", "eval", dont_inherit=True)
            try:
                found = eval(code, frame.f_globals, frame.f_locals)
            except Exception:  # another call on these lines, of names that have no value yet
                continue
            if isinstance(found, MethodType):
                yield found


def _owners(frame: FrameType, name: str) -> list[ast.expr]:
    """The ``a.m`` of calls ``a.m.explain(..)`` where a frame is: of one, if positions are known."""
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    try:
        tree = parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError):
        return []
    positions = inspect.getframeinfo(frame).positions
    place = None if positions is None else (positions.lineno, positions.col_offset)
    exact, on_line = [], []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr != name:
            continue
        if node.lineno <= frame.f_lineno <= (node.end_lineno or node.lineno):
            on_line.append(node.func.value)
        if (node.lineno, node.col_offset) == place:
            exact.append(node.func.value)
    return exact or on_line
