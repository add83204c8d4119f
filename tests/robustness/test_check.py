"""What `check` says of nested results and of objects."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit


class Holder:
    def __init__(self, thing: Any) -> None:
        self.thing, self.numbers = thing, np.ones(5)


@fuse_jit
def total(holder: Any) -> Any:
    return (holder.numbers * 2).sum()


@pytest.mark.usefixtures("unjitted")
@pytest.mark.parametrize(
    "thing",
    [
        deque([np.ones(2)], maxlen=5),
        deque(),
        {1, 2},
        frozenset({"a"}),
        np.random.default_rng(0),
        iter([1, 2]),
        deque([deque([np.zeros(1)])]),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_objects_with_any_state(thing: Any) -> None:
    """Regression: a RecursionError for each deque of arrays."""
    lines = str(total.check(Holder(thing))).splitlines()
    assert lines[0] == "result: same bits"
    assert not any("!=" in line for line in lines)


@pytest.mark.usefixtures("unjitted")
def test_long_lists_take_one_line() -> None:
    @fuse_jit
    def rows(x: Any) -> Any:
        return [x * k for k in range(20)]

    assert str(rows.check(np.ones(3))).splitlines()[0] == "result: 20 items, same bits"
