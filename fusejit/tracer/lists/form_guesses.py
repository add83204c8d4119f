"""What a list may hold that is read before it has any items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from fusejit.ir.types import Kind
from fusejit.tracer.lists.item_forms import ItemForm, ListForm, NumberForm, TupleForm
from fusejit.tracer.ops.traced_text import OF_TEXT
from fusejit.tracer.values.operand_types import I64

_OF_INTS = NumberForm((Kind.PYTHON, I64))
_OF_TEXTS = NumberForm(OF_TEXT)
GUESSES: tuple[ItemForm, ...] = (
    _OF_INTS,
    _OF_TEXTS,
    *(TupleForm(tuple, (_OF_INTS,) * count) for count in (2, 3, 4)),
    ListForm(),
)
"""Guesses of the form of items, in order, for a list that is read before it has any."""
POOL = "pool"
"""Ends the key of the list of all lists that a list holds, behind that of the list."""
_DEEPEST = 2


class GuessedList(Protocol):
    """A list, whether its form is a guess still, and whether it was: it may store its own items."""

    is_guess: bool
    was_guess: bool


class Guesses(dict[tuple[Any, ...], GuessedList]):
    """The lists of one trace whose items are guessed.

    Attributes
    ----------
    forms : tuple of ItemForm
        The guesses, in order; the last one is that of lists.
    """

    def __init__(self) -> None:
        super().__init__()
        self.forms = GUESSES

    def try_others(self, table: dict[Any, Any], is_raised: bool = False) -> bool:
        """Have the next attempt guess otherwise, as this one has failed; whether there is more.

        An attempt in which an exception ``is_raised`` may have stored items of a wrong guess.
        """
        for key, guess in self._others(table, is_raised):
            keys = [*self]
            for later in keys[keys.index(key) + 1 :]:  # which were guessed where this one was wrong
                if table.get((later, "guess"), 0) + 1 == self._count(later):
                    del table[later, "guess"]
            table[key, "guess"] = guess
            return True
        return False

    def is_open(self) -> bool:
        """Whether what a list holds may be wrong: an exception of this attempt may be none."""
        return any(one.was_guess for one in self.values())

    def has_others(self, table: dict[Any, Any]) -> bool:
        """Whether this attempt may have failed because of a guess."""
        return any(self._others(table))

    def _others(
        self, table: dict[Any, Any], is_raised: bool = False
    ) -> Iterator[tuple[tuple[Any, ...], int]]:
        """The lists that may hold something else, the likeliest first, and the next guess of what.

        A guess that is wrong fails soon: the latest is asked first, and first of those lists none
        of whose items has been seen.
        """
        latest = [*reversed(self.items())]
        shown = [(key, one) for key, one in latest if is_raised and not one.is_guess]
        for key, one in [(key, one) for key, one in latest if one.is_guess] + shown:
            guess = table.get((key, "guess"), 0) + 1
            if one.was_guess and guess < self._count(key):
                yield key, guess

    def _count(self, key: tuple[Any, ...]) -> int:
        """How many guesses there are for the list of a key: lists in lists come to an end."""
        depth = 0
        while len(key) == 2 and key[1] == POOL:
            key, depth = key[0], depth + 1
        return len(self.forms) - (depth >= _DEEPEST)  # without the last one
