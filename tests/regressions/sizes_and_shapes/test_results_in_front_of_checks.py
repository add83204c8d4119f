"""Results were written out of bounds: memory was sized by a length checked only later.

The campaign found it: ``q.shape[0]`` is 2 where ``w[-2:] + q`` is computed, and so the result was
allocated with two rows. It was written before the check, with as many rows as there were.
"""

import numpy as np
import pytest

from fusejit_testing.oracle import check, decorate


def rows(a):
    q = np.delete(a, 0, axis=0)
    w = np.zeros(q.size)
    w[:] = q.reshape(-1)
    w = w.reshape(q.shape)
    return w[-2:] + q, w


def rows_with_effects(a):
    q = np.delete(a, 0, axis=0)
    w = np.zeros(q.size)
    w[:] = q.reshape(-1)
    a += 1
    w = w.reshape(q.shape)
    return w[-2:] + q, w


CALLS = [(np.arange(n * 4.0).reshape(n, 4),) for n in (3, 3, 6, 1, 2)]


@pytest.mark.filterwarnings("ignore::fusejit.notices.FuseWarning")  # it broadcasts or raises
@pytest.mark.parametrize("fusion", ["none", "auto"])
@pytest.mark.parametrize("program", [rows, rows_with_effects])
def test_more_rows_than_checked(program, fusion):
    decorated = decorate(program, jit=False, fusion=fusion)
    for args in CALLS:
        assert outcome(decorated, args) == outcome(program, args)
    if program is rows_with_effects:
        check(program, *CALLS[:2], fusion=fusion)


@pytest.mark.filterwarnings("ignore::fusejit.notices.FuseWarning")
@pytest.mark.parametrize("fusion", ["none", "auto"])
def test_memory_is_not_shared_over_a_check(fusion, monkeypatch):
    """Also where no pass moves the check before it."""
    monkeypatch.setattr("fusejit.pipeline.hoist_assertions", lambda graph: graph)
    decorated = decorate(rows, jit=False, fusion=fusion)
    for args in CALLS:
        assert outcome(decorated, args) == outcome(rows, args)


def outcome(function, args):
    """What is seen of a call: values or the error, and the argument afterwards."""
    (array,) = (a.copy() for a in args)
    try:
        told = [(r.shape, r.tolist()) for r in function(array)]
    except (ValueError, IndexError) as error:
        told = repr(error)
    return told, array.tolist()
