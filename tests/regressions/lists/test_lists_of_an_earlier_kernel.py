"""VerificationError: a list made in front of a step of the launcher was used behind it only.

Its memory was that of a kernel, which ends there, because nothing had used it by then.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit_testing.oracle import check


def bound_again(x: Any) -> Any:
    kept = []
    for v in x:
        made = []
        made.append(v)
        made.append(2 * v)
        kept = made
    return np.array(kept)


def test_array_of_a_list_that_is_bound_again() -> None:
    check(bound_again, (np.arange(5.0),), (np.arange(2.0),), jit=True)
