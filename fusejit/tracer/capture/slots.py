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

    __slots__ = ("_augmented", "_delete", "_load", "_old", "_place", "_store")

    def __init__(
        self,
        load: Callable[..., Any],
        store: Callable[..., None],
        delete: Callable[..., None],
        place: tuple[Any, Any],
        augmented: Callable[[str, Any, Any], Any] | None = None,
    ) -> None:
        self._load, self._store, self._delete, self._place = load, store, delete, place
        self._augmented = augmented
        self._old: Any = None

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

    @property
    def loaded(self) -> Slot:
        """Itself; the attribute or item is read, as Python does before it computes an operand."""
        self._old = self.value
        return self

    def augment(self, name: str, operand: Any) -> None:
        """``obj.name += operand``, of what was read."""
        assert self._augmented is not None
        self._store(*self._place, self._augmented(name, self._old, operand))
