"""Attributes and items read and written without a callback.

The watch (`fusejit.tracer.program`) notices code of the user's that these functions run.
"""

from __future__ import annotations

import functools
from typing import Any

from fusejit.tracer.program.locations import for_program


@for_program
def native_getattr(obj: Any, name: str) -> Any:
    """Read without a callback; the watch notices user code that it runs (as for the next five)."""
    return getattr(obj, name)


@for_program
def native_getitem(obj: Any, key: Any) -> Any:
    """``obj[key]``."""
    return obj[key]


@functools.partial(for_program, stored="value")
def native_setattr(obj: Any, name: str, value: Any) -> None:
    """``obj.name = value``."""
    setattr(obj, name, value)


@functools.partial(for_program, stored="value")
def native_setitem(obj: Any, key: Any, value: Any) -> None:
    """``obj[key] = value``."""
    obj[key] = value


@for_program
def native_delattr(obj: Any, name: str) -> None:
    """``del obj.name``."""
    delattr(obj, name)


@for_program
def native_delitem(obj: Any, key: Any) -> None:
    """``del obj[key]``."""
    del obj[key]


@for_program
def known_attribute(obj: Any, name: str) -> Any:
    """``obj.name`` where no code of the user's runs."""
    return getattr(obj, name)


@for_program
def known_item(obj: Any, key: Any) -> Any:
    """``obj[key]`` where no code of the user's runs."""
    if obj is None:
        raise TypeError("'NoneType' object is not subscriptable")
    return obj[key]


WATCHED = (
    *(native_getattr, native_getitem, native_setattr, native_setitem),
    *(native_delattr, native_delitem),
)
