"""Numbers of a call of NumPy's read from an array, as items of lists and tuples, and in loops.

`python -m fusejit_testing.argument_sources` makes all such calls; here every 160th is made.
"""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.argument_sources import every_form
from fusejit_testing.numpy_surface import outcome_of

STEP, PARTS = 160, 2


@pytest.mark.parametrize("part", range(PARTS))
def test_forms(part: int) -> None:
    made = 0
    for call, form, caller, given in islice(every_form(), part * STEP // PARTS, None, STEP):
        kind, text = outcome_of(caller, given)
        assert kind != "wrong", f"{call}, {form}: {text}"
        made += 1
    assert made > 20


def test_the_size_along_a_list_of_axes(monkeypatch: pytest.MonkeyPatch) -> None:
    """``np.size(x, axis=[0, 1])`` ended in an internal error: it took tuples alone."""
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    fused = fuse_jit(lambda x: x * np.size(x, axis=[0, 1]))
    assert fused(np.ones((2, 3))).tolist() == [[6.0] * 3] * 2
