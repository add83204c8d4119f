"""Every function of NumPy with every keyword argument, in default mode, against NumPy.

`python -m fusejit_testing.numpy_surface FILE` makes all 12,000 calls and lists in FILE those that
run as plain NumPy, with a warning; here every 40th is made.

Regression: ``casting=``, ``dtype=`` and ``signature=`` of ufuncs, ``reciprocal`` of integers,
``repeat`` by counts and ``var(where=)`` were refused. NumPy now runs them between kernels.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from fusejit_testing.numpy_surface import calls, functions, outcome

PLAIN = Path(__file__).parent / "numpy_surface_plain.txt"
STEP, PARTS = 160, 4


@pytest.mark.parametrize("part", range(PARTS))
def test_calls(part: int) -> None:
    every = (call for name, function in functions() for call in calls(name, function))
    plain = set(PLAIN.read_text().splitlines())
    for call in islice(every, part * STEP // PARTS, None, STEP):
        kind, text = outcome(call)
        assert kind != "wrong", f"{call}: {text}"
        assert kind != "plain" or str(call) in plain, f"{call}: {text}"
