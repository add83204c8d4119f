"""Refused calls of the ops by rule: the error names the op, and nothing is written."""

from __future__ import annotations

import numpy as np
import pytest

from fusejit import linalg


def add(a, total):
    return total + a


def double(a):
    return a * 2


X = np.arange(12.0).reshape(3, 4)
IDENTITY = "(i, j) -> (i, j)"
TILED = {"inner_dims_pos": (1,), "inner_tiles": (2,)}
IMAGE, FILTER, TILES = np.ones((1, 4, 4, 2)), np.ones((3, 3, 3, 2)), np.ones((4, 4, 1, 1, 1, 2))


CALLS = {
    # name: op, positional arguments that follow the inputs, inputs, keywords, shape of the result
    "transpose": (linalg.transpose, (X,), {"permutation": (1, 0)}, (4, 3)),
    "broadcast": (linalg.broadcast, (X,), {"dimensions": (0,)}, (2, 3, 4)),
    "fill": (linalg.fill, (2.0,), {}, (3, 4)),
    "fill_rng_2d": (linalg.fill_rng_2d, (0.0, 1.0, 3), {}, (3, 4)),
    "map": (linalg.map, (double, X), {}, (3, 4)),
    "exp": (linalg.elementwise, (X,), {"kind": "exp"}, (3, 4)),
    "reduce": (linalg.reduce, (add, X, None, (1,)), {}, (3,)),
    "pack": (linalg.pack, (X,), TILED, (3, 2, 2)),
    "unpack": (linalg.unpack, (X.reshape(3, 2, 2),), TILED, (3, 4)),
    "winograd_filter_transform": (linalg.winograd_filter_transform, (FILTER,), {}, (4, 4, 2, 3)),
    "winograd_input_transform": (linalg.winograd_input_transform, (IMAGE,), {}, (4, 4, 1, 1, 1, 2)),
    "winograd_output_transform": (linalg.winograd_output_transform, (TILES,), {}, (1, 2, 2, 2)),
    "generic": (
        linalg.generic,
        ([X], [], [IDENTITY] * 2, ["parallel"] * 2, lambda a, out: a + 1),
        {},
        (3, 4),
    ),
}


def refused(name, error, what, args, keywords, out=None):
    op = CALLS[name][0]
    memory = {} if out is None else {"out": out}
    kept = None if out is None else out.copy()
    for run in (op.reference, op):
        with pytest.raises(error, match=what) as caught:
            run(*args, **keywords, **memory)
        assert "\n" not in str(caught.value)
        assert out is None or np.array_equal(out, kept)


@pytest.mark.parametrize("name", CALLS)
def test_the_calls_are_right_without_a_fault(name):
    op, args, keywords, shape = CALLS[name]
    out = np.zeros(shape)
    assert op.reference(*args, **keywords, out=out) is out
    assert op(*args, **keywords, out=np.zeros(shape)).shape == shape


@pytest.mark.parametrize("name", CALLS)
def test_an_unknown_attribute(name):
    _, args, keywords, shape = CALLS[name]
    refused(name, TypeError, "'padding'", args, {**keywords, "padding": 1}, np.zeros(shape))


@pytest.mark.parametrize("name", CALLS)
def test_an_output_that_is_read_only(name):
    _, args, keywords, shape = CALLS[name]
    out = np.zeros(shape)
    out.flags.writeable = False
    refused(name, ValueError, f"^{name}: .* is read-only", args, keywords, out)


@pytest.mark.parametrize("name", CALLS)
def test_an_output_of_another_rank_or_shape(name):
    _, args, keywords, shape = CALLS[name]
    if not name.startswith("fill"):  # of any shape
        refused(name, ValueError, f"^{name}: ", args, keywords, np.zeros([n + 1 for n in shape]))
    if name != "fill":
        refused(name, ValueError, f"^{name}: ", args, keywords, np.zeros((1, *shape)))


@pytest.mark.parametrize("name", [n for n in CALLS if not n.startswith("fill")])
@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_an_output_that_overlaps_an_input(name):
    _, args, keywords, shape = CALLS[name]
    memory = np.zeros(200)

    def moved(value):
        if isinstance(value, list):
            return [moved(v) for v in value]
        if not isinstance(value, np.ndarray):
            return value
        made = memory[: value.size].reshape(value.shape)
        made[...] = value
        return made

    out = memory[: int(np.prod(shape))].reshape(shape)
    refused(name, ValueError, f"^{name}: .* overlaps ", [*map(moved, args)], keywords, out)


@pytest.mark.parametrize("name", [n for n in CALLS if not n.startswith("fill")])
@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_a_type_that_is_not_compiled(name):
    _, args, keywords, shape = CALLS[name]

    def half(value):
        if isinstance(value, list):
            return [half(v) for v in value]
        return value.astype("f2") if isinstance(value, np.ndarray) else value

    what = f"^{name}: .* is of type float16, not compiled"
    refused(name, TypeError, what, [*map(half, args)], keywords, np.zeros(shape))


def test_transposes_and_broadcasts_that_are_none():
    for permutation in ((0,), (0, 0), (0, 2), (-1, 0)):
        what = "^transpose: permutation"
        refused("transpose", ValueError, what, (X,), {"permutation": permutation})
    for dimensions in ((0, 0), (3,), (-1,)):
        what = "^broadcast: "
        out = np.zeros((2, 3, 4))
        refused("broadcast", ValueError, what, (X,), {"dimensions": dimensions}, out)


def test_map_and_reduce_of_operands_that_disagree():
    y = np.zeros((3, 5))
    refused("map", ValueError, "^map: .*in0.*in1", (lambda a, b: a + b, X, y), {})
    refused("map", TypeError, "^map: a payload without inputs", (lambda: 1.0,), {})
    refused("reduce", TypeError, "^reduce: 2 inputs and 1 inits", (add, [X, X], X[0], (0,)), {})
    refused("reduce", ValueError, "^reduce: .*out0", (add, X, np.zeros(5), (1,)), {})


def test_starts_that_are_missing():
    for name in ("fill_rng_2d", "broadcast"):
        _, args, keywords, _ = CALLS[name]
        refused(name, ValueError, f"^{name}: no operand determines the extent", args, keywords)
