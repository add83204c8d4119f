"""Containers and objects that a call returns, made of the columns of its kernels."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress, repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from fusejit.ir.results import (
    ArrayColumn,
    ItemColumns,
    ListColumns,
    NumberColumn,
    ObjectColumns,
    ObjectsOfClass,
    OptionalColumns,
    Texts,
    TupleColumns,
)

NO_OBJECTS: Mapping[type, list[Any]] = {}


def list_of(
    form: ItemColumns,
    length: int,
    columns: Iterator[Any],
    places: npt.NDArray[np.int64] | None = None,
    texts: Texts | None = None,
    objects: Mapping[type, list[Any]] = NO_OBJECTS,
    known: dict[int, list[Any]] | None = None,
) -> list[Any]:
    """The list whose items stand in columns; each part of ``form`` takes the next ones.

    The items are the first ``length``, or those at ``places``. ``texts`` has the numbers of strings
    in this call, ``objects`` those of objects, ``known`` the lists in it by their identities.
    """
    known = {} if known is None else known
    of_call = (texts, objects, known)
    if isinstance(form, TupleColumns):
        parts = [list_of(part, length, columns, places, *of_call) for part in form.parts]
        if not parts:
            return [form.type()] * int(length)
        items = zip(*parts, strict=True)
        return [*items] if form.type is tuple else [*map(form.type._make, items)]  # type: ignore[attr-defined]
    chosen = slice(length) if places is None else places
    values: Any = next(columns)[chosen]
    if isinstance(form, ArrayColumn):
        return [row.copy() for row in values]
    if isinstance(form, ObjectColumns):
        numbered = objects[form.type]
        return [numbered[number] if numbered else None for number in values.tolist()]
    if isinstance(form, OptionalColumns):
        found = list_of(form.item, length, columns, places, *of_call)
        return [item if there else None for item, there in zip(found, values, strict=True)]
    if isinstance(form, ListColumns):
        lengths, _ = next(columns)[chosen], next(columns)
        which = None if form.identities is None else next(columns)[chosen].tolist()
        ends = lengths.cumsum()
        count = int(lengths.sum())
        own = np.arange(count) + np.repeat(values - ends + lengths, lengths)
        found = [] if form.item is None else list_of(form.item, count, columns, own, *of_call)
        pairs = zip((ends - lengths).tolist(), ends.tolist(), strict=True)
        lists: list[Any] = [found[start:end] for start, end in pairs]
        if form.type is not list:
            return [*map(form.type, lists)]
        if which is None:
            return lists
        return [known.setdefault(number, one) for number, one in zip(which, lists, strict=True)]
    assert isinstance(form, NumberColumn)
    if form.tags is None:
        return _numbers_of(values, form.types[0], texts)
    tags = next(columns)[chosen]
    made = np.empty(length, object)
    for tag, kind in enumerate(form.types):
        made[tags == tag] = _numbers_of(values[tags == tag], kind, texts)
    numbers: list[Any] = made.tolist()
    return numbers


def made_objects(
    classes: tuple[ObjectsOfClass, ...],
    counts: tuple[int, ...],
    given: tuple[Sequence[Any], ...],
    columns: Iterator[Any],
    texts: Texts | None,
) -> dict[type, list[Any]]:
    """The objects of each class that a call has made, by their numbers; first those ``given``.

    Of these the attributes are written back that the program has changed: another thread may have
    changed others meanwhile.
    """
    pairs = [*zip(classes, counts, given, strict=True)]
    made: dict[type, list[Any]] = {}
    for one, count, first in pairs:
        made[one.type] = [*first, *map(object.__new__, repeat(one.type, count - len(first)))]
    for one, count, first in pairs:
        has_own = one.type.__setattr__ is not vars(object)["__setattr__"]
        write: Any = object.__setattr__ if has_own else setattr
        for name, form in one.attributes:
            held = [] if form is None else list_of(form, count, columns, None, texts, made)
            deque(map(write, made[one.type][len(first) :], repeat(name), held[len(first) :]), 0)
            for obj, value in zip(first if name in one.written else (), held, strict=False):
                if _differs(getattr(obj, name), value):
                    write(obj, name, value)
    return made


def write_items(items: list[Any], made: list[Any]) -> None:
    """Give a list other items: those that are others, if their number is the same."""
    if len(items) != len(made):
        items[:] = made
        return
    for place, (old, new) in enumerate(zip(items, made, strict=True)):
        if _differs(old, new):
            items[place] = new


def _differs(old: Any, new: Any) -> bool:
    """Whether an object is not to stay where another one belongs; zeros have signs."""
    kind = type(new)
    return type(old) is not kind or kind is tuple or not old or bool(old != new)


def dict_of(
    kind: type, factory: Any, keys: list[Any], values: list[Any], marks: list[bool] | None
) -> dict[Any, Any]:
    """The dictionary of keys and values, without those that are marked as deleted."""
    pairs: Any = zip(keys, values, strict=True)
    if marks is not None:
        pairs = compress(pairs, marks)
    if kind is dict:
        return dict(pairs)
    made: dict[Any, Any] = kind(*(() if factory is None else (factory,)))
    for key, value in pairs:
        made[key] = value
    return made


def set_of(keys: list[Any], marks: list[bool] | None) -> set[Any]:
    """The set of keys, added one by one, without those that are marked as deleted."""
    return set(keys if marks is None else compress(keys, marks))


def _numbers_of(values: npt.NDArray[Any], kind: Any, texts: Texts | None) -> list[Any]:
    """A column as numbers of a class, as strings, or as None."""
    if kind is None:
        return [None] * len(values)
    if isinstance(kind, Texts):
        return (texts or kind).texts(values.astype(np.int64, copy=False))
    if issubclass(kind, np.generic):
        return [*values.astype(kind, copy=False)]
    numbers = values.tolist()
    is_as_made = not numbers or type(numbers[0]) is kind
    return numbers if is_as_made else [kind(number) for number in numbers]


MAKERS = (dict_of, list_of, made_objects, set_of, write_items)
"""What launchers call by name."""
