"""Random chains of reshapes against NumPy: one compilation, two sizes."""

import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fusejit.api import FuseWarning
from fusejit_testing.oracle import check

# Each step takes an array of rank 2 or 3 with an even first axis, and gives one.
STEPS = {
    "flat and back": lambda x, p: x.reshape(-1).reshape(x.shape),
    "flat, added, back": lambda x, p: (x.reshape(-1) + p).reshape(x.shape),
    "merge": lambda x, p: x.reshape(x.shape[0], -1),
    "split": lambda x, p: x.reshape(2, -1, x.shape[-1]),
    "split and permute": lambda x, p: x.reshape(2, -1, x.shape[-1]).transpose(1, 0, 2),
    "permute and merge": lambda x, p: np.moveaxis(x, 0, -1).reshape(-1, x.shape[0]).T,
    "halves": lambda x, p: x.reshape(2, -1).T.reshape(x.shape),
    "transposed": lambda x, p: x.T.reshape(x.shape),
    "scaled": lambda x, p: x * p,
    "shifted": lambda x, p: np.abs(x - p) + x[:1],
    "broadcast": lambda x, p: x + np.arange(x.shape[-1]),
    "in place": lambda x, p: in_place(x.reshape(x.shape), p),
    "in place, flat": lambda x, p: in_place(x.reshape(-1), p).reshape(x.shape),
    "fortran": lambda x, p: x.reshape(x.shape[0], -1, order="F"),
    "unit axes": lambda x, p: x[:, None].reshape(x.shape) * p,
    "raveled": lambda x, p: np.ravel(x + p).reshape(x.shape),
    "flipped": lambda x, p: np.flip(x, -1).reshape(x.shape) + p,
    "copied": lambda x, p: x.flatten().reshape(x.shape),
}
ENDS = {
    "array": lambda x: x,
    "chained": lambda x: x * 2,
    "maxima": lambda x: x.reshape(x.shape[0], -1).max(axis=1),
    "block sums": lambda x: x.reshape(x.shape[0] // 2, 2, -1).max(axis=1),
    "total": lambda x: x.reshape(-1).max(),
    "several": lambda x: (x + 1, x.reshape(-1) * 2),
}


def in_place(x, p):
    """``x`` after a store into half of it."""
    x[:2] += p
    return x


@settings(max_examples=120, deadline=None)
@given(
    steps=st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=5),
    end=st.sampled_from(sorted(ENDS)),
    fortran=st.booleans(),
    fresh=st.booleans(),
)
def test_chains(steps, end, fortran, fresh):
    def program(x):
        if fresh:
            x = x + 0.5
        for number, name in enumerate(steps):
            x = STEPS[name](x, number + 2)
        return ENDS[end](x)

    def array(rows, columns):
        values = np.random.default_rng(rows).permutation(rows * columns).astype(float)
        made = values.reshape(rows, columns)
        return np.asfortranarray(made) if fortran else made

    sizes = (4, 6), (6, 10), (8, 14)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FuseWarning)
        check(program, *((array(*size),) for size in sizes), variants=None)
