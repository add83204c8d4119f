"""Kernels were compiled again in each process: a set's order changed the cache key.

What a loop of the launcher carries was numbered in the order of a set of values, which are hashed
by their addresses: 29 of 30 texts were different ones.
"""

from typing import Any

import numpy as np

from fusejit.options import Options
from fusejit.stages import trace


def carries_three(x: Any) -> Any:
    head, tail, n = 0, 3, 1
    while head < tail:
        found = np.flatnonzero(x > head)
        head, tail, n = head + 1, len(found), n + tail
    return head, tail, n


def test_a_loop_of_the_launcher() -> None:
    texts = set()
    kept: list[Any] = []  # so that addresses differ
    for times in range(12):
        kept += [object() for _ in range(37 * times)]
        traced = trace(carries_three, (np.arange(9.0),), {}, Options(cache=False))
        texts.add("".join(traced.fuse().lower().sources))
    assert len(texts) == 1
