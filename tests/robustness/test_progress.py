"""A long compile tells on a terminal what it is doing, and leaves nothing behind.

Regression: A long compilation printed nothing. A line appears on the terminal after 2 s.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.support import progress
from fusejit.support.progress import Progress, shown
from fusejit.tracer.program.fallback import Fallback


class Terminal(io.StringIO):
    """A stream that says it is a terminal; `wrote` is set when ``wanted`` is written."""

    def __init__(self, wanted: str = "") -> None:
        super().__init__()
        self.wanted = wanted
        self.wrote = threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self.wanted in text:
            self.wrote.set()
        return super().write(text)


def screen(text: str) -> str:
    """What is to be seen of a line in the end."""
    return text.rpartition("\r\x1b[K")[2]


def clock_of(*seconds: float) -> Callable[[], float]:
    times = iter(seconds)
    return lambda: next(times)


def test_nothing_is_shown_before_two_seconds() -> None:
    stream = io.StringIO()
    line = Progress("f", lambda: "trace", stream, clock_of(5, 5.5, 6.9))
    line.show()
    line.show()
    line.end()
    assert stream.getvalue() == ""


def test_the_line_is_written_anew_and_goes() -> None:
    stream, stages = io.StringIO(), iter(["trace", "LLVM"])
    line = Progress("f", lambda: next(stages), stream, clock_of(0, 2, 7.4))
    line.show()
    assert screen(stream.getvalue()) == "fusejit: compiling f: trace, 2 s"
    line.show()
    assert screen(stream.getvalue()) == "fusejit: compiling f: LLVM, 7 s"
    line.end()
    assert screen(stream.getvalue()) == ""
    assert "\n" not in stream.getvalue()


def test_a_thread_shows_it_while_the_work_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "DELAY", 0.0)
    stream = Terminal()
    with shown("f", lambda: "LLVM", stream):
        assert stream.wrote.wait(60)
        assert "fusejit: compiling f: LLVM, 0 s" in stream.getvalue()
    assert screen(stream.getvalue()) == ""
    assert not any(t.name == "fusejit progress" for t in threading.enumerate())


def test_the_line_goes_when_the_compile_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "DELAY", 0.0)
    stream = Terminal()

    def failing() -> None:
        with shown("f", lambda: "LLVM", stream):
            assert stream.wrote.wait(60)
            raise KeyError

    with pytest.raises(KeyError):
        failing()
    assert screen(stream.getvalue()) == ""


def test_nothing_is_shown_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "DELAY", 0.0)
    stream = io.StringIO()
    with shown("f", lambda: "LLVM", stream):
        assert not any(t.name == "fusejit progress" for t in threading.enumerate())
    assert stream.getvalue() == ""


def test_a_compile_shows_its_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal("compiling slow: trace, ")
    monkeypatch.setattr(progress, "DELAY", 0.0)
    monkeypatch.setattr("sys.stderr", stream)

    def slow(x: np.ndarray) -> np.ndarray:
        return x + 1

    f = fuse_jit(slow, warn=False)
    monkeypatch.setattr("fusejit.stages.trace_function", _waiting(stream))
    np.testing.assert_array_equal(f(np.ones(3)), np.full(3, 2.0))
    assert stream.wrote.is_set()
    assert screen(stream.getvalue()) == ""


def _waiting(stream: Terminal) -> Callable[..., object]:
    def trace(*args: object, **kwargs: object) -> object:
        assert stream.wrote.wait(60)
        raise Fallback("it was only to be seen")

    return trace


def test_a_closed_stream_is_no_failure() -> None:
    stream = Terminal()
    line = Progress("f", lambda: "LLVM", stream, clock_of(0, 3))
    stream.close()
    line.show()
    line.end()
