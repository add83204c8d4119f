"""Integers in classes, noted and put back around calls: libraries number their objects there."""

from __future__ import annotations

from typing import ClassVar


class Counters:
    """The integers in the classes of the judged library at one moment."""

    places: ClassVar[list[tuple[type, str]]] = []

    @classmethod
    def watch(cls, other: type) -> None:
        """Note the integers of one more class from now on."""
        cls.places += [
            (other, name)
            for name, value in vars(other).items()
            if type(value) is int and not name.startswith("__")
        ]

    def __init__(self) -> None:
        self.values = [vars(owner).get(name) for owner, name in Counters.places]

    def restore(self) -> None:
        """Put the integers where they were."""
        for (owner, name), value in zip(Counters.places, self.values, strict=False):
            if vars(owner).get(name) != value:
                setattr(owner, name, value)

    def difference(self, actual: Counters) -> str | None:
        """The first one that is another one, if any."""
        for place, e, a in zip(Counters.places, self.values, actual.values, strict=False):
            if e != a:
                return f"{place[0].__name__}.{place[1]}: {a} instead of {e}"
        return None
