"""`np.ones(0) < None` gave an internal error: it raises only for arrays with elements.

Random programs found it (mutation seed 95006306).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.outcome import FAULT
from fusejit_testing.oracle import check

pytestmark = pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")


def compared(x: Any) -> Any:
    return (x + 1.5) < None


def added(x: Any) -> Any:
    return (x * 2).reshape(-1) + None


@pytest.mark.parametrize("function", [compared, added])
def test_an_object_and_no_elements(function: Any) -> None:
    check(function, (np.ones(0),), (np.ones(3),), (np.ones((0, 2)),), variants=None)
    check(function, (np.ones(3),), (np.ones(3),), (np.ones(0),), variants=None)


@pytest.mark.parametrize("function", [compared, added])
def test_that_is_no_fault(function: Any) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert fuse_jit(function)(np.ones(0)).size == 0
    assert not [w for w in told if FAULT in str(w.message)]
