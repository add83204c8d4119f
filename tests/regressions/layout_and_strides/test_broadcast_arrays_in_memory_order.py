"""`ravel("K")` of a broadcast array had another order: stride 0 counted as the innermost axis.

``ravel("K")`` took an axis of stride 0 for the innermost one, as a copy like the array has it;
NumPy leaves such an axis where it is. ``np.broadcast_arrays`` made read-only views of arrays whose
sizes it had just found equal; NumPy hands out those arrays themselves.
"""

import numpy as np
import pytest

from fusejit_testing.oracle import check

LAYOUTS = {
    "rows": lambda a: np.broadcast_to(a[0], a.shape),
    "columns": lambda a: np.broadcast_to(a[:, :1], a.shape),
    "all": lambda a: np.broadcast_to(a[0, 0], a.shape),
    "backwards": lambda a: np.broadcast_to(a[0], a.shape)[:, ::-1],
    "F": np.asfortranarray,
    "gaps": lambda a: np.repeat(a, 2, axis=1)[:, ::2].T,
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_memory_order(layout):
    def flattened(a):
        return a.ravel("K") * 1, a.T.ravel("K") * 2, a.flatten("K"), a.T.flatten("K")

    calls = [(LAYOUTS[layout](np.arange(r * c).reshape(r, c) * 1.0),) for r, c in ((3, 4), (5, 2))]
    check(flattened, *calls, variants=None)


def test_arrays_of_one_shape_are_themselves():
    def spread(a, b):
        c, d = np.broadcast_arrays(a, b)
        c += 1
        return c, d, np.broadcast_arrays(a, a)[0]

    check(spread, (np.ones(3), np.ones(6)[::2]), (np.ones(5), np.ones(5)), variants=None)
