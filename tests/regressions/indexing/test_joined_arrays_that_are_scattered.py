"""`x[i] = np.concatenate(..)` wrote rows 0 to n-1: a pass dropped the integer index of a `Scatter`.

A scatter was a kind of store, and `fuse.folding.concat_reads` computed such an array region by
region straight into the "view of the store": the parts went to positions 0..n-1. A scatter is no
`Store` any more, and `ir.analysis.writes` says in one place what may be written through the map of
a view.
"""

import numpy as np
import pytest

from fusejit.ir.ops import Scatter, Store
from fusejit_testing.oracle import check


def put(x, i, v):
    r = np.zeros(len(x))
    r[i] = v
    return r


def concatenated(x, i):
    return put(x, i, np.concatenate((x[1:], x[:1])))


def rolled(x, i):
    return put(x, i, np.roll(x, 2) * 3)


def padded(x, i):
    return put(x, i, np.pad(x[2:], 1, "edge") + x)


def rows(x, i):
    r = np.zeros((4, len(x)))
    r[i[:2] % 4] = np.stack((x, x + 1))
    return r


def columns(x, i):
    r = np.zeros((2, len(x)))
    r[:, i] = np.vstack((x, x - 1))
    return r


def items(x, i):
    r = np.zeros((len(x), len(x)))
    r[i[:3]] = [x, x + 1, x + 2]
    return r


def numbers(x, i):
    r = np.zeros(len(x))
    r[i[:3]] = [x[0], x[1] + 1, 5.0]
    return r


def stored_in_part(x, i):
    b = np.empty(len(x))
    b[:] = x
    b[1] = 5
    return put(x, i, b), put(x, i, b * 2)


def added(x, i):
    r = x.copy()
    r[i] += np.roll(x, 1)
    np.add.at(r, i // 2, np.roll(x, -1) * 2)
    return r


def handed_over(x, i):
    x[i] = np.concatenate((x[:2], x[3:], x[2:3])) - x
    return x.sum()


def unsorted(x, i):
    order = np.argsort(i, kind="stable")
    found = np.concatenate(([True], x[order][1:] != x[order][:-1]))
    r = np.empty(found.shape, bool)
    r[order] = found
    return r


def inserted(x, i):
    """As np.insert does it."""
    new = np.empty(len(x) + 3)
    others = np.ones(len(x) + 3, bool)
    others[i[:3]] = False
    new[i[:3]] = np.concatenate(([x[1]], x[:2] * 2))
    new[others] = x
    return new


@pytest.mark.parametrize(
    "program",
    [
        concatenated,
        rolled,
        padded,
        rows,
        columns,
        items,
        numbers,
        stored_in_part,
        added,
        handed_over,
        unsorted,
        inserted,
    ],
)
@pytest.mark.parametrize("fusion", ["auto", "aggressive", "none"])
def test_what_is_stored_through_integers(program, fusion):
    rng = np.random.default_rng(3)
    calls = [(rng.integers(0, 9, n) * 1.0, rng.permutation(n)) for n in (6, 9)]
    check(program, *calls, fusion=fusion, variants=None)


def test_a_scatter_is_no_store():
    assert not issubclass(Scatter, Store)
