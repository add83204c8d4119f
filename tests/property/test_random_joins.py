"""Random chains of rolls, pads, joins, scans and stores against NumPy, two sizes each."""

import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fusejit.api import FuseWarning
from fusejit_testing.oracle import check

# Each step takes two arrays of one shape of rank 1 or 2, and gives an array of that shape.
STEPS = {
    "scaled": lambda x, y, p: x * p + y,
    "chosen": lambda x, y, p: np.where(x > y, x, p),
    "rolled": lambda x, y, p: np.roll(x, 1, 0) - y,
    "rolled back": lambda x, y, p: np.roll(x, -2, axis=-1),
    "rolled flat": lambda x, y, p: np.roll(x, 3) + x,
    "wrapped difference": lambda x, y, p: np.roll(x, 1, -1) + np.roll(x, -1, -1) - 2 * x,
    "wrapped both ways": lambda x, y, p: np.roll(x, (1, -1), (0, -1)) * p,
    "edge": lambda x, y, p: np.pad(x, 1, "edge")[(slice(2, None),) * x.ndim] - x,
    "zeros around": lambda x, y, p: np.pad(x, 1)[(slice(0, -2),) * x.ndim] + y,
    "mirrored": lambda x, y, p: np.pad(x, 2, "reflect")[(slice(1, -3),) * x.ndim],
    "mirrored neighbours": lambda x, y, p: neighbours(np.pad(x, 1, "symmetric"), x),
    "joined": lambda x, y, p: np.concatenate((x[1:], y[:1])),
    "joined parts": lambda x, y, p: np.concatenate((x[:2] * p, y[2:])) + x,
    "halo": lambda x, y, p: np.concatenate((x[-1:], x, x[:1]))[2:] - y,
    "stacked": lambda x, y, p: np.stack((x, y, x + y))[1] * p,
    "stacked last": lambda x, y, p: np.maximum(*np.unstack(np.stack((x, y), -1), axis=-1)),
    "split": lambda x, y, p: np.concatenate(np.array_split(x, [2])[::-1]),
    "difference": lambda x, y, p: np.diff(x, axis=0, prepend=0) + y,
    "gradient": lambda x, y, p: np.gradient(x, p, axis=-1),
    "running": lambda x, y, p: np.cumsum(x, axis=0),
    "running maximum": lambda x, y, p: np.maximum.accumulate(x, axis=-1) - y,
    "tiled": lambda x, y, p: np.tile(x, 2)[..., : x.shape[-1]] + np.repeat(x[:1], len(x), axis=0),
    "triangle": lambda x, y, p: np.tril(np.atleast_2d(x), 1).reshape(x.shape) + y,
    "flipped": lambda x, y, p: np.flip(x, -1) + y,
    "transposed": lambda x, y, p: np.concatenate((x.T, y.T), axis=-1)[..., : len(x)].T * p,
    "stored": lambda x, y, p: stored(x.copy(), y, p),
    "stored shifted": lambda x, y, p: shifted(x, y),
    "updated": lambda x, y, p: updated(x, y),
}


def neighbours(padded, x):
    """A stencil over a padded array, along the last axis."""
    inner = padded[1:-1] if x.ndim == 2 else padded
    return inner[..., 2:] - inner[..., :-2] + x


def stored(x, y, p):
    """Two stores into a copy."""
    x[1:] = y[:-1]
    x[0] = p
    return x


def shifted(x, y):
    """A joined array stored into a part of another one."""
    out = np.zeros_like(x)
    out[1:] = (np.roll(y, 1, 0) + y)[1:]
    return out


def updated(x, y):
    """An array updated from its own neighbours, where others see it."""
    x[...] = x + np.roll(x, 1, 0) * 0.5
    return x - y


@settings(max_examples=150, deadline=None)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 5), st.integers(0, 5)),
        min_size=1,
        max_size=6,
    ),
    rank=st.integers(1, 2),
    order=st.sampled_from("CF"),
    dtype=st.sampled_from(("f8", "f8", "f4", "i8")),
)
def test_chains(steps, rank, order, dtype):
    def program(x, y):
        made = [x, y]
        for name, first, second in steps:
            made.append(STEPS[name](made[-1 - first % len(made)], made[-1 - second % len(made)], 2))
        return made[-1], made[2:][: len(steps) // 2]

    rng = np.random.default_rng(len(steps))

    def arguments(shape):
        return tuple(
            np.array(rng.integers(-4, 5, shape[:rank]), dtype, order=order) for _ in range(2)
        )

    calls = [arguments((6, 8)), arguments((9, 7))]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error", FuseWarning)
        check(program, *calls, variants=None)


if __name__ == "__main__":
    test_chains()
