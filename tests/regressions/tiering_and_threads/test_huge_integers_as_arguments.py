"""`struct.error` for seeds of 128 bits: the next call count to check exceeded 64 bits.

The size of an argument says when a function is asked again whether its segments pay; seeds of 128
bits are the size of nothing. They were above every limit, so that each call asked, and the number
of the next look left 64 bits: ``struct.error`` in the user's call (SciPy's ``qmc`` engines).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from fusejit import FuseWarning, fuse_jit
from fusejit.codegen.launcher.call_guard import NEVER, UNLIMITED, CallGuard, Expected
from fusejit.tiering.segment_profiler import SegmentProfiler, size_of

SEED = 170382760648021597650530316304495310428


def drawn(n: int, seed: int) -> Any:
    text = f"{seed}"
    rng = np.random.default_rng(int(text))
    return rng.random(n) * 2.0 + np.arange(n)


@pytest.mark.parametrize("tiering", [True, False])
def test_a_seed_of_128_bits(tiering: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSEJIT_TIERING", "1" if tiering else "0")
    fused = fuse_jit(drawn)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FuseWarning)
        for at in range(80):
            n, seed = 3 + at % 40, SEED + at
            np.testing.assert_array_equal(fused(n, seed), drawn(n, seed))


def test_no_length_is_as_large() -> None:
    assert size_of(SEED) == size_of(-SEED) == 0
    guard = CallGuard([Expected(limit=100)], due=NEVER * 4)
    calls = {100: False, 101: True, UNLIMITED: True, SEED: False, -SEED: False}
    assert {n: bool(guard.rejects(n)) for n in calls} == calls
    assert {n: guard.would_reject((n,)) for n in calls} == calls


class Interpreted:
    """A segment that does not pay for small arguments."""

    name = "segment"
    is_interpreted = True
    depends_on_sizes = True

    def request_reprofile(self) -> None:
        """Nothing to forget."""


def test_the_next_look_has_an_end() -> None:
    def own(x: Any) -> Any:
        return x

    settling = SegmentProfiler(own, own, lambda interpreted: own, [Interpreted()], [])
    for at in range(80):
        assert settling.reprofile_call(at) == at
