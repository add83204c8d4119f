"""What an ``__iter__`` of one loop with a ``yield`` returns: its items, computed one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from fusejit.dataclass import replace
from fusejit.tracer.indexing.iteration import Items, items_of
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python
from fusejit.tracer.program.unrolling import native_iter
from fusejit.tracer.values.array import TracedArray


class Generated:
    """A generator that has not begun.

    Parameters
    ----------
    source : callable
        What it runs over, found when it begins.
    item : callable
        Computes what it yields.
    """

    def __init__(self, source: Callable[[], Any], item: Callable[[Any], Any]) -> None:
        self._source, self._item = source, item
        self._running: Iterator[Any] | None = None

    def items(self) -> Any:
        """What a loop runs over that begins now: items of the kernel, or Python's own."""
        source = self._source()
        is_number = isinstance(source, TracedArray) and not source.ndim
        found: Items | None = None if is_number else items_of(source)
        if found is None:
            return map(self._item, native_iter(source))
        at = found.item
        return replace(found, item=lambda place: self._item(at(place)))

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._running is None:
            self._running = native_iter(self.items())
        return next(self._running)

    def user_attribute(self, name: str) -> NoReturn:
        """Refuse what a generator has and this has not."""
        raise needs_python(f"reads {name!r} of a generator", MOVE_OUTSIDE)
