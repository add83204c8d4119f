"""`f.variants` says what differs: two variants printed the same line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit

pytestmark = pytest.mark.usefixtures("unjitted")

X = np.ones((6, 7))


def reduced(x: Any, axis: Any = 0, mode: str = "sum", k: Any = 2) -> Any:
    if k > 3:
        x = x + 1
    if x.shape[0] > 50:
        x = x * 3
    return x.sum(axis=axis) if mode == "sum" else x.max(axis=axis)


CALLS = {
    "another dtype": (X.astype(np.float32), "float32[2]"),
    "another order": (np.asfortranarray(X), "x with axes in the order (1, 0) in memory"),
    "another layout": (X[:, ::2], "x: float64[2] strided"),
    "another static value": (X, "axis == 1", 1),
    "none": (X, "axis is None", None),
    "a text": (X, "mode='max'", 0, "max"),
    "another branch": (X, "not 3 >= k", 0, "sum", 5),
    "another type": (X, "k: float", 0, "sum", 2.5),
    "another size": (np.ones((60, 7)), "not 50 >= x.shape[0]"),
}


def lines(calls: Any) -> list[str]:
    fused = fuse_jit(reduced)
    for x, _, *more in calls:
        for _ in range(3):  # the second one with a value compiles
            fused(x, *more)
    return repr(fused.variants).splitlines()


@pytest.mark.parametrize("name", CALLS)
def test_what_differs_from_another_variant_is_said(name: str) -> None:
    first, *variants = lines([(X, ""), CALLS[name]])
    assert first == "2 variant(s)"
    assert CALLS[name][1] in variants[0]
    assert CALLS[name][1] not in variants[1]


def test_what_all_share_is_not_said() -> None:
    first, only = lines([(X, "")])
    assert (first, only.partition(" (")[0]) == ("1 variant(s)", "  0: x: float64[2] contiguous")
    assert "mode" not in "\n".join(lines([(X, ""), CALLS["another order"]]))


def test_no_two_lines_are_alike() -> None:
    calls = [(X, ""), *CALLS.values()]
    first, *rest = lines(calls[:8])
    texts = [line.partition(": ")[2] for line in rest if not line.startswith("  fallback")]
    assert first == f"{len(texts)} variant(s)"
    assert len(set(texts)) == len(texts) > 5
