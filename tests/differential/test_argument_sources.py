"""Numbers of a call of NumPy's read from an array, as items of lists and tuples, and in loops.

`python -m fusejit_testing.argument_sources` makes all such calls; here every 160th is made.
"""

from __future__ import annotations

from itertools import islice

import pytest

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
