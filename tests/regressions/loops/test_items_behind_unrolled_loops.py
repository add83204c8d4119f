"""Functions that read a loop variable after an unrolled loop with an early end were refused.

The same happened to a float that only the kernel knows, rounded to some digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit_testing.oracle import compare_outcomes, decorate, run


def halvings(x: Any) -> Any:
    history = []
    for it in range(10):  # noqa: B007
        x = x / 2
        history.append(x[0])
        if x.max() < 0.5:
            break
    return it, len(history), history[-1]


def rounded(x: Any) -> Any:
    return round(float(x.max()), 1), round(x.min(), 2)


def test_halvings_and_digits() -> None:
    for program in (halvings, rounded):
        decorated = decorate(program, jit=False)
        for x in (np.arange(4.0) / 3, np.arange(9.0) / 7, np.arange(4.0)):
            compare_outcomes(run(program, (x,)), run(decorated, (x,)))
