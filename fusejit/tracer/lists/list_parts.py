"""The parts of lists that methods are written with which store many items."""
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Any

from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.lists.any_list import AnyList
from fusejit.tracer.lists.nested_list import as_affine_number


def reserve(items, count):
    """Make room for some items behind those that a list has."""


def put(items, at, item):
    """Store an item at a place where there is room."""


def resize(items, length):
    """Have a list hold so many items."""


@primitive(reserve)
def _reserve(items: AnyList, count: Any) -> None:
    items.require_room(items.length() + as_affine_number(count) - 1)


@primitive(put)
def _put(items: AnyList, at: Any, item: Any) -> None:
    items.store(as_affine_number(at), item)


@primitive(resize)
def _resize(items: AnyList, length: Any) -> None:
    items.set_length(as_affine_number(length))
