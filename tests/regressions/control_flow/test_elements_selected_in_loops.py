"""``t = q[mask]`` that a loop or an ``if`` first asked for elements of was selected in there.

What the block changed in it was another array than what came behind had; the graph returned memory
that does not exist at its end, a VerificationError. Found by random programs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check

Q = np.array([1.0, 4, -3, 5, 9])


def changed_in_a_branch(q: Any) -> Any:
    t = q[q > 3]
    if q[0] > 0:
        t[0] += 1
    return t[0], t.sum()


def changed_in_a_loop(q: Any) -> Any:
    t = q[q > 3]
    s = 0.0
    for i in range(len(q)):
        if q[i] > 0:
            t[0] += 1
        s += t[0]
    return s


def returned(q: Any) -> Any:
    t = q[(q < -2) | (q > 3)]
    w = q
    for i in range(len(q)):
        w = w - q
        t[0] = i
    return t, w


@pytest.mark.parametrize("function", [changed_in_a_branch, changed_in_a_loop, returned])
def test_they_are_one_array(function: Callable[..., Any]) -> None:
    check(function, (Q,), (Q[:3],))
