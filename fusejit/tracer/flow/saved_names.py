"""`SavedNames`: what the names of a function hold while it waits for a call of itself.

Numbers, strings and tuples of them stand in one list of the kernel, and the lists of each name in
one of their own. Which names hold lists, an attempt finds out.
"""

from __future__ import annotations

from typing import Any

from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.lists.any_list import AnyList
from fusejit.tracer.lists.displays import Displays
from fusejit.tracer.lists.traced_list import TracedList
from fusejit.tracer.program.fallback import Retrace


class SavedNames:
    """The stack of one place where a function calls itself.

    Parameters
    ----------
    trace : Trace
    key : tuple
        A visit of the place.
    """

    def __init__(self, trace: Trace, key: tuple[Any, ...]) -> None:
        self._trace, self._key = trace, (key, "lists")
        self._others = TracedList(trace, (key, "others"))
        places = trace.table.get(self._key, ())
        self._lists = {place: TracedList(trace, (key, place)) for place in places}

    def push(self, held: tuple[Any, ...]) -> None:
        """Save what the names hold."""
        trace = self._trace
        places = {k for k, one in enumerate(held) if self._is_list(one)} - {*self._lists}
        if places:
            trace.table[self._key] = tuple(sorted(places | {*self._lists}))
            raise Retrace
        for place, saved in self._lists.items():
            saved.append(held[place])
        self._others.append(self._without_lists(held))

    def moved(self, held: tuple[Any, ...]) -> tuple[Any, ...]:
        """What the names hold that were saved: of lists, new ones that nobody reads."""
        if not self._lists:
            return held
        trace = self._trace
        key = trace.visit((*self._key, "moved"))
        return tuple(
            TracedList(trace, (key, k)) if k in self._lists else one for k, one in enumerate(held)
        )

    def pop(self, count: int) -> tuple[Any, ...]:
        """What ``count`` names hold again."""
        lists = {place: saved.pop() for place, saved in self._lists.items()}
        others = self._others.pop()
        left = iter(others if isinstance(others, tuple) else (others,))
        return tuple(lists[k] if k in lists else next(left) for k in range(count))

    def _is_list(self, obj: Any) -> bool:
        is_made = type(obj) is list and self._trace.owned(Displays).knows(obj)
        return is_made or isinstance(obj, AnyList)

    def _without_lists(self, held: tuple[Any, ...]) -> Any:
        others = tuple(one for k, one in enumerate(held) if k not in self._lists)
        if not others:
            return 0
        return others[0] if len(others) == 1 and not isinstance(others[0], tuple) else others
