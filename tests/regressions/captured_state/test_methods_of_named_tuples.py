"""``read(spot.moved)`` gave the numbers of the first call's named tuple: ``__self__`` was constant.

A bound method of a named tuple from outside, or from another segment, was called with the object
of the traced call, whose items no guard compares. So were ``_replace`` and ``_asdict``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from fusejit_testing.oracle import decorate


class Spot(NamedTuple):
    x: float
    n: int = 1

    def moved(self, by: float) -> float:
        return self.x + by


class Item:
    def __init__(self, x: float) -> None:
        self.x, self.spot = x, Spot(x)

    def bump(self, by: float) -> float:
        self.x += by
        return self.x


def of_an_argument(method: Any, by: float) -> Any:
    return method(by) * 2


def replaced(method: Any, x: float) -> Any:
    return method(x=x)


def as_dictionary(method: Any, x: float) -> Any:
    return method()


def stored(a: Item, b: Item) -> None:
    a.spot = b.spot._replace(x=b.spot.moved(a.bump(2)))


def test_methods_that_are_passed() -> None:
    for function, name in (
        (of_an_argument, "moved"),
        (replaced, "_replace"),
        (as_dictionary, "_asdict"),
    ):
        fused = decorate(function, jit=False)
        for n, x in enumerate((1.5, 2.5, 3.5)):
            method = getattr(Spot(x, n), name)
            assert fused(method, 0.5) == function(method, 0.5)


def test_a_method_before_a_call_with_effects() -> None:
    fused = decorate(stored, jit=False)
    for x in (1.5, 2.5, 3.5):
        ours, theirs = (Item(x), Item(x * 2)), (Item(x), Item(x * 2))
        fused(*ours)
        stored(*theirs)
        assert [each.spot for each in ours] == [each.spot for each in theirs]
