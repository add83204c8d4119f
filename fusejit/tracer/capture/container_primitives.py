"""Callbacks about the containers that a function's text makes: displays and comprehensions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

from fusejit.tracer.capture.asked_methods import AskedMethods
from fusejit.tracer.capture.attribute_access import AttributeAccess
from fusejit.tracer.capture.slots import native_operator
from fusejit.tracer.containers.comprehensions import comprehension, looped_list
from fusejit.tracer.containers.new_containers import (
    displayed,
    extended,
    is_hashed_natively,
    joined,
    merged,
    repeated,
)
from fusejit.tracer.flow.filled_arrays import FilledArray, filled
from fusejit.tracer.flow.taken_apart import Parts, taken_apart
from fusejit.tracer.lists.any_list import of_kind
from fusejit.tracer.lists.comparisons import type_in_program
from fusejit.tracer.lists.traced_list import TracedList
from fusejit.tracer.program.guards import runs_no_user_code
from fusejit.tracer.program.unrolling import within_budget


def _is_hashed_natively(key: Any) -> bool:
    return is_hashed_natively(key) or runs_no_user_code(key)


class ContainerPrimitives:
    """Callbacks of one function, see `FunctionPrimitives`.

    Parameters
    ----------
    key : callable
        ``key(line, column)`` tells places of the function from those of others.
    access : AttributeAccess
    asked : AskedMethods
    invoke : callable
        Calls a function of the program.
    """

    def __init__(
        self,
        key: Callable[[int, int], tuple[Any, ...]],
        access: AttributeAccess,
        asked: AskedMethods,
        invoke: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any],
    ) -> None:
        self._key, self._access, self._asked, self._invoke = key, access, asked, invoke

    def items(self, iterable: Any, parts: Parts) -> Iterable[Any]:
        """What a comprehension that Python runs runs over, taken apart by its target."""
        items = within_budget(self._asked.iterated(iterable))
        return items if parts is None else (taken_apart(item, parts) for item in items)

    def displayed(self, kind: str, items: Any, line: int, column: int, is_changed: bool) -> Any:
        """A list, dictionary or set that the program's text makes."""
        is_tuple_of_set = kind == "Set" and type(items) is tuple
        if is_tuple_of_set and not all(map(is_hashed_natively, items)):
            return self._invoke(set, (items,), {})  # which calls the program's own methods
        if kind == "Pairs" and not all(_is_hashed_natively(key) for key, _ in items):
            kind, items = "Dict", self._invoke(dict, (items,), {})
        return displayed(kind, self._key(line, column), items, is_changed)

    def merged(self, left: Any, right: Any, line: int, column: int, is_changed: bool) -> Any:
        """``{**left, **right}``."""
        return merged(self._key(line, column), left, right, is_changed)

    def listed(self, items: Any) -> Any:
        """``[*items]``."""
        return self._invoke(list, (items,), {})

    def extended(self, made: Any, items: Any) -> Any:
        """``[*made, *items]``, of a list that nothing else leads to."""
        return extended(made, self._asked.iterated(items))

    def tupled(self, made: Any) -> Any:
        """``(*made,)``, of a list that nothing else leads to."""
        return of_kind(made, tuple)

    def repeated_list(
        self, items: Any, count: Any, line: int, column: int, is_changed: bool
    ) -> Any:
        """``[x, y] * count``."""
        return repeated(self._key(line, column), items, count, is_changed)

    def joined_list(self, left: Any, right: Any, line: int, column: int, is_changed: bool) -> Any:
        """``[x, y] + xs``, or the other way round."""
        if {type_in_program(left), type_in_program(right)} != {list}:
            return native_operator(operator.add, left, right)
        return joined(self._key(line, column), left, right, is_changed)

    def swapped_items(self, items: Any, left: Any, right: Any) -> None:
        """``xs[i], xs[j] = xs[j], xs[i]``."""
        if isinstance(items, TracedList) and items.holds_lists():
            items.swap(left, right)
            return
        held = self._access.item(items, right), self._access.item(items, left)
        for place, item in zip((left, right), held, strict=True):
            self._access.store_item(items, place, item)

    def looped_list(self, items: Any, kind: str, line: int, column: int) -> Any:
        """The container that a loop fills for a comprehension; None if Python does."""
        return looped_list(self._key(line, column), items, kind)

    def comprehension(self, function: Any, items: Any, line: int, column: int) -> Any:
        """The list of a comprehension, which ``function`` makes."""
        items = self._asked.iterated(items)
        return comprehension(self._key(line, column), self._invoke, function, items)

    def filled(
        self, function: Any, items: Any, dtype: Any, is_sure: bool, line: int, column: int
    ) -> FilledArray | None:
        """The array that a loop fills instead of a list; None if Python makes the list."""
        items = self._asked.iterated(items)
        return filled(self._key(line, column), function, items, dtype, is_sure)

    def is_filled(self, array: FilledArray | None) -> bool:
        """Whether there is such an array."""
        return array is not None

    def put_item(self, array: FilledArray, place: Any, value: Any) -> None:
        """Store an item of a list."""
        array.put(place, value)

    def add_item(
        self, array: FilledArray | None, place: Any, append: Any, item: Any, is_new: bool
    ) -> None:
        """Store an item, or append it; ``is_new`` tells of a list that has no name."""
        if array is None:
            self._invoke(append, (item,), {})
        else:
            array.put(place, tuple(item) if is_new else item)

    def end_of_items(self, array: FilledArray | None) -> None:
        """The end of the loop over them."""
        if array is not None:
            array.end()

    def taken(self, array: FilledArray | None, items: Any) -> Any:
        """What NumPy makes an array of: the array, or Python's list."""
        return items if array is None else array.result()

    def array_of(self, array: FilledArray) -> Any:
        """The array, filled."""
        array.end()
        return array.result()
