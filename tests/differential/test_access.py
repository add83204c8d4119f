"""Which results may be written: views without elements where NumPy copies what has some.

Each function is given arrays of all kinds one after the other, so that a variant of one meets the
others: what may not be written, what warns, and what has no elements.

Regression: A writeable array without elements was returned read-only, or the reverse: one variant
served both. ``np.tile`` and host functions had the same fault.
"""

import warnings

import numpy as np
import pytest

from fusejit.ir.write_access import WriteAccess
from fusejit_testing.oracle import decorate

FUNCTIONS = {
    "ascontiguousarray": lambda a: np.ascontiguousarray(a),
    "asfortranarray": lambda a: np.asfortranarray(a),
    "asarray": lambda a: np.asarray(a, order="C"),
    "astype": lambda a: a.astype(float, copy=False, order="C"),
    "reshape": lambda a: a.reshape(-1),
    "reshape back": lambda a: a.reshape(a.shape[1], a.shape[0]),
    "reshape A": lambda a: np.reshape(a, (-1,), order="A"),
    "reshape T": lambda a: a.T.reshape(-1),
    "reshape part": lambda a: a[:, ::2].reshape(-1),
    "ravel": lambda a: a.ravel(),
    "ravel F": lambda a: np.ravel(a, order="F"),
    "ravel K": lambda a: np.ravel(a, order="K"),
    "flatten": lambda a: a.flatten(),
    "tile": lambda a: np.tile(a, (2, 1)),
    "repeat": lambda a: np.repeat(a, 2),
    "roll": lambda a: np.roll(a, 1),
    "atleast_3d": lambda a: np.atleast_3d(a),
    "append": lambda a: np.append(a, a),
    "array_split": lambda a: np.array_split(a, 2)[1],
    "rot90": lambda a: np.rot90(a),
    "diagonal": lambda a: np.diagonal(a),
    "concatenate": lambda a: np.concatenate([a]),
    "imag": lambda a: a.imag,
}


def locked(array):
    array.flags.writeable = False
    return array


def arrays(n, m):
    yield np.ones((n, m))
    yield locked(np.ones((n, m)))
    yield locked(np.ones((n, 2 * m)))[:, ::2]
    yield np.ones((m, n)).T
    yield locked(np.ones((m, n))).T
    yield np.broadcast_to(np.ones(1), (n, m))
    yield np.broadcast_arrays(np.ones((1, m)), np.ones((n, m)))[0]


def tiled(a):
    q = np.tile(a, 2)
    q[...] = q[::-1]
    return (q,)


def raveled(a):
    w = np.ravel(a[..., 1::2])
    w[:1] = 0
    return (w,)


@pytest.mark.filterwarnings("ignore::fusejit.notices.FuseWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_may_be_written_as_numpys(name):
    function = FUNCTIONS[name]
    fused = decorate(function, jit=False)
    for n, m in ((3, 4), (0, 4), (3, 0), (1, 4)):
        for at, array in enumerate(arrays(n, m)):
            expected, actual = function(array), fused(array)
            assert (actual is array) == (expected is array), (n, m, at)
            assert WriteAccess.of(actual) is WriteAccess.of(expected), (n, m, at)


def outcome(function, array):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return [r.tolist() for r in function(array.copy() if array.size else array)]
        except ValueError as error:
            return str(error)


@pytest.mark.parametrize("program", [tiled, raveled])
def test_stores_into_what_may_be_a_view(program):
    fused = decorate(program, jit=False)
    for n, m in ((2, 2), (3, 0), (0, 3)):
        for array in arrays(n, m):
            assert outcome(fused, array) == outcome(program, array)
