"""What `fuse_jit` does with objects that are no plain function: Python could run them.

Objects that hold a function (methods of classes, properties, partial calls) are made again around
its fused form. Functions that are entered several times (generators, coroutines), classes and other
callable objects stay as they are.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from fusejit.codegen.launcher.debuggers import is_of_measuring_tool

Decorate = Callable[[FunctionType], Any]


def _finds_attributes(obj: Any) -> bool:
    """``__getattribute__``, which Python calls also for what fusejit asks of arguments."""
    return type(obj) is FunctionType and obj.__name__ == "__getattribute__"


def _is_measured(obj: Any) -> bool:
    """The wrapper of a profiler, around a function."""
    return type(obj) is FunctionType and is_of_measuring_tool(obj.__globals__.get("__name__"))


_STAYS: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (inspect.iscoroutinefunction, "a coroutine function"),
    (inspect.isasyncgenfunction, "an asynchronous generator"),
    (inspect.isgeneratorfunction, "a generator function"),
    (_finds_attributes, "a method that any look at the object runs"),
    (_is_measured, "a profiler's wrapper, which measures the lines that Python runs"),
)


def why_it_stays(obj: Any) -> str | None:
    """What an object is that nothing can be compiled of; None for functions, and what holds one.

    Raises
    ------
    TypeError
        If it is nothing that Python could call, or find a function in.
    """
    for test, kind in _STAYS:
        if test(obj):
            return kind
    if type(obj) is FunctionType or type(obj) in _REMADE:
        return None
    if isinstance(obj, type):
        return "a class"
    if callable(obj) or hasattr(obj, "__get__"):
        return f"an object of type {type(obj).__name__}"
    raise TypeError(f"fuse_jit takes a Python function, not {type(obj).__name__}")


def decorated(obj: Any, decorate: Decorate) -> Any:
    """The fused form of a function, or an object like ``obj`` that holds it."""
    return decorate(obj) if type(obj) is FunctionType else _REMADE[type(obj)](obj, decorate)


def _inner(obj: Any, decorate: Decorate) -> Any:
    """A function inside another object; anything that cannot be compiled stays."""
    if obj is None or why_it_stays(obj) is not None:
        return obj
    return decorated(obj, decorate)


def _method_of_class(obj: Any, decorate: Decorate) -> Any:
    return type(obj)(_inner(obj.__func__, decorate))


def _bound_method(obj: MethodType, decorate: Decorate) -> Any:
    return MethodType(_inner(obj.__func__, decorate), obj.__self__)


def _property(obj: property, decorate: Decorate) -> property:
    get, put, delete = (_inner(part, decorate) for part in (obj.fget, obj.fset, obj.fdel))
    return property(get, put, delete, obj.__doc__)


def _cached_property(obj: Any, decorate: Decorate) -> Any:
    made = functools.cached_property(_inner(obj.func, decorate))
    made.attrname = obj.attrname
    return made


def _partial(obj: Any, decorate: Decorate) -> Any:
    made = type(obj)(_inner(obj.func, decorate), *obj.args, **obj.keywords)
    made.__dict__.update(obj.__dict__)
    return made


def _partial_method(obj: Any, decorate: Decorate) -> Any:
    return functools.partialmethod(_inner(obj.func, decorate), *obj.args, **obj.keywords)


_REMADE: dict[type, Callable[[Any, Decorate], Any]] = {
    staticmethod: _method_of_class,
    classmethod: _method_of_class,
    MethodType: _bound_method,
    property: _property,
    functools.cached_property: _cached_property,
    functools.partial: _partial,
    functools.partialmethod: _partial_method,
}
