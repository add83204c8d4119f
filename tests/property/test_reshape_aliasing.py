"""Random stores through reshapes of one array and of its views: who sees them, as in NumPy."""

import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fusejit.api import FuseWarning
from fusejit_testing.oracle import check

VIEWS = {
    "flat": lambda a: a.reshape(-1),
    "rows of 2": lambda a: a.reshape(-1, 2),
    "two rows": lambda a: a.reshape(2, -1),
    "split": lambda a: a.reshape(2, -1, a.shape[-1]),
    "halved": lambda a: a.reshape(a.shape[0] // 2, 2, -1),
    "transposed": lambda a: a.T,
    "raveled": lambda a: np.ravel(a),
    "tail": lambda a: a[1:],
    "backwards": lambda a: a[::-1],
    "steps": lambda a: a[::2],
    "unit": lambda a: a[None],
    "flattened": lambda a: a.flatten(),
    "fortran": lambda a: a.reshape(-1, order="F"),
}
STORES = {
    "add": lambda a, p: a.__iadd__(p),
    "first": lambda a, p: a.__setitem__(0, p),
    "slice": lambda a, p: a.__setitem__(slice(1, None), p),
    "doubled": lambda a, p: a.__setitem__(Ellipsis, a * 2),
    "reversed": lambda a, p: a.__setitem__(Ellipsis, a[::-1] + p),
    "mask": lambda a, p: a.__setitem__(a > p, -1.0),
}
STEP = st.one_of(
    st.tuples(st.just("view"), st.sampled_from(sorted(VIEWS)), st.integers(0, 9)),
    st.tuples(st.just("store"), st.sampled_from(sorted(STORES)), st.integers(0, 9)),
    st.tuples(st.just("read"), st.just(""), st.integers(0, 9)),
)


@settings(max_examples=150, deadline=None)
@given(
    steps=st.lists(STEP, min_size=2, max_size=7),
    fresh=st.booleans(),
    fortran=st.booleans(),
    handed_out=st.integers(0, 3),
)
def test_stores_are_seen_by_all_views(steps, fresh, fortran, handed_out):
    def program(x):
        arrays = [x * 1.5 if fresh else x]
        read = []
        for number, (kind, name, which) in enumerate(steps):
            array = arrays[which % len(arrays)]
            if kind == "view":
                arrays.append(VIEWS[name](array))
            elif kind == "store":
                STORES[name](array, number + 1.5)
            else:
                read.append(array * 2 + 1)
        return [*read, *(a + 0 for a in arrays), *arrays[len(arrays) - handed_out :]]

    def array(rows, columns):
        values = np.random.default_rng(rows).permutation(rows * columns).astype(float)
        made = values.reshape(rows, columns)
        return np.asfortranarray(made) if fortran else made

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FuseWarning)
        check(program, (array(4, 6),), (array(8, 10),), variants=None)
