"""What a traced function returns, as results of its graph and how they are put together."""

from __future__ import annotations

import codecs
import sys
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.ir.host import HostExpr, Path
from fusejit.ir.write_access import WriteAccess

CODE_POINTS = codecs.lookup(f"utf-32-{sys.byteorder[0]}e").name
"""The encoding of strings as code points, imported here: later, a program may be traced."""


@dataclass(frozen=True, slots=True)
class ResultLeaf:
    """The ``index``-th result of the graph; a view of it, marked for stores, if NumPy's is."""

    index: int
    access: WriteAccess = WriteAccess.WRITEABLE
    is_view: bool = False


@dataclass(frozen=True, slots=True)
class PathLeaf:
    """The very object found at ``path`` (an argument that is returned)."""

    path: Path


@dataclass(frozen=True, slots=True)
class HostLeaf:
    """A Python number computed by the launcher."""

    expr: HostExpr


@dataclass(frozen=True, slots=True)
class StaticLeaf:
    """An object the trace saw and that no argument changes (None, a string, a constant)."""

    value: Any


@dataclass(frozen=True, slots=True)
class ChoiceLeaf:
    """One of several objects: the graph's result ``which``, an integer or a bool, says which."""

    which: int
    items: tuple[ResultStructure, ...]


@dataclass(frozen=True, slots=True)
class ResultSequence:
    """A tuple or list of results; a list that stands in several places has a number."""

    type: type
    items: tuple[ResultStructure, ...]
    shared: int | None = None


@dataclass(frozen=True, slots=True)
class ResultMapping:
    """A dict of results; one that stands in several places has a number."""

    keys: tuple[Any, ...]
    items: tuple[ResultStructure, ...]
    shared: int | None = None


CHARACTERS = 0x110000
"""The largest number of a string of one character."""


class Texts:
    """The numbers of the strings of one variant.

    That of the empty string is 0, that of a character 1 more than its code point; other strings
    have the numbers behind, in the order in which the program met them.
    """

    def __init__(self) -> None:
        self._longer: list[str] = []
        self._spans: tuple[np.ndarray, ...] = ()

    def number(self, text: str) -> int:
        """The number of a string."""
        if len(text) < 2:
            return 1 + ord(text) if text else 0
        if text not in self._longer:
            self._longer.append(text)
        return CHARACTERS + 1 + self._longer.index(text)

    def knows(self, text: str) -> bool:
        """Whether a string has a number already."""
        return len(text) < 2 or text in self._longer

    @property
    def longer(self) -> tuple[str, ...]:
        """Those of several characters."""
        return tuple(self._longer)

    def has_longer(self) -> bool:
        """Whether there are strings of several characters."""
        return bool(self._longer)

    def of_call(self, starts: np.ndarray, lengths: np.ndarray, points: np.ndarray) -> Texts:
        """The numbers in one call, which has given some to parts of a string of its own."""
        made = Texts()
        made._spans = starts, lengths, points
        return made

    def _all_longer(self) -> list[str]:
        """Those of several characters, which a call has not made before somebody asks for one."""
        if self._spans:
            starts, lengths, points = self._spans
            whole, self._spans = _decoded(points), ()
            spans = zip(starts.tolist(), lengths.tolist(), strict=True)
            self._longer = [whole[start : start + length] for start, length in spans]
        return self._longer

    def texts(self, numbers: np.ndarray) -> list[str]:
        """The strings of numbers."""
        is_short = numbers <= CHARACTERS
        if numbers.size and is_short.all() and numbers.min() > 0:
            return [*_decoded(numbers - 1)]
        short = np.unique(numbers[is_short])
        longer = self._all_longer()
        places = np.where(
            is_short, len(longer) + np.searchsorted(short, numbers), numbers - CHARACTERS - 1
        )
        made = np.empty(len(longer) + len(short), object)
        made[:] = [*longer, *map(self.text, short.tolist())]
        strings: list[str] = made[places].tolist()
        return strings

    def joined(self, numbers: np.ndarray) -> str:
        """One string of the strings of numbers."""
        if numbers.size and numbers.min() > 0 and numbers.max() <= CHARACTERS:
            return _decoded(numbers - 1)
        return "".join(self.texts(numbers))

    def text(self, number: int) -> str:
        """The string of a number."""
        if number > CHARACTERS:
            return self._all_longer()[number - CHARACTERS - 1]
        return chr(number - 1) if number else ""


def _decoded(points: np.ndarray) -> str:
    """The string of code points."""
    encoded = points.astype(np.uint32).tobytes()
    return encoded.decode(CODE_POINTS, "surrogatepass")


@dataclass(frozen=True, slots=True)
class TextLeaf:
    """A string: the graph's result ``number`` is its number."""

    number: int
    texts: Texts


@dataclass(frozen=True, slots=True)
class CharactersLeaf:
    """A string of characters: the first ``length`` items of the result ``numbers``."""

    length: int
    numbers: int
    texts: Texts


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """A number of each item: the graph's result ``values``, made a ``types[0]``.

    Of one that has one of several types, the result ``tags`` says which; None is such a type, and
    `Texts` is that of strings.
    """

    values: int
    types: tuple[type | Texts | None, ...]
    tags: int | None = None


@dataclass(frozen=True, slots=True)
class ArrayColumn:
    """An array in each item: a row of the graph's result ``values``, copied."""

    values: int


@dataclass(frozen=True, slots=True)
class TupleColumns:
    """A tuple of the class ``type`` in each item."""

    type: type
    parts: tuple[ItemColumns, ...]


@dataclass(frozen=True, slots=True)
class ListColumns:
    """A list or tuple in each item: parts of one list of ``length`` items, at ``starts``.

    All but ``item`` are results of the graph. Without ``item`` all lists are empty. Those of equal
    ``identities`` are one list.
    """

    starts: int
    lengths: int
    length: int
    item: ItemColumns | None
    identities: int | None = None
    type: type = list


@dataclass(frozen=True, slots=True)
class OptionalColumns:
    """A tuple or an object in each item where the result ``is_there`` is true; else None."""

    is_there: int
    item: TupleColumns | ObjectColumns


@dataclass(frozen=True, slots=True)
class TextColumns:
    """A string in each item of a list from outside: a part of one array of code points.

    Of both columns, ``starts`` says where its characters begin, and ``lengths`` how many it has.
    """

    starts: int
    lengths: int


@dataclass(frozen=True, slots=True)
class ObjectColumns:
    """An object in each item: ``numbers`` says which of those of the class ``type``."""

    type: type
    numbers: int


ItemColumns = (
    NumberColumn
    | ArrayColumn
    | TextColumns
    | TupleColumns
    | OptionalColumns
    | ListColumns
    | ObjectColumns
)


@dataclass(frozen=True, slots=True)
class ResultList:
    """A list or deque that a kernel has filled: the first items of columns, ``length`` many.

    Without ``columns`` it is empty. One that stands in several places has a number.
    """

    length: int
    columns: ItemColumns | None
    shared: int | None = None
    type: type = list


@dataclass(frozen=True, slots=True)
class ResultDict:
    """A dictionary that a kernel has filled; ``marks`` are the places of keys that are there.

    ``factory`` is that of a ``defaultdict``.
    """

    type: type
    factory: Any
    keys: ResultList
    values: ResultList
    marks: ResultList | None = None
    shared: int | None = None


@dataclass(frozen=True, slots=True)
class ResultSet:
    """A set that a kernel has filled; ``marks`` are the places of keys that are there."""

    keys: ResultList
    marks: ResultList | None = None
    shared: int | None = None


@dataclass(frozen=True, slots=True)
class ResultWithTexts:
    """A result of a call that has given numbers to strings: see `Texts.of_call`.

    All but ``result`` and ``texts`` are results of the graph. The first span is that of no string.
    """

    result: ResultStructure
    texts: Texts
    num_spans: int
    starts: int
    lengths: int
    num_points: int
    points: int

    @property
    def indices(self) -> tuple[int, ...]:
        """The results of the graph."""
        return self.num_spans, self.starts, self.lengths, self.num_points, self.points


@dataclass(frozen=True, slots=True)
class ObjectLeaf:
    """An object of a class: the result ``number`` says which of those of the call."""

    type: type
    number: int


@dataclass(frozen=True, slots=True)
class ObjectsOfClass:
    """The objects of a class that a call has made, ``count`` many, and what their attributes hold.

    Both are results of the graph. An attribute without columns is one of no object. The first ones
    are those that the call finds at ``given``; of their attributes some are ``written``.
    """

    type: type
    count: int
    attributes: tuple[tuple[str, ItemColumns | None], ...]
    given: Path | None = None
    written: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ResultWithObjects:
    """A result of a call in which objects of the user's classes have numbers."""

    result: ResultStructure
    classes: tuple[ObjectsOfClass, ...]


ResultStructure = (
    ResultLeaf
    | PathLeaf
    | HostLeaf
    | StaticLeaf
    | ChoiceLeaf
    | TextLeaf
    | CharactersLeaf
    | ResultSequence
    | ResultMapping
    | ResultList
    | ResultDict
    | ResultSet
    | ResultWithTexts
    | ObjectLeaf
    | ResultWithObjects
)
