"""Random indices with integer arrays against NumPy: reads, stores, updates, some out of bounds."""

from __future__ import annotations

import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fusejit.api import FuseWarning
from fusejit_testing.oracle import check

SLICES = [slice(None), slice(1, None), slice(None, -1), slice(None, None, -1), slice(0, 3, 2)]
ITEMS = st.one_of(
    st.sampled_from("abba"), st.sampled_from(SLICES), st.sampled_from([None, Ellipsis, 0, -1, 1])
)
LAYOUTS = {
    "C": lambda x: x.copy(),
    "F": np.asfortranarray,
    "turned": lambda x: x.transpose(1, 2, 0).copy().transpose(2, 0, 1),
    "strided": lambda x: np.repeat(x, 2, axis=2)[:, :, ::2],
    "fresh": None,
}


def picks(x, parts, a, b):
    """``x[parts]`` with the arrays in the place of their names."""
    named = {"a": a, "b": b}
    return tuple([named[p] if isinstance(p, str) else p for p in parts])


def read(x, a, b, v, parts):
    y = x[picks(x, parts, a, b)]
    return y, y * 2 + 1


def store(x, a, b, v, parts):
    x[picks(x, parts, a, b)] = v
    return x.max()


def update(x, a, b, v, parts):
    i = picks(x, parts, a, b)
    x[i] *= v
    x[i] += 1
    return x[i]


def add_at(x, a, b, v, parts):
    np.add.at(x, picks(x, parts, a, b), v)


def read_between(x, a, b, v, parts):
    i = picks(x, parts, a, b)
    before = x[i]
    x[1:] = 7
    return before + x[i]


PROGRAMS = [read, store, update, add_at, read_between]


@settings(max_examples=250, deadline=None)
@given(
    parts=st.lists(ITEMS, min_size=1, max_size=5).filter(
        lambda p: any(isinstance(i, str) for i in p) and p.count(Ellipsis) < 2
    ),
    program=st.sampled_from(PROGRAMS),
    layout=st.sampled_from(sorted(LAYOUTS)),
    shapes=st.sampled_from(
        [((3,), (3,)), ((2, 1), (3,)), ((2, 3), (2, 3)), ((0,), (1,)), ((1,), (4,))]
    ),
    dtypes=st.tuples(*[st.sampled_from(["i8", "i4", "u1", "i1"])] * 2),
    fortran=st.booleans(),
    far=st.sampled_from([3, 3, 3, 6]),
    seed=st.integers(0, 99),
)
def test_random_indices(parts, program, layout, shapes, dtypes, fortran, far, seed):
    rng = np.random.default_rng(seed)
    arrays = [
        rng.integers(0 if d[0] == "u" else -min(far, 3), far, shape).astype(d)
        for d, shape in zip(dtypes, shapes, strict=True)
    ]
    if fortran:
        arrays[0] = np.asfortranarray(arrays[0])

    def run(x, a, b, v):
        if layout == "fresh":
            x = x + 0.0
        return program(x, a, b, v, parts), x * 1

    x = np.arange(60.0).reshape(3, 4, 5)
    x = x if LAYOUTS[layout] is None else LAYOUTS[layout](x)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "run runs as plain NumPy", FuseWarning)
        check(run, (x, *arrays, np.float64(1.5)), (x, *arrays, np.float64(2.5)), variants=None)
