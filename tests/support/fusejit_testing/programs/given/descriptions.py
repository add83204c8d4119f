"""What a caller can see of objects: types, contents, attributes and which objects are one."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

PROGRAM = "mutation_program"  # the module of the classes of a random program


class Describer:
    """Describes objects one after the other, with a number for each that has an identity.

    Equal descriptions stand for objects that a program cannot tell apart. Tuples, strings and
    numbers have no number: which of them are one is up to Python.
    """

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        self.kept: list[Any] = []  # so that no other object has the same id

    def of(self, obj: Any) -> str:
        """The description of an object; a second time, its number only."""
        if isinstance(obj, tuple):
            return f"{type(obj).__name__}({', '.join(map(self.of, obj))})"
        if not has_identity(obj):
            return f"{type(obj).__name__} {obj!r}"
        if id(obj) in self.numbers:
            return f"#{self.numbers[id(obj)]}"
        number = self.numbers[id(obj)] = len(self.numbers)
        self.kept.append(obj)
        return f"#{number} {type(obj).__name__}({', '.join(self._parts(obj))})"

    def _parts(self, obj: Any) -> Iterator[str]:
        if isinstance(obj, np.ndarray):
            yield f"{obj.dtype} {obj.shape} {obj.tolist()!r}"
        elif isinstance(obj, list | deque):
            yield from map(self.of, obj)
        elif isinstance(obj, dict):
            for key, value in obj.items():
                yield f"{self.of(key)}: {self.of(value)}"
        elif isinstance(obj, set | frozenset):
            yield from sorted(f"{type(each).__name__} {each!r}" for each in obj)
        for name, value in attributes_of(obj):
            yield f"{name}={self.of(value)}"


def has_identity(obj: Any) -> bool:
    """Whether programs may change the object, and therefore see which one it is."""
    is_container = isinstance(obj, list | dict | set | frozenset | deque | np.ndarray)
    return is_container or (type(obj).__module__ == PROGRAM and not isinstance(obj, type))


def attributes_of(obj: Any) -> Iterator[tuple[str, Any]]:
    """The attributes in slots, and then those in the ``__dict__``, in its order."""
    if type(obj).__module__ != PROGRAM:
        return
    for each in type(obj).__mro__:
        for name in vars(each).get("__slots__", ()):
            if hasattr(obj, name):
                yield name, getattr(obj, name)
    yield from getattr(obj, "__dict__", {}).items()


def class_values(names: dict[str, Any]) -> list[Any]:
    """The numbers and strings that classes of a program hold."""
    classes = [c for c in names.values() if isinstance(c, type) and c.__module__ == PROGRAM]
    return [
        (each.__name__, name, value)
        for each in classes
        for name, value in vars(each).items()
        if isinstance(value, int | float | str) and not name.startswith("__")
    ]
