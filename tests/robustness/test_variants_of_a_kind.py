"""Calls that differ in lengths or values alone make few variants; more only if they come back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.call_kinds import MOST_OF_A_KIND, USES, CallKinds

pytestmark = pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")


@pytest.fixture(autouse=True)
def unjitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")


def total(parts: list[np.ndarray]) -> Any:
    result = parts[0] * 2
    for part in parts[1:]:
        result = result + part
    return result


def lists(length: int) -> list[np.ndarray]:
    return [np.arange(3.0) + k for k in range(length)]


def test_lists_of_ever_other_lengths_stop_making_variants() -> None:
    f = fuse_jit(total)
    for length in range(1, 3 * MOST_OF_A_KIND):
        np.testing.assert_array_equal(f(lists(length)), total(lists(length)))
    assert len(f.variants) <= MOST_OF_A_KIND


def test_a_length_that_comes_back_gets_its_variant() -> None:
    f = fuse_jit(total)
    for length in range(1, 2 * MOST_OF_A_KIND):
        f(lists(length))
    before = len(f.variants)
    for _ in range(USES + 1):
        np.testing.assert_array_equal(f(lists(40)), total(lists(40)))
    assert len(f.variants) == before + 1


def test_fullgraph_bounds_nothing_but_all_variants() -> None:
    f = fuse_jit(total, fullgraph=True)
    for length in range(1, 2 * MOST_OF_A_KIND):
        f(lists(length))
    assert len(f.variants) == 2 * MOST_OF_A_KIND - 1


def test_other_dtypes_and_ranks_are_other_kinds() -> None:
    f = fuse_jit(lambda x: x * 2)
    kinds = [np.ones((2,) * rank, t) for rank in range(1, 5) for t in "bhilfd"]
    for x in kinds:
        f(x)
    assert len(f.variants) == len(kinds)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (3, 4, True),
        (3, 3.0, False),
        ("a", "bc", True),
        ([1], [1, 2], True),
        ([1], [1.5], False),
        ((1, 2), (3, 4, 5), True),
        ((1,), [1], False),
        ({"a": 1}, {"b": 2, "c": 3}, True),
        (np.ones(3), np.ones(5), True),
        (np.ones(3), np.ones(6)[::2], False),
        (np.ones((2, 3)), np.ones((3, 2)).T, False),
    ],
)
def test_what_calls_of_one_kind_agree_in(first: Any, second: Any, same: bool) -> None:
    kinds = CallKinds()
    for _ in range(MOST_OF_A_KIND):
        kinds.note_variant((first,))
    assert (kinds.refusal((second,)) is not None) is same
