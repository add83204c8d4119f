"""An internal error for `del` of an item of `a and b`, lists in a loop: it said none has that."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit_testing.against_python import check_against_python


def either(x: Any) -> Any:
    a = [-1, 2, 3]
    b = list(a)
    for _ in range(6):
        a = a and b
        del a[2:]
    return a, b, len(x)


def test_deletions() -> None:
    check_against_python(either, [(np.ones(3),), (np.ones(0),)])
