"""Stale results after a class was given a property, another descriptor or ``__setattr__``.

Objects that a function makes were taken to hold what was stored into their attributes, as it was
when the function was traced.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fusejit_testing.oracle import compare_outcomes, decorate, run


def counter_class() -> Any:
    class Base:
        def __init__(self, x: int) -> None:
            self.x = x
            self.n = 0

    class Counter(Base):
        def step(self) -> None:
            self.x += 1
            self.n += 1

    return Counter


def one_object(kind: Any) -> Callable[[Any], Any]:
    def program(n: Any) -> Any:
        made, total = kind(n), 0
        for _ in range(n):
            made.step()
            total += made.x
        return total, made.n

    return program


def several_objects(kind: Any) -> Callable[[Any], Any]:
    def program(n: Any) -> Any:
        made = [kind(i % 3) for i in range(n)]
        for one in made:
            one.step()
        return [one.x for one in made], sum(one.n for one in made), made[0] == made[3]

    return program


class Nine:
    def __get__(self, obj: Any, kind: Any = None) -> int:
        return 9

    def __set__(self, obj: Any, value: Any) -> None:
        pass


def stores_five_more(self: Any, name: str, value: Any) -> None:
    object.__setattr__(self, name, value + 5)


def reads_five(self: Any, name: str) -> Any:
    return 5 if name == "n" else object.__getattribute__(self, name)


MEMBERS: dict[str, tuple[str, Any]] = {
    "property": ("x", property(lambda self: 77, lambda self, value: None)),
    "descriptor": ("n", Nine()),
    "setattr": ("__setattr__", stores_five_more),
    "getattribute": ("__getattribute__", reads_five),
    "eq": ("__eq__", lambda self, other: self.x == other.x),
    "method": ("step", lambda self: setattr(self, "x", self.x + 10)),
    "init": ("__init__", lambda self, x: vars(self).update(x=2 * x, n=100)),
}


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("of_base", [False, True])
@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("make", [one_object, several_objects])
def test_a_class_that_changes(make: Any, member: str, of_base: bool) -> None:
    kind = counter_class()
    program = make(kind)
    fused = decorate(program, jit=False)
    compare_outcomes(run(program, (8,)), run(fused, (8,)))
    name, value = MEMBERS[member]
    setattr(kind.__base__ if of_base else kind, name, value)
    for _ in range(2):
        compare_outcomes(run(program, (8,)), run(fused, (8,)))
