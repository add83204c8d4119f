"""`struct.error` for integers beyond 61 bits: a guard's fourfold limit exceeded 64 bits.

The judge found it in SciPy's `_broadcast_shapes`, which takes sizes of empty arrays to be as large
as can be: the guard of such calls holds 64 bits, and a limit of four times as much failed.
"""

import tempfile

import numpy as np
import pytest

import fusejit.dispatch.tiering_policy
from fusejit import fuse_jit
from fusejit_testing.oracle import without_warm_up


@pytest.fixture(autouse=True)
def retiring(monkeypatch):
    monkeypatch.setenv("FUSEJIT_TIERING", "1")


def rest(n):
    return n % 3


def of_items(items, n):
    return [x % 7 for x in items], n % 3


LARGE = [3, 2**61, 2**62, 2**63 - 1, 2**63, 2**70, -(2**70)]


@pytest.mark.filterwarnings("ignore::fusejit.notices.FuseWarning")
@pytest.mark.parametrize("first", LARGE)
def test_large_integers(first):
    fused, opened = fuse_jit(rest), fuse_jit(of_items)
    for n in (first, *LARGE):
        for _ in range(20):
            assert fused(n) == rest(n)
            assert opened([1, 2, n], n) == of_items([1, 2, n], n)


def test_a_fault_where_it_is_decided_what_pays(monkeypatch, tmp_path):
    def failing(*args, **kwargs):
        raise ValueError("of our own")

    failing.__code__ = failing.__code__.replace(
        co_filename=fusejit.dispatch.tiering_policy.__file__
    )
    monkeypatch.setattr(fusejit.dispatch.tiering_policy, "InterpretedFunction", failing)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where the report goes
    fused = without_warm_up(fuse_jit(rest))
    with pytest.warns(UserWarning, match="a fault of fusejit"):
        assert fused(5) == 2
    assert fused(7) == 1
    monkeypatch.undo()
    np.testing.assert_equal(fuse_jit(rest)(8), 2)
