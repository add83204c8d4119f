"""Arguments of primitives: a `ScheduleError` names one that is not of its kind.

>>> h = schedule(lambda a: np.exp(a), np.ones((3, 4)))["exp"]
>>> h.tile(i=4.5)
Traceback (most recent call last):
    ...
fusejit.errors.ScheduleError: tile(i=4.5) of exp: i is 4.5; it is a whole
number below 2 ** 31, or Parts(number)
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Iterable
from numbers import Real
from typing import Any, TypeVar, cast

import numpy as np

from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.in_tiles import Parts
from fusejit.transform.core.base import BaseHandle, call, short
from fusejit.transform.core.lookup import labels

F = TypeVar("F", bound=Callable[..., Any])

Names = str | Iterable[str]
"""Names of dims or loops: one text, ``"j i k"``, or names one by one."""

OpNames = str | BaseHandle | Iterable[str | BaseHandle]
"""Names of ops, in one text or one by one, or their handles."""


_LIMIT = 2**31


def primitive(function: F) -> F:
    """A primitive that checks the kinds of its arguments first."""
    signature, name = inspect.signature(function), function.__name__
    parameters = [*signature.parameters.values()][1:]
    checks = [(p.name, p.kind, *_KINDS[p.annotation]) for p in parameters]
    shown = str(signature.replace(parameters=parameters, return_annotation=signature.empty))

    @functools.wraps(function)
    def step(*args: Any, **keywords: Any) -> Any:
        try:
            bound = signature.bind(*args, **keywords)
        except TypeError as error:
            raise TypeError(f"{name}: {error}; it is {name}{shown}") from None
        arguments, handle = bound.arguments, args[0]
        if not isinstance(handle, BaseHandle):
            raise TypeError(f'{name} is a step of an op: s["add"].{name}{shown}')

        def checked(label: str, value: Any, accept: Callable[[Any], Any], what: str) -> Any:
            try:
                return accept(value)
            except (TypeError, ValueError):
                text = call(name, *args[1:], **keywords)
                why = f"{label} is {short(value)}; it is {what}"
                raise illegal(text, handle.op.name, why) from None

        for label, kind, accept, what in checks:
            if label not in arguments:
                continue
            value = arguments[label]
            if kind is inspect.Parameter.VAR_POSITIONAL:
                value = tuple(checked(label, v, accept, what) for v in value)
            elif kind is inspect.Parameter.VAR_KEYWORD:
                value = {key: checked(key, v, accept, what) for key, v in value.items()}
            else:
                value = checked(label, value, accept, what)
            arguments[label] = value
        return function(*bound.args, **bound.kwargs)

    return cast(F, step)


def names(given: Names | Iterable[Names]) -> tuple[str, ...]:
    """Names one by one, in whatever form they are given."""
    if isinstance(given, str):
        return tuple(given.split())
    return tuple(name for part in given for name in names(part))


def op_names(handle: BaseHandle, given: OpNames | Iterable[OpNames]) -> tuple[str, ...]:
    """Names of ops one by one; those of handles are their names in the schedule of ``handle``."""
    if isinstance(given, BaseHandle):
        return (op_name(handle, given),)
    if isinstance(given, str):
        return tuple(given.split())
    return tuple(name for part in given for name in op_names(handle, part))


def op_name(handle: BaseHandle, given: str | BaseHandle) -> str:
    """The name of one op in the schedule of ``handle``."""
    if isinstance(given, str):
        return given
    schedule = handle.schedule
    return labels(schedule.graph)[schedule.op_named(given)]


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise TypeError
    return value


def _names(value: Any) -> tuple[str, ...]:
    return tuple(_name(v) for v in (value.split() or [""] if isinstance(value, str) else value))


def _op_name(value: Any) -> str | BaseHandle:
    return value if isinstance(value, BaseHandle) else _name(value)


def _op_names(value: Any) -> tuple[str | BaseHandle, ...]:
    if isinstance(value, BaseHandle):
        return (value,)
    return tuple(_op_name(v) for v in (value.split() or [""] if isinstance(value, str) else value))


def _flag(value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise TypeError
    return bool(value)


def _integer(value: Any) -> int:
    if isinstance(value, bool | np.bool_):
        raise TypeError
    number = operator.index(value)
    if abs(number) >= _LIMIT:
        raise ValueError
    return number


def _size(value: Any) -> int | Parts:
    return Parts(_integer(value.number)) if isinstance(value, Parts) else _integer(value)


def is_number(value: Any) -> bool:
    """Whether something is a real number, and no bool."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _positive(value: Any) -> float:
    if not is_number(value) or not value > 0:
        raise TypeError
    return float(value)


_KINDS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "str": (_name, "one name, as text"),
    "str | None": (lambda value: None if value is None else _name(value), "one name, as text"),
    "Names": (_names, "one text with names, or a list of names"),
    "str | BaseHandle": (_op_name, "the name of an op, or its handle"),
    "OpNames": (_op_names, "one text with names of ops, or a list of names or handles"),
    "bool": (_flag, "True or False"),
    "int": (_integer, "a whole number below 2 ** 31"),
    "int | Parts": (_size, "a whole number below 2 ** 31, or Parts(number)"),
    "float": (_positive, "a number above 0"),
}
"""Annotation -> the value as primitives use it, and what errors call it."""
