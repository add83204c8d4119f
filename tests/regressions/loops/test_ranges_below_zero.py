"""`tuple(range(n))` failed for negative n: the length of a range was not limited to 0 or more.

`np.kron` makes axes of ``tuple(range(ndb - nda))``. What a range has was its length as an
expression, and ``len`` of that was below 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit_testing.oracle import check


def test_containers_of_negative_ranges() -> None:
    def counted(x: Any, y: Any) -> Any:
        n = x.shape[0] - y.shape[0]
        made = (
            tuple(range(n)),
            [*range(n)],
            list(reversed(range(n))),
            list(zip(range(n), "ab", strict=False)),
        )
        return x * len(made[0]), made, len(range(n)), sum(range(n)), list(enumerate(range(n)))

    for lengths in ((2, 5), (5, 2), (3, 3)):
        check(counted, tuple(np.ones(n) for n in lengths), variants=None)
