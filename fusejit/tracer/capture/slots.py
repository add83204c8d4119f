"""Targets of assignments, and operators, that stay in the user's statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fusejit.tracer.program.locations import for_program


@for_program
def native_operator(function: Callable[..., Any], *operands: Any) -> Any:
    """What one of Python's operators makes of objects that know it themselves."""
    return function(*operands)


class Slot:
    """``_st.attr_slot(obj, name).value`` as a target stands for ``obj.name``, or an item."""

    __slots__ = ("_delete", "_load", "_place", "_store")

    def __init__(
        self,
        load: Callable[..., Any],
        store: Callable[..., None],
        delete: Callable[..., None],
        place: tuple[Any, Any],
    ) -> None:
        self._load, self._store, self._delete, self._place = load, store, delete, place

    @property
    def value(self) -> Any:
        """The attribute or item."""
        return self._load(*self._place)

    @value.setter
    def value(self, value: Any) -> None:
        self._store(*self._place, value)

    @value.deleter
    def value(self) -> None:
        self._delete(*self._place)
