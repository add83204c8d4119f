"""Lists that are copied in one loop may change in another, though one function copies in both.

Regression: What a loop of `list` had found about aliases held for the loop of ``"".join``, too, and
the lists of a dictionary could not grow any more: groups of anagrams stayed Python's.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import decorate

WORDS = [
    *("listen", "silent", "enlist", "google", "elgoog", "inlets", "banana"),
    *("stop", "pots", "tops", "opts", "spot", "a"),
]


def anagrams(words: Any) -> Any:
    groups = defaultdict(list)
    for word in words:
        groups["".join(sorted(word))].append(word)
    return list(groups.values())


def anagrams_by_name(words: Any) -> Any:
    groups: dict[str, list[str]] = {}
    for word in words:
        key = "".join(sorted(word))
        if key not in groups:
            groups[key] = []
        groups[key].append(word)
    return list(groups.values()), len(groups)


@pytest.mark.parametrize("function", [anagrams, anagrams_by_name])
def test_anagrams(function: Any) -> None:
    fused = decorate(function, jit=False, fullgraph=True)
    for words in (WORDS, WORDS * 3, WORDS[:9]):
        assert_same(function(words), fused(words))
    assert len(fused.variants) == 1
