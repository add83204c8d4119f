"""Arguments that the caller keeps: lists of objects, numbers and rows, and dictionaries.

The numbers of one call are of one flavour: floats, ints, both, ints beyond 53 or 64 bits beside
floats, bools, or others. Two arguments of a kind may be one object, or share their items.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

FLAVOURS = ("floats", "floats", "floats", "ints", "mixed", "large", "huge", "bools", "odd")
_SIZES = (0, 1, 2, 3, 5, 6, 8, 13)
_TAGS = ("a", "b", "cc", "", "up")
_LARGE = (2**53 + 1, -(2**53) - 1, 2**62, 2**63 - 1, -(2**63))
_HUGE = (2**63, 2**64 + 1, -(2**63) - 1, 10**20)
_SAME, _SHARED = 0.2, 0.5  # of arguments after the first of their kind


@dataclass
class Giver:
    """Makes the arguments of one call; ``names`` are those of the program's module."""

    rng: random.Random
    flavour: str
    names: Mapping[str, Any]
    made: dict[str, list[Any]] = field(default_factory=dict)

    def argument(self, kind: str) -> Any:
        """An argument of a kind."""
        before = self.made.setdefault(kind, [])
        if before and isinstance(before[0], list | dict) and self.rng.random() < _SAME:
            return before[0]
        obj = KINDS[kind](self)
        if before and isinstance(obj, list) and self.rng.random() < _SHARED:
            obj[::2] = before[0][: len(obj[::2])] + obj[::2][len(before[0]) :]
        before.append(obj)
        return obj

    def size(self) -> int:
        """How many items something has."""
        return self.rng.choice(_SIZES)

    def number(self) -> Any:
        """A number of the flavour."""
        rng = self.rng
        is_rare = rng.random() < 0.25
        match self.flavour:
            case "ints":
                return rng.randrange(-9, 9)
            case "mixed":
                return rng.choice((rng.randrange(-9, 9), rng.randrange(-18, 18) * 0.5))
            case "large" if is_rare:
                return rng.choice(_LARGE)
            case "huge" if is_rare:
                return rng.choice(_HUGE)
            case "bools":
                return rng.choice((True, False, rng.randrange(3)))
            case "odd" if is_rare:
                return rng.choice((None, "odd", float("inf"), -0.0, 1e300, np.float64(0.5)))
        return rng.randrange(-18, 18) * 0.5

    def count(self) -> int:
        """A small int."""
        return self.rng.randrange(0, 6)

    def tag(self) -> str:
        """A short string."""
        return self.rng.choice(_TAGS)

    def item(self) -> Any:
        """An object of the program's classes, now and then one with other attributes."""
        rng = self.rng
        make = self.names["Heavy" if rng.random() < 0.2 else "Item"]
        opt = rng.choice((None, 1, 2, self.number()))
        made = make(self.number(), self.count(), self.tag(), opt)
        made.log.extend(self.number() for _ in range(rng.choice((0, 0, 1, 3))))
        if rng.random() < 0.05:
            _make_unusual(made, rng)
        return made

    def items(self) -> list[Any]:
        """A list of such objects, in which one may be twice."""
        found = [self.item() for _ in range(self.size())]
        if found and self.rng.random() < 0.2:
            found.insert(self.rng.randrange(len(found) + 1), found[0])
        return found

    def numbers(self) -> list[Any]:
        """A list of numbers."""
        return [self.number() for _ in range(self.size())]

    def rows(self) -> list[list[Any]]:
        """A list of lists of numbers, in which one may be twice."""
        found = [self.numbers()[:4] for _ in range(self.size() // 2)]
        return found + found[:1] * (self.rng.random() < 0.2)

    def dictionary(self) -> dict[Any, Any]:
        """Numbers by strings or by ints."""
        key = self.rng.choice((self.tag, self.tag, self.count))
        return {key(): self.number() for _ in range(self.size())}

    def array(self) -> np.ndarray:
        """A short array of halves."""
        return np.array([self.rng.randrange(-4, 9) * 0.5 for _ in range(self.size())])


def _make_unusual(item: Any, rng: random.Random) -> None:
    try:
        match rng.randrange(4):
            case 0:
                item.extra = 3
            case 1:
                item.scale = 1.5
            case 2:
                del item.opt
            case 3:
                item.x = item.__dict__.pop("x")  # in another order
    except (AttributeError, KeyError):  # a class with slots
        pass


KINDS: dict[str, Callable[[Giver], Any]] = {
    "list": Giver.items,
    "item": lambda give: next(iter((give.made.get("list") or [[]])[0]), None) or give.item(),
    "nums": Giver.numbers,
    "rows": Giver.rows,
    "pairs": lambda give: [(give.number(), give.number()) for _ in range(give.size())],
    "spots": lambda give: [
        give.names["Spot"](give.number(), give.count()) for _ in range(give.size())
    ],
    "world": lambda give: give.names["World"](give.items()),
    "dict": Giver.dictionary,
    "int": Giver.count,
    "num": Giver.number,
    "array": Giver.array,
    "keys_tags": lambda give: [give.tag() for _ in range(give.size())],
    "keys_counts": lambda give: [give.count() for _ in range(give.size())],
    "key_count": Giver.count,
    "pairs_items": lambda give: [(give.tag(), give.number()) for _ in range(give.size())],
}
