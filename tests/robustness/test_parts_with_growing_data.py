"""Parts that are given lists and dictionaries which grow, and helpers that are called in a loop.

Regression: Union-find over an image ran at 0.005x: each length of a dictionary left a variant that
all later calls checked. Runge-Kutta from ``states[-1]`` ran at 0.56x: a segment waited for each
length of a list.
"""

from queue import SimpleQueue

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.dispatch.call_signatures import NEW_VALUE_REASON
from fusejit.dispatch.dispatcher import MAX_PER_PART
from fusejit.segments.find_dispatcher import dispatcher_of
from fusejit.segments.segmented import Helper


@pytest.fixture(autouse=True)
def retiring(monkeypatch):
    """Calls that do not pay are left to Python, as they are without a setting of the tests."""
    monkeypatch.setenv("FUSEJIT_TIERING", "1")


def counted(link, a, names):
    while link[a] != a:
        link[a] = link[link[a]]
        a = link[a]
    return names.setdefault(int(a), len(names))


def labels(link):
    names = {}
    found = np.empty(link.shape, int)
    for a in range(len(link)):
        found[a] = counted(link, a, names)
    return found


def test_a_dictionary_that_grows_leaves_no_variants_behind():
    """Each length had its variant, and each later call was put to all of these first."""
    start = np.random.default_rng(0).integers(0, 50, 300)
    start = np.minimum(start, np.arange(300))
    fused = fuse_jit(labels)
    for _ in range(3):
        np.testing.assert_array_equal(fused(start.copy()), labels(start.copy()))
    assert fused.variants.compiled
    assert fused.variants.newest_segmented is None


def states_in(segmented):
    """What is known of all that an opened function calls."""
    for _, state in segmented.functions():
        yield from states_of(state)
    for segment in segmented.segments:
        if segment.state is not None:
            yield from states_of(segment.state)


def states_of(state):
    yield state
    for opened in state.variants.all_segmented:
        yield from states_in(opened)


def from_the_last_state(y, steps):
    states, seen = [y], SimpleQueue()
    for k in range(1, steps):
        y = states[-1]
        seen.put(k)
        half = y + 0.5 * k * y
        states.append(half - 0.25 * y)
    return np.array(states)


def test_a_part_that_is_given_ever_longer_lists_does_not_wait_for_each_length():
    fused, plain = fuse_jit(from_the_last_state), from_the_last_state
    for _ in range(4):
        np.testing.assert_array_equal(fused(1.5, 60), plain(1.5, 60))
    states = [*states_in(fused.variants.newest_segmented)]
    assert states
    assert all(state.variants.fallbacks[NEW_VALUE_REASON] <= MAX_PER_PART for state in states)
    assert dispatcher_of(fused).tiering.runs_interpreted  # all else is numbers


def smallest(values):
    if len(values) > 99:
        return np.sort(np.array(values)).sum()  # never reached
    values = sorted(values)
    return values[0]


def smallest_of_each(rows):
    found = np.empty(len(rows))
    for k in range(len(rows)):
        window = []
        for value in rows[k]:
            window.append(value)
        found[k] = smallest(window)
    return found


def test_what_a_call_between_segments_leads_to_is_looked_up_once(monkeypatch):
    asked = []
    fused_form = Helper.fused_form
    monkeypatch.setattr(
        Helper, "fused_form", lambda self, made: (asked.append(made), fused_form(self, made))[1]
    )
    rows = np.random.default_rng(0).random((50, 4))
    fused = fuse_jit(smallest_of_each)
    fused(rows)
    asked.clear()
    for _ in range(3):
        np.testing.assert_array_equal(fused(rows), rows.min(axis=1))
    assert asked.count(smallest) <= 6
