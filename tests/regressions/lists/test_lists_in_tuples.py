"""NotImplementedError for a list in a tuple in a list: columns held no such item."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit_testing.against_python import check_against_python


def pairs(x: Any) -> Any:
    made = []
    for i in range(len(x)):
        made.append((i, [x[i]]))
    return made


def test_lists_in_tuples() -> None:
    fused = check_against_python(pairs, [(np.ones(3),), (np.ones(1),)])
    assert not fused.variants.fallbacks
