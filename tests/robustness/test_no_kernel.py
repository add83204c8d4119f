"""Switched off, or only looked at: no kernel runs, nothing is compiled, nothing is modified."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusejit.stages
from fusejit import fuse_jit
from fusejit_testing.compare import assert_same, clone


def shift(x: Any, y: Any) -> Any:
    x[1:] = y[:-1] * 2
    y *= 3
    return x.sum(), y[::-1]


def arguments() -> tuple[np.ndarray, np.ndarray]:
    return np.arange(5.0), np.arange(5.0)[::-1].copy()


@pytest.fixture
def no_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling, or running a kernel as plain Python, is an error."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("a kernel was compiled")

    monkeypatch.setattr(fusejit.stages, "compile_kernel", refuse)
    monkeypatch.setattr(fusejit.stages, "python_kernel", refuse)


@pytest.fixture
def no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tracing is an error."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("the function was traced")

    monkeypatch.setattr(fusejit.stages, "trace_function", refuse)


def plainly(fused: Any) -> None:
    """A call gives what NumPy gives, in results and arguments."""
    ours, theirs = arguments(), arguments()
    assert_same(shift(*theirs), fused(*ours))
    assert_same(theirs, ours)
    assert_same(shift(y=theirs[0], x=theirs[1]), fused(y=ours[0], x=ours[1]))
    assert len(fused.variants) == 0


@pytest.mark.usefixtures("no_compilation", "no_trace")
def test_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    plainly(fuse_jit(enabled=False)(shift))
    monkeypatch.setenv("FUSEJIT_DISABLE", "1")
    plainly(fuse_jit(shift))
    plainly(fuse_jit(fullgraph=True)(shift))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fuse_jit(lambda x: str(x))(3) == "3"  # anything goes


def test_disable_0_is_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSEJIT_DISABLE", "0")
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    fused = fuse_jit(shift)
    fused(*arguments())
    assert len(fused.variants) == 1


@pytest.mark.usefixtures("no_compilation")
@pytest.mark.parametrize(
    "look",
    [
        lambda f, args: f.explain(*args),
        lambda f, args: str(f.trace(*args)),
        lambda f, args: str(f.trace(*args).fuse()),
        lambda f, args: f.trace(*args).fuse().lower().source,
        lambda f, args: f.explain(y=args[1], x=args[0]),
    ],
    ids=["explain", "trace", "fuse", "lower", "keywords"],
)
def test_looking_runs_and_modifies_nothing(look: Callable[..., str]) -> None:
    fused = fuse_jit(shift)
    args = arguments()
    text = look(fused, args)
    assert len(text.splitlines()) > 2
    assert_same(arguments(), args)
    assert len(fused.variants) == 0
    assert not fused.variants.fallbacks


def test_looking_at_read_only_arguments() -> None:
    args = arguments()
    for array in args:
        array.flags.writeable = False
    text = fuse_jit(shift).explain(*args)
    assert "read-only" in text
    assert_same([a.tolist() for a in arguments()], [a.tolist() for a in args])


def test_check_works_on_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    fused = fuse_jit(shift)
    args = arguments()
    text = fused.check(*args)
    assert_same(arguments(), args)
    assert text.count("same bits") == 4
    assert "result[1]: same bits" in text
    wrong = fuse_jit(shift)
    monkeypatch.setattr(wrong, "__wrapped__", None)  # check keeps the function it decorated
    assert_same(text, wrong.check(*args))


@pytest.mark.parametrize("stages", ["graph", "fused,source", "all", "", "schedule, loops"])
def test_dump(
    stages: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FUSEJIT_DUMP", stages)
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    fused = fuse_jit(shift)
    args, expected = arguments(), arguments()
    result = fused(*args)
    seen = capsys.readouterr()
    assert seen.out == ""
    names = [line.strip("- ") for line in seen.err.splitlines() if line.startswith("-- ")]
    every = ["graph", "fused", "schedule", "loops", "source"]
    wanted = every if stages == "all" else [s.strip() for s in stages.split(",") if s]
    assert names == [s for s in every if s in wanted]
    assert_same(shift(*expected), result)
    assert_same(expected, args)
    fused(*clone(args))
    assert capsys.readouterr().err == ""  # once per variant
