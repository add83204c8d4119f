"""Calls that differ in texts, lengths or values alone get variants only if they come back.

Regression: NumPy's own tests compiled a variant for each call: signatures were not bounded below 32
variants per segment. Texts and lengths that never return were compiled eight times.
"""

from __future__ import annotations

import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.dispatch.call_signatures import (
    FREE_VARIANTS_OF_LATE_SEGMENTS,
    MANY_SEGMENT_VARIANTS,
    MAX_PER_SIGNATURE,
    MAX_UNCOUNTED_VARIANTS,
    MIN_REPEATS,
    CallSignatures,
)
from fusejit.segments.find_dispatcher import dispatcher_of
from fusejit_testing.compare import PythonsList

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


def weighted(text: str, x: np.ndarray) -> Any:
    result = x * 0
    for letter in text.lower():
        result = result + ord(letter) * x
    return result


def test_lists_of_ever_other_lengths_make_one_variant() -> None:
    f = fuse_jit(total)
    for length in range(1, 3 * MAX_PER_SIGNATURE):
        np.testing.assert_array_equal(f(lists(length)), total(lists(length)))
    assert len(f.variants) == 1


def test_a_length_that_comes_back_gets_its_variant() -> None:
    f = fuse_jit(total)
    for length in (*range(1, 6), 4):
        f(lists(length))
    assert len(f.variants) == 2


def test_beyond_many_variants_a_length_has_to_come_back_often() -> None:
    f = fuse_jit(total)
    for length in range(1, 2 * MAX_PER_SIGNATURE):
        f(lists(length))
        f(lists(length))
    assert len(f.variants) == MAX_PER_SIGNATURE
    for _ in range(MIN_REPEATS + 1):
        np.testing.assert_array_equal(f(lists(40)), total(lists(40)))
    assert len(f.variants) == MAX_PER_SIGNATURE + 1


def test_ever_other_texts_are_not_compiled_and_one_that_comes_back_is() -> None:
    f, x = fuse_jit(weighted), np.arange(4.0)
    for k in range(300):
        text = f"word {k}"
        np.testing.assert_array_equal(f(text, x), weighted(text, x))
        np.testing.assert_array_equal(f("word 0", x), weighted("word 0", x))
    assert len(f.variants) == 1
    assert "299x: a string or a length in this call is new" in repr(f.variants)
    for _ in range(600):
        np.testing.assert_array_equal(f("again", x), weighted("again", x))
    assert len(f.variants) == 2


def test_integers_of_tuples_are_contents_and_numbers_of_lists_are_not() -> None:
    kinds = CallSignatures()
    kinds.note_variant(((0, 1), [1.5, 2.5]))
    assert kinds.waits(((1, 2), [1.5, 2.5]))
    assert not kinds.waits(((1, 2), [1.5, 2.5]))  # come back
    assert not kinds.waits(((0, 1), [7.0, 8.0]))
    assert not kinds.waits(((0, 1), [7.0, 8.0, 9.0]))  # one variant may serve all lengths
    assert kinds.waits(((0, 1), [7.0, 8.0, 9.0, 10.0]))


def test_fullgraph_bounds_nothing_but_all_variants() -> None:
    f = fuse_jit(total, fullgraph=True)
    for length in range(1, 2 * MAX_PER_SIGNATURE):
        f(lists(length))
    assert len(f.variants) == 2 * MAX_PER_SIGNATURE - 1


def test_other_dtypes_and_ranks_are_other_kinds() -> None:
    f = fuse_jit(lambda x: x * 2)
    kinds = [np.ones((2,) * rank, t) for rank in range(1, 5) for t in "bhfd"]
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
    kinds = CallSignatures()
    for _ in range(MAX_PER_SIGNATURE):
        kinds.note_variant((first,))
    assert (kinds.refusal((second,)) is not None) is same


def test_lists_and_dicts_that_contain_themselves() -> None:
    def scaled(x: np.ndarray, parts: Any) -> Any:
        return x * len(parts) + 1

    f = fuse_jit(scaled)
    x = np.arange(4.0)
    for length in range(1, 3 * MAX_PER_SIGNATURE):
        parts: list[Any] = [1] * (length // 3)
        parts.append(parts)
        named: dict[str, Any] = {str(k): 0 for k in range(length // 3)}
        named["own"] = named
        np.testing.assert_array_equal(f(x, parts), scaled(x, parts))
        np.testing.assert_array_equal(f(x, named), scaled(x, named))


def test_keys_of_the_users_are_not_asked_nor_kept() -> None:
    class Key:
        asked = 0

        def __init__(self, number: int) -> None:
            self.number = number

        def __hash__(self) -> int:
            Key.asked += 1
            return hash(self.number)

        def __eq__(self, other: object) -> bool:
            Key.asked += 1
            return isinstance(other, Key) and self.number == other.number

    kinds = CallSignatures()
    table = {Key(k): k for k in range(5)}
    kept = weakref.ref(next(iter(table)))
    Key.asked = 0
    kinds.note_variant((np.ones(3), table))
    kinds.waits((np.ones(3), table))
    kinds.refusal((np.ones(3), table))
    assert Key.asked == 0
    del table
    assert kept() is None


def doubled(x: np.ndarray) -> Any:
    return x * 2


def many_kinds() -> list[np.ndarray]:
    """An array of each of forty kinds."""
    dtypes = [np.dtype(c) for c in "bhilBHILfd"]
    return [np.ones((2,) * ndim, dtype) for dtype in dtypes for ndim in (1, 2, 3, 4)]


@pytest.mark.parametrize("retire", ["0", "1"])
def test_kinds_that_come_once_are_not_all_compiled(
    retire: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FUSEJIT_TIERING", retire)
    f = fuse_jit(doubled)
    for x in many_kinds():
        result = f(x)
        np.testing.assert_array_equal(result, x * 2)
        assert result.dtype == x.dtype
    assert len(f.variants) <= MAX_UNCOUNTED_VARIANTS
    if retire == "0":
        assert len(f.variants) == MAX_UNCOUNTED_VARIANTS
        assert sum(f.variants.fallbacks.values()) == 40 - MAX_UNCOUNTED_VARIANTS


def test_a_kind_that_comes_often_gets_its_variant_and_the_next_ones_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FUSEJIT_TIERING", "0")
    f = fuse_jit(doubled)
    first, *_, other, last = many_kinds()
    for x in many_kinds()[:MAX_UNCOUNTED_VARIANTS]:
        f(x)
    for k in range(MIN_REPEATS - 1):
        f(last)
        assert len(f.variants) == MAX_UNCOUNTED_VARIANTS, k
    f(last)
    assert len(f.variants) == MAX_UNCOUNTED_VARIANTS + 1
    for x in many_kinds()[MAX_UNCOUNTED_VARIANTS : 2 * MAX_UNCOUNTED_VARIANTS - 1]:
        for _ in range(MIN_REPEATS):
            f(x)
    assert len(f.variants) == 2 * MAX_UNCOUNTED_VARIANTS
    for _ in range(2 * MIN_REPEATS - 1):
        f(other)
    assert len(f.variants) == 2 * MAX_UNCOUNTED_VARIANTS
    assert f(first).tolist() == [2, 2]


def test_the_parts_of_a_function_are_bounded_together(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FUSEJIT_TIERING", "0")
    num_parts = MANY_SEGMENT_VARIANTS // 4
    body = "".join(f"    x = x * {k + 2}\n    log.append(x.size)\n" for k in range(num_parts))
    source = f"def f(x, log):\n{body}    return x\n"
    (tmp_path / "parts.py").write_text(source)
    names: dict[str, Any] = {}
    exec(compile(source, str(tmp_path / "parts.py"), "exec"), names)
    f = fuse_jit(names["f"])
    counts = []
    for x in many_kinds():
        f(x, PythonsList())
        counts.append(dispatcher_of(f).state.allowance.made)
    assert counts[:4] == [num_parts, 2 * num_parts, 3 * num_parts, MANY_SEGMENT_VARIANTS]
    assert FREE_VARIANTS_OF_LATE_SEGMENTS < 4
    assert counts[-1] == MANY_SEGMENT_VARIANTS  # no kind has come again
