"""The object of a bound method in ``a.m.explain(x)``.

Python finds the ``explain`` of a bound method on its function, which does not know the object. The
call stands in the source of the caller's frame: the names and attributes before ``.explain`` give
the bound method there. An object without a name, as in ``A().m.explain(x)``, no longer exists when
``explain`` runs, and the expression before it must not run twice: that is an error.
"""

from __future__ import annotations

import ast
import builtins
import dis
import inspect
import itertools
import linecache
from types import FrameType, MethodType
from typing import Any

from fusejit.support.identity import own_signature
from fusejit.support.syntax import copied, parse

_READS = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.expr_context)
_READERS = {"getattr": getattr, "super": super, "type": type}  # calls that only read
_LOADS = ("LOAD_NAME", "LOAD_FAST", "LOAD_GLOBAL", "LOAD_DEREF", "LOAD_CLASSDEREF")
_OBJECT_NAMES = ("self", "cls")


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
    owners = _owners(frame, name)
    methods = [m for m in map(_Reading(frame).method, owners) if m and m.__func__ is stub]
    objects = {id(method.__self__): method.__self__ for method in methods}
    if len(objects) == 1:
        return _that_fit(function, name, (*objects.values(), *args), kwargs)
    is_unknown = len(owners) == 1 and any(isinstance(n, ast.Call) for n in ast.walk(owners[0]))
    if is_unknown and args and not _may_be_object(args[0], function):
        raise _without_object(TypeError("the object of the method is unknown"), function, name)
    return _that_fit(function, name, args, kwargs)


def _that_fit(
    function: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """The same arguments, if the function takes them."""
    try:
        own_signature(function).bind(*args, **kwargs)
    except TypeError as error:
        raise _without_object(error, function, name) from None
    return args


def _without_object(error: TypeError, function: Any, name: str) -> TypeError:
    """An error with a note that says how to pass the object of a method."""
    owner, _, last = function.__qualname__.rpartition(".")
    if owner and not owner.endswith("<locals>"):
        error.add_note(
            f"give the object a name, as in a = {owner}(...); a.{last}.{name}(...), or pass it as "
            f"in {owner}.{last}.{name}(object, ...)"
        )
    return error


def _may_be_object(arg: Any, function: Any) -> bool:
    """Whether an argument may be what a method is called on; True for other functions."""
    if not set(_OBJECT_NAMES).intersection(function.__code__.co_varnames[:1]):
        return True
    owner = function.__qualname__.rpartition(".")[0]
    classes = (*type(arg).__mro__, *(arg.__mro__ if isinstance(arg, type) else ()))
    return any(cls.__qualname__ == owner for cls in classes)


class _Reading(ast.NodeTransformer):
    """Evaluate expressions of a frame that only read: what they ran before is not run again."""

    def __init__(self, frame: FrameType) -> None:
        self._frame = frame

    def method(self, owner: ast.expr) -> MethodType | None:
        """The bound method that an expression gives; None for other values, and unknown ones."""
        node = self.visit(copied(owner))
        if not all(isinstance(n, _READS) or self._is_reader(n) for n in ast.walk(node)):
            return None
        whole = ast.fix_missing_locations(ast.Expression(node))
        code = compile(whole, "<fusejit>", "eval", dont_inherit=True)
        try:
            found = eval(code, self._frame.f_globals, self._frame.f_locals)
        except Exception:  # another call on these lines, of names that have no value yet
            return None
        return found if isinstance(found, MethodType) else None

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        """``(a := A())`` has been assigned: ``a``."""
        return ast.Name(node.target.id, ast.Load())

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """``super()`` with its arguments."""
        if self._is_reader(node) and not node.args and self._frame.f_code.co_argcount:
            names = "__class__", self._frame.f_code.co_varnames[0]
            node.args = [ast.Name(name, ast.Load()) for name in names]
        return node if self._is_reader(node) else self.generic_visit(node)

    def _is_reader(self, node: ast.AST) -> bool:
        """Whether a node calls one of Python's functions that only read."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return False
        name, frame = node.func.id, self._frame
        known = {**vars(builtins), **frame.f_globals, **frame.f_locals}.get(name)
        return known is not None and known is _READERS.get(name)


def _owners(frame: FrameType, name: str) -> list[ast.expr]:
    """The ``a.m`` of calls ``a.m.explain(..)`` where a frame is: of one, if positions are known."""
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    if not lines:  # python -c, Python's prompt before 3.13, exec
        return _loaded_owners(frame, name)
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


def _loaded_owners(frame: FrameType, name: str) -> list[ast.expr]:
    """The same of names and attributes alone, from the instructions before the call."""
    positions = frame.f_code.co_positions()
    line, _, column, _ = next(itertools.islice(positions, frame.f_lasti // 2, None))
    found: list[ast.expr] = []
    owner: ast.expr | None = None
    for instruction in dis.get_instructions(frame.f_code):
        operation, argument = instruction.opname, instruction.argval
        at = instruction.positions
        begins_there = at is not None and (at.lineno, at.col_offset) == (line, column)
        is_called = operation in ("LOAD_METHOD", "LOAD_ATTR") and argument == name
        if owner is not None and is_called and begins_there:
            found.append(owner)
        if operation in _LOADS:
            owner = ast.Name(argument, ast.Load())
        elif operation == "LOAD_ATTR" and owner is not None:
            owner = ast.Attribute(owner, argument, ast.Load())
        else:
            owner = None
    return found
