"""A trace was abandoned at random: a finalizer run by the collector counted as a statement.

The finalizer of llvmlite calls an object.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.program.watch import Watch


class Closes:
    def __call__(self) -> None:
        calls.append(1)


class Owner:
    def __init__(self) -> None:
        self.closes = Closes()
        self.me = self  # only the collector frees it

    def __del__(self) -> None:
        self.dispose()

    def dispose(self) -> None:
        self.closes()


class Scale:
    """An object that has special methods of the user's: the trace is watched."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __float__(self) -> float:
        return self.value


calls: list[int] = []


def test_collecting_while_tracing_gives_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def scaled(x: Any, scale: Scale) -> Any:
        return x * scale.value + 1

    unique_name = Trace.unique_name

    def collecting(self: Trace, base: str) -> str:
        Owner()
        gc.collect()
        return unique_name(self, base)

    monkeypatch.setattr(Trace, "unique_name", collecting)
    monkeypatch.setattr(Watch, "__init__", _watching(Watch.__init__))
    calls.clear()
    # each of the collections takes long in a process with many objects
    fused = fuse_jit(fullgraph=True, compile_seconds=math.inf)(scaled)
    np.testing.assert_array_equal(fused(np.ones(3), Scale(2.0)), [3.0, 3.0, 3.0])
    assert calls


def _watching(init: Callable[..., None]) -> Callable[..., None]:
    """A watch that begins with the trace, as some objects and functions make it."""

    def made(self: Watch, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        self.start()

    return made
