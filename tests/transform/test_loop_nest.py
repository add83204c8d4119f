"""The pseudo code of a schedule is a program: run point by point it computes what NumPy does."""

from __future__ import annotations

import builtins
import itertools
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from fusejit.transform import ScheduleError, schedule
from fusejit_testing.random_schedules import random_step
from tests.transform.test_schedules import FUNCTIONS, arguments


class Lazy:
    """An array of a shape that only its elements tell."""

    def __init__(self) -> None:
        self.elements: dict[tuple[int, ...], Any] = {}

    def __getitem__(self, index: Any) -> Any:
        index = index if isinstance(index, tuple) else (index,)
        if not any(isinstance(k, slice) for k in index):
            return self.elements[tuple(map(int, index))]
        part = Lazy()
        first = [k.start or 0 if isinstance(k, slice) else int(k) for k in index]
        for point in self.points(index):
            at = tuple(k - start for k, start in zip(point, first, strict=True))
            part.elements[at] = self.elements[point]
        return part

    @staticmethod
    def points(index: tuple[Any, ...]) -> Iterator[tuple[int, ...]]:
        """The points of ranges and single subscripts."""
        ranges = [range(k.start or 0, k.stop) if isinstance(k, slice) else [int(k)] for k in index]
        return itertools.product(*ranges)

    def __setitem__(self, index: Any, value: Any) -> None:
        index = index if isinstance(index, tuple) else (index,)
        ranges = [range(k.start or 0, k.stop) if isinstance(k, slice) else [int(k)] for k in index]
        for point in itertools.product(*ranges):
            at = tuple(k - r[0] for k, r in zip(point, ranges, strict=True))
            self.elements[point] = value[at] if isinstance(value, Lazy) else value

    def reshape(self, shape: tuple[int, ...]) -> Lazy:
        made = Lazy()
        made.elements = dict(
            zip(np.ndindex(shape), (self.elements[p] for p in sorted(self.elements)), strict=True)
        )
        return made


class View:
    """What ``view(a, map)`` means."""

    def __init__(self, array: Any, index: Callable[..., Any]) -> None:
        self.array = array
        self.index = index

    def __getitem__(self, index: Any) -> Any:
        return self.array[self.index(*(index if isinstance(index, tuple) else (index,)))]


class Names(dict[str, Any]):
    def __missing__(self, name: str) -> Any:
        known = {"select": np.where, "cast": int, "f64": float, "i64": int, "i1": bool}
        for found in (known.get(name), getattr(builtins, name, None), getattr(np, name, None)):
            if found is not None:
                return found
        return self.setdefault(name, Lazy())


def run(text: str, arrays: dict[str, Any]) -> Any:
    """What the pseudo code of a schedule returns."""
    text = re.sub(
        r"view\((\w+), \(([^)]*)\) -> \((.*?)\)\)\[", r"View(\1, lambda \2: (\3,))[", text
    )
    _, *body, result = text.splitlines()
    names = Names(arrays, View=View, empty=lambda *_: Lazy())
    with np.errstate(all="ignore"):
        exec("\n".join(line[4:] for line in body), names)
    return names[result.split()[-1]]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("seed", range(3))
def test_the_loop_nest_is_a_program(function: Callable[..., Any], seed: int) -> None:
    rng = random.Random(seed)
    a, b = arguments(seed, 7, 5, 6)
    s = schedule(function, a, b)
    for _ in range(40):
        try:
            s = random_step(s, rng).schedule if len(s.steps) < 2 * seed else s
        except ScheduleError:
            continue
    text = s.loop_nest()
    found, expected = run(text, {"a": a, "b": b}), function(a, b)
    for point in np.ndindex(expected.shape):
        np.testing.assert_allclose(found[point], expected[point], 1e-9, 1e-12, err_msg=text)
