"""A signal handler's exception was lost: trial runs and launchers caught all exceptions."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from fusejit.tracer.host import probes
from fusejit_testing.oracle import decorate

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="needs a signal of its own")
X = np.array([3.0, 1.0, 2.0])


class TimeIsUp(Exception):
    pass


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    def late(number: int, frame: Any) -> None:
        raise TimeIsUp

    before = signal.signal(signal.SIGUSR1, late)
    yield
    signal.signal(signal.SIGUSR1, before)


def interrupted(*args: Any, **kwargs: Any) -> Any:
    signal.raise_signal(signal.SIGUSR1)
    raise AssertionError("the handler has not raised")


@pytest.mark.parametrize("run", [0, 2], ids=["tried", "of this call"])
def test_while_a_function_is_tried(monkeypatch: pytest.MonkeyPatch, run: int) -> None:
    def program(x: Any) -> Any:
        return np.sort(x) + 1

    fused = decorate(program, jit=False)
    name = "elements" if run == 0 else "other_elements"
    monkeypatch.setattr(probes, name, interrupted)
    with pytest.raises(TimeIsUp):
        fused(X)
    monkeypatch.undo()
    np.testing.assert_array_equal(fused(X), program(X))
    assert len(fused.variants) == 1


def test_while_a_launcher_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    def program(x: Any) -> Any:
        return x * 2 + 1

    fused = decorate(program, jit=False)
    fused(X)
    monkeypatch.setitem(fused.variants[0].launch.__globals__, "empty", interrupted)
    with pytest.raises(TimeIsUp):
        fused(X)
    monkeypatch.undo()
    np.testing.assert_array_equal(fused(X), program(X))
    assert len(fused.variants) == 1


def test_in_a_host_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def program(x: Any) -> Any:
        return np.sort(x * 2) + 1

    fused = decorate(program, jit=False)
    fused(X)
    names = fused.variants[0].launch.__globals__
    (host,) = [name for name, value in names.items() if value is np.sort]
    monkeypatch.setitem(names, host, interrupted)
    with pytest.raises(TimeIsUp):
        fused(X)
    monkeypatch.undo()
    np.testing.assert_array_equal(fused(X), program(X))
