"""Faults put into each stage, from the trace to the launch: NumPy runs the call, effects once.

Regression: An internal error between capture and launch reached the user. It now gives a report
with IR and versions and one warning, and NumPy runs the call.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fusejit.codegen.launcher.generate
import fusejit.decorated
import fusejit.pipeline
import fusejit.segments.splitting
import fusejit.stages
import fusejit.tracer.capture.entry
from fusejit import FuseWarning, fuse_jit
from fusejit_testing.compare import PythonsList, assert_same

pytestmark = pytest.mark.usefixtures("unjitted")

FAULTS = [ZeroDivisionError("a fault"), KeyError("d0"), RecursionError("too deep"), MemoryError()]
STAGES = [
    (fusejit.stages, "trace_function"),
    (fusejit.tracer.capture.entry, "finish"),
    (fusejit.tracer.capture.entry, "verify"),
    (fusejit.pipeline, "form_groups"),
    (fusejit.stages, "make_plan"),
    (fusejit.stages, "lower"),
    (fusejit.stages, "load_providers"),
    (fusejit.stages, "emit_kernel"),
    (fusejit.stages, "python_kernel"),
    (fusejit.stages, "launcher_source"),
    (fusejit.stages, "compile_launcher"),
]


def update(x: Any, log: Any) -> Any:
    x[1:] -= x[:-1]
    return (x * 2).sum() + x


def noted(x: Any, log: Any) -> Any:
    y = np.exp(x) - 1
    log.append(float(y[0]))
    x += y * 2
    log.append(len(log))
    return x.sum() * y


@pytest.fixture(autouse=True)
def reports(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("FUSEJIT_DUMP_DIR", str(tmp_path))
    return tmp_path


def failing(fault: Exception) -> Callable[..., Any]:
    def fail(*args: Any, **kwargs: Any) -> Any:
        raise type(fault)(*fault.args)  # a new one: its traceback is its own

    return fail


def check_calls(function: Callable[..., Any], calls: int = 3) -> list[str]:
    """Results, arguments and effects are NumPy's; returns the warnings."""
    fused = fuse_jit(function)
    texts: list[str] = []
    for _ in range(calls):
        ours, theirs = np.arange(4.0), np.arange(4.0)
        our_log, their_log = PythonsList(), PythonsList()
        expected = function(theirs, their_log)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            actual = fused(ours, our_log)
        assert_same((expected, theirs, their_log), (actual, ours, our_log))
        assert all(w.category is FuseWarning for w in seen)
        texts += [str(w.message) for w in seen]
    return texts


@pytest.mark.parametrize("function", [update, noted])
@pytest.mark.parametrize("fault", FAULTS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize(("module", "name"), STAGES, ids=[name for _, name in STAGES])
def test_a_fault_in_a_stage(
    module: Any,
    name: str,
    fault: Exception,
    function: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    reports: Path,
) -> None:
    monkeypatch.setattr(module, name, failing(fault))
    texts = check_calls(function)
    assert texts
    assert len(set(texts)) == len(texts), "one warning per cause"
    for file in reports.iterdir():
        assert f"# {type(fault).__name__}" in file.read_text()
    if isinstance(fault, MemoryError):  # no fault of fusejit, and without a report
        assert any("memory does not suffice" in text for text in texts)
        assert not [*reports.iterdir()]
    else:
        assert any(str(file) in text for text in texts for file in reports.iterdir())


@pytest.mark.parametrize("at", range(len(fusejit.pipeline.PASSES)))
def test_a_fault_in_a_pass(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    passes = [*fusejit.pipeline.PASSES]
    passes[at] = (passes[at][0], failing(FAULTS[0]))
    monkeypatch.setattr(fusejit.pipeline, "PASSES", tuple(passes))
    for function in (update, noted):
        texts = check_calls(function)
        assert passes[at][0] in texts[0]


@pytest.mark.parametrize("name", ["split_function", "_SegmentMaker"])
def test_a_fault_while_a_function_is_opened(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusejit.segments.splitting, name, failing(FAULTS[0]))
    assert any("fault of fusejit" in text for text in check_calls(noted))


def test_a_fault_while_a_part_is_decorated(monkeypatch: pytest.MonkeyPatch) -> None:
    def part(*args: Any) -> Any:
        raise FAULTS[0]

    monkeypatch.setattr(fusejit.decorated.Decorated, "part", part)
    assert any("fault of fusejit" in text for text in check_calls(noted))


def test_a_compiler_that_cannot_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    def load() -> Any:
        raise ImportError("no compiler")

    def scaled(x: Any, by: float = 2.0, *more: Any, plus: float = 0.0) -> Any:
        return x * by + plus

    monkeypatch.setattr(fusejit.decorated, "_dispatcher_class", load)
    fused, quiet = fuse_jit(scaled), fuse_jit(scaled, warn=False)
    for args, kwargs in (((1.0,), {}), ((1.0, 3.0, 4.0), {"plus": 5.0}), ((1.0,), {"by": 6.0})):
        with pytest.warns(FuseWarning, match=r"scaled runs .* be loaded \(ImportError: no comp"):
            assert fused(*args, **kwargs) == scaled(*args, **kwargs)
        assert quiet(*args, **kwargs) == scaled(*args, **kwargs)
    with pytest.raises(ImportError, match="no compiler"):
        fuse_jit(scaled, fullgraph=True)(1.0)
    monkeypatch.undo()
    assert fused(1.0) == 2.0
    assert len(fused.variants) == 1


@pytest.mark.parametrize("fault", FAULTS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("known", [0, 1, 2])
def test_a_fault_of_a_launcher(
    known: int, fault: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first kernel NumPy runs the call; the variant is not asked again."""
    broken: list[Exception] = []

    source_of = fusejit.codegen.launcher.generate.launcher_source

    def with_faults(*args: Any, **kwargs: Any) -> Any:
        source = source_of(*args, **kwargs)
        lines = source.text.splitlines(keepends=True)
        at = next(n for n, line in enumerate(lines) if line.startswith("    ") and "K0(" in line)
        source.text = "".join(
            [*lines[:at], "    if broken: raise type(broken[0])(*broken[0].args)\n", *lines[at:]]
        )
        source.namespace["broken"] = broken
        if source.first_effect is not None:
            source.first_effect += 1
        return source

    monkeypatch.setattr(fusejit.stages, "launcher_source", with_faults)
    fused = fuse_jit(update)
    for _ in range(8):
        for dtype in (np.float64, np.int64)[:known]:  # two are asked in turn
            fused(np.arange(4).astype(dtype), [])
    assert len(fused.variants) == known
    broken.append(fault)
    for at in range(3):
        ours, theirs = np.arange(4.0), np.arange(4.0)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            actual = fused(ours, [])
        assert_same((update(theirs, []), theirs), (actual, ours))
        assert len(seen) == (at == 0)
    is_of_machine = isinstance(fault, RecursionError | MemoryError)
    assert len(fused.variants) == (max(known, 1) if is_of_machine else max(known - 1, 0))
    broken.clear()
    for dtype in (np.float64, np.int64)[:known]:
        assert_same(update(np.arange(4).astype(dtype), []), fused(np.arange(4).astype(dtype), []))


def test_exceptions_of_the_program_are_no_faults() -> None:
    def read(x: Any, i: Any) -> Any:
        x[0] = 7.0
        return x[i] * 2

    fused = fuse_jit(read)
    fused(np.arange(3.0), np.array([1]))
    x = np.arange(3.0)
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        fused(x, np.array([5]))
    assert x[0] == 7.0
    assert len(fused.variants) == 1
