"""Loops and conditionals of rewritten code that runs outside a trace: Python's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


class NativeLoop:
    """A loop in which nothing is traced."""

    is_traced = enters = leaves = repeats_condition = False

    def __init__(self, iterable: Iterable[Any] = ()) -> None:
        self._iterable = iterable

    def __iter__(self) -> Iterator[Any]:
        return iter(self._iterable)

    def again(self) -> bool:
        """Whether a ``while`` loop tests its condition once more."""
        return True

    def test(self, condition: Any, may_repeat: bool = False) -> bool:
        """The condition of a ``while`` loop."""
        return bool(condition)

    def stops(self, flag: Any) -> bool:
        """Whether ``break`` or ``return`` was met."""
        return bool(flag)


class NativeIf:
    """A conditional whose condition is known."""

    is_traced = False

    def __init__(self, taken: bool) -> None:
        self.taken = taken
        self.other = not taken
