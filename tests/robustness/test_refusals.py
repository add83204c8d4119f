"""What fusejit does not trace: Python's, or under fullgraph an error that names what to do.

Regression: ``UnsupportedError``, ``ConcretizationError`` and ``InternalError`` reached users in
default mode. Python now runs the statement or the function.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.errors import ConcretizationError, FusejitError, UnsupportedError

pytestmark = pytest.mark.usefixtures("unjitted")

STATE = SimpleNamespace(count=0)
SEEN: list[Any] = []


def eigenvalues(x: Any) -> Any:
    return np.linalg.eigvals(x).real


def python_random(x: Any) -> Any:
    return x + random.gauss(0, 1)


def list_append(x: Any) -> Any:
    SEEN.append(1)
    return x * 2


def clock(x: Any) -> Any:
    return x + time.time()


def environment(x: Any) -> Any:
    return x + float(os.environ.get("SHIFT", "1"))


def global_write(x: Any) -> Any:
    global COUNT
    COUNT = 1
    return x


def transform(x: Any) -> Any:
    return np.linalg.eigvals(x)


def unknown_method(x: Any) -> Any:
    return (x + 1).byteswap()


def gather(x: Any) -> Any:
    return x[np.array(1)]


def mixed_mask(x: Any) -> Any:
    return x[None][0, True]


def opening(x: Any) -> Any:
    with open("/dev/null") as file:
        file.read()
    return x


UNSUPPORTED = [
    eigenvalues,
    python_random,
    list_append,
    clock,
    environment,
    global_write,
    transform,
    unknown_method,
    gather,
    mixed_mask,
    opening,
]


def elements(x: Any) -> Any:
    return x + len((x * 2).tobytes())


CONCRETE = [
    elements,
]


def check_message(error: FusejitError, function: Callable[..., Any]) -> None:
    """Function and line of the program are named, and something else is suggested."""
    text = str(error)
    first = function.__code__.co_firstlineno
    found = re.search(r"test_refusals\.py:(\d+)", text)
    assert found is not None, text
    assert first < int(found[1]) <= first + 5, text
    assert function.__name__ in text
    hints = (
        r"instead|outside|Use |Call it|Move |[Rr]eturn |Pass |pass |keep |fill |write |Multiply|"
        r"without"
    )
    assert re.search(hints, text), f"no alternative: {text}"
    assert len(text) < 600


@pytest.mark.parametrize("function", UNSUPPORTED, ids=lambda f: f.__name__)
def test_unsupported(function: Callable[..., Any], capsys: pytest.CaptureFixture[str]) -> None:
    x = np.arange(3.0)
    fused = fuse_jit(fullgraph=True)(function)
    before = (STATE.count, list(SEEN), random.getstate(), dict(globals()).get("COUNT"))
    messages = []
    for call in (fused, fused, fused.explain, fused.trace):
        with pytest.raises(UnsupportedError) as caught:
            call(x)
        check_message(caught.value, function)
        messages.append(str(caught.value))
    assert len({*messages}) == 1
    assert len(fused.variants) == 0
    np.testing.assert_array_equal(x, np.arange(3.0))
    # nothing happened outside
    assert before == (STATE.count, SEEN, random.getstate(), dict(globals()).get("COUNT"))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "function",
    [*UNSUPPORTED, *CONCRETE],
    ids=lambda f: f.__name__,
)
@pytest.mark.filterwarnings("ignore:Python runs a statement:fusejit.FuseWarning")
def test_python_runs_it_between_segments(function: Callable[..., Any]) -> None:
    """Without fullgraph, where Python can."""
    x = np.arange(9.0)
    if function is eigenvalues or function is transform:
        x = x.reshape(3, 3)
    SEEN.clear()
    random.seed(3)
    expected = function(x.copy()), len(SEEN), random.random()
    SEEN.clear()
    random.seed(3)
    actual = fuse_jit(function)(x.copy()), len(SEEN), random.random()
    if function is clock:
        assert abs(actual[0] - expected[0]).max() < 60
    else:
        np.testing.assert_array_equal(actual[0], expected[0])
    assert actual[1:] == expected[1:]


@pytest.mark.parametrize("function", CONCRETE, ids=lambda f: f.__name__)
def test_values_of_elements_are_not_known(function: Callable[..., Any]) -> None:
    for x in (np.array([3, 2, 1]), np.array([3.0, 2.0, 1.0])):
        with pytest.raises((ConcretizationError, UnsupportedError)) as caught:
            fuse_jit(fullgraph=True)(function)(x)
        check_message(caught.value, function)
        np.testing.assert_array_equal(x, [3, 2, 1])


def test_the_traceback_ends_at_the_users_line() -> None:
    with pytest.raises(UnsupportedError) as caught:
        fuse_jit(fullgraph=True)(transform)(np.arange(3.0))
    frames = [t for t in caught.traceback if "fusejit/tracer" in str(t.path)]
    assert not frames, "frames of the tracer are shown to the user"
    assert str(caught.traceback[-1].path) == __file__


def test_an_error_in_a_helper_names_both() -> None:
    def helper(x: Any) -> Any:
        return np.linalg.eigvals(x)

    def outer(x: Any) -> Any:
        return helper(x) + 1

    with pytest.raises(UnsupportedError, match=r"test_refusals\.py:\d+, in .*helper"):
        fuse_jit(fullgraph=True)(outer)(np.arange(3.0))


def test_a_loop_that_is_too_long_is_named() -> None:
    def long(x: Any) -> Any:
        for k in [0.5] * 5000:
            x = x * k + 1
        return x

    says = r"(?s)test_refusals\.py:\d+.*2000.*loop"
    with pytest.raises(UnsupportedError, match=says):
        fuse_jit(fullgraph=True)(long)(np.arange(3.0))
    np.testing.assert_array_equal(fuse_jit(long)(np.arange(3.0)), long(np.arange(3.0)))
