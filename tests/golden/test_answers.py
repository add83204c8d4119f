"""``explain`` says first what runs compiled, how fast, and what holds it back, then each line once.

Regression: reports of real programs had 60 to 190 lines, internals first, and the same sentence
thirteen times; ``variants`` named other lines than ``explain``; the verdict that compiling gains
nothing stood in ``variants`` alone.
"""

from __future__ import annotations

import copy
import doctest
import pickle
import pydoc
import re
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.reports.answer import Answer
from fusejit.reports.function import NOTE, fused_doc
from fusejit.segments.parts import parts_of
from fusejit.tiering.cost_estimate import CostEstimate
from fusejit_testing.compare import assert_same

pytestmark = pytest.mark.usefixtures("unjitted")

X = np.linspace(0.1, 1.0, 50)
LOG: list[float] = []


@pytest.fixture
def unjitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")


def relaxed(x: Any) -> Any:
    """Relax.

    >>> 1 + 1
    2
    """
    x = x - 0.1 * (x - np.tanh(x))
    LOG.append(f"{x.max():.4f}")
    return np.sqrt(np.abs(x))


class Grid:
    def __init__(self) -> None:
        self.f = np.ones((12, 12))
        self.t = 0
        self.seen: list[int] = []

    def step(self, dt: float) -> Any:
        f = self.f
        lap = np.zeros_like(f)
        lap[1:-1, 1:-1] = f[2:, 1:-1] + f[:-2, 1:-1] - 4 * f[1:-1, 1:-1]
        self.f = f + dt * lap
        self.t += 1
        self.seen.append(self.t)
        e = 0.0
        for i in range(f.shape[0]):
            for j in range(f.shape[1]):
                e += f[i, j] ** 2
        return e


def lines_of(text: str) -> list[str]:
    return [line.split()[0] for line in text.splitlines()[2:]]


def check_form(text: Any) -> None:
    """Two lines first, then each user line once; no sentence is repeated."""
    assert isinstance(text, Answer)
    head = text.splitlines()[:2]
    assert re.match(r"\w+: (compiled whole|compiled in part|not called yet|Python runs)", head[0])
    assert head[1].startswith(
        ("  held back at line", "  nothing holds it back", "  slower because")
    )
    places = [place for place, _, _ in text.rows]
    assert len(places) == len(set(places)) == len(text.splitlines()) - 2
    sentences = [s for _, _, notes in text.rows for s in notes.split("; ") if len(s) > 40]
    assert len(sentences) == len(set(sentences))


def test_a_function_that_is_compiled_whole() -> None:
    def f(x: Any) -> Any:
        y = x * 2 + 1
        return np.exp(y) - y

    fused = fuse_jit(f)
    line = f.__code__.co_firstlineno + 1
    text = fused.explain(X)
    check_form(text)
    assert "f: compiled whole, 4 operations in 1 loop: " in text
    assert " fewer bytes moved\n  nothing holds it back\n" in text
    assert lines_of(text) == [f"test_answers.py:{n}" for n in (line, line + 1)]
    assert text.count("  loop 1\n") == 2
    details = fused.explain(X, detail=True)
    assert details.startswith("\n".join(text.splitlines()[:2]))
    assert "fused, one by one:" in details


def test_a_function_with_statements_of_python() -> None:
    fused = fuse_jit(relaxed)
    check_form(fused.explain(X))
    assert "relaxed: not called yet; " in fused.explain(X)
    fused(X)
    text = fused.explain(X)
    check_form(text)
    line = relaxed.__code__.co_firstlineno + 6
    assert f"relaxed: compiled in part: lines {line} to {line + 1}, {line + 2} are " in text
    assert f"  held back at line {line + 1} (Python runs)\n" in text
    assert lines_of(text) == [f"test_answers.py:{line + k}" for k in range(3)]
    assert len(text.splitlines()) == 5


def test_a_list_of_the_function_is_not_from_outside() -> None:
    def f(x: Any, log: Any) -> Any:
        history = []
        for i in range(3):
            x = np.sqrt(x + i)
            history.append(x.sum())
            print(len(history), file=None if i < 3 else log)
            log.append(i)
        return history

    fused = fuse_jit(f)
    fused(X, [])
    text = fused.explain(X, [])
    assert "history, an object that Python holds" in text
    assert "history, an object from outside" not in text
    assert "log, an object that Python holds" not in text


def test_variants_and_explain_name_the_same_lines() -> None:
    grid = Grid()
    fused = fuse_jit(Grid.step)
    for _ in range(2):
        fused(grid, 0.1)
    text = fused.explain(grid, 0.1)
    check_form(text)
    parts = parts_of(fused.variants.segmented)
    python = list(dict.fromkeys(p.lines for p in parts if p.reason))
    compiled = list(dict.fromkeys(p.lines for p in parts if not p.reason))
    assert python
    shown = f"compiled lines {', '.join(compiled)}; Python runs lines {', '.join(python)}"
    assert repr(fused.variants) == f"runs in segments\n  {shown}"
    rows = {place.partition(":")[2]: notes for place, _, notes in text.rows}
    assert [n for n, notes in rows.items() if "Python: " in notes] == python
    assert f"compiled in part: lines {', '.join(compiled)} are " in text


def test_what_holds_a_loop_back_is_said_once() -> None:
    def f(x: Any) -> Any:
        total = 0.0
        for i in range(len(x)):
            total = total * 0.5 + x[i]
        for i in range(len(x)):
            total = total * 0.5 - x[i]
        return np.log1p(np.sort(x)) + total

    text = fuse_jit(f).explain(X)
    check_form(text)
    first = f.__code__.co_firstlineno + 2
    assert f"(NumPy runs); lines {first}, {first + 2} (on one thread)" in text
    assert f"as line {first}" in text


def test_measured_times_are_shown() -> None:
    fused = fuse_jit(relaxed)
    fused.check(X)  # compiles
    assert "measured" not in fused.explain(X)
    fused.check(X)
    assert re.search(
        r"^relaxed: compiled in part, (slower than NumPy: )?[\d.]+x as fast as NumPy "
        r"\(NumPy [\d.]+ [num]s, compiled [\d.]+ [num]s, measured\): lines ",
        fused.explain(X),
    )


@pytest.mark.parametrize(("numpy_ns", "compiled_ns"), [(1e3, 2e3), (2e5, 3e5)])
def test_what_is_slower_by_the_clock_is_called_so(numpy_ns: float, compiled_ns: float) -> None:
    """The first lines said "compiled" and "nothing holds it back" of 0.6 times NumPy's speed."""

    def f(x: Any, t: Any) -> Any:
        return np.where(x > t, 1, 0)

    fused = fuse_jit(f)
    fused(X, 0.5)
    fused.variants.measured = CostEstimate(numpy_ns, compiled_ns, False, False, is_measured=True)
    head = fused.explain(X, 0.5).splitlines()[:2]
    ratio = f"{numpy_ns / compiled_ns:.2f}"
    assert f": slower than NumPy: {ratio}x as fast as NumPy (NumPy " in head[0]
    assert "fewer bytes" not in head[0]
    assert head[1].startswith("  slower because ")


def test_a_part_that_is_slower_is_called_so() -> None:
    fused = fuse_jit(relaxed)
    fused(X)
    fused.variants.measured = CostEstimate(1e4, 2e4, False, False, is_measured=True)
    head = fused.explain(X).splitlines()[:2]
    assert "compiled in part, slower than NumPy: 0.50x" in head[0]
    assert "; slower because passing values between Python and" in head[1]


def test_what_small_arrays_cost_is_estimated() -> None:
    def f(a: Any, b: Any, c: Any) -> Any:
        return np.where(a, b, c)

    one = np.ones((1, 1))
    head = fuse_jit(f, fullgraph=True).explain(one > 0, one, one).splitlines()[:2]
    assert ": slower than NumPy: 0." in head[0]
    assert head[1].startswith("  slower because the call is so short")


def test_the_time_of_calls_of_numpy_is_not_known() -> None:
    """Half of `f` was an einsum, and 1.8 times NumPy's speed was promised for the whole of it."""

    def f(x: Any) -> Any:
        return np.einsum("ij,ij->ij", x, x) * 2 + np.sqrt(x) * 3 - x

    assert ", apart from the calls of NumPy, by estimate" in fuse_jit(f).explain(np.ones((90, 90)))


def test_a_verdict_of_no_gain_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSEJIT_TIERING", "1")

    def f(a: Any, b: Any) -> Any:
        return a + b

    fused = fuse_jit(f)
    text = fused.explain(1, 2)
    assert text.startswith("f: Python runs it, because compiling would gain nothing: NumPy ")
    assert "estimated" in text
    assert "variants compiled so far: 0" in fused.explain(1, 2, detail=True)


@pytest.mark.parametrize("name", ["explain", "check"])
def test_reports_in_notebooks(name: str) -> None:
    def f(x: Any) -> Any:
        return np.where(x < 0.5, x, x * 2)

    report = getattr(fuse_jit(f), name)(X)
    assert repr(report) == report.rstrip("\n")
    assert str(report) == report
    shown = report._repr_html_()
    if name == "explain":
        assert "<td><code>return np.where(x &lt; 0.5, x, x * 2)</code></td>" in shown
        assert shown.startswith("<p><b>f: compiled whole, ")
    else:
        assert "result: same bits" in shown
    for other in (copy.copy(report), pickle.loads(pickle.dumps(report))):
        assert_same(str(report), str(other))
        assert other._repr_html_() == shown


def test_help_and_display_say_that_it_is_fused() -> None:
    fused: Any = fuse_jit(relaxed)
    shown = pydoc.plain(pydoc.render_doc(fused))
    assert "relaxed(x: 'Any') -> 'Any'" in shown
    assert NOTE in shown
    assert not hasattr(relaxed, "_repr_mimebundle_")
    bundle = fused._repr_mimebundle_(include=None, exclude=None)
    assert bundle["text/plain"].startswith("<fused function relaxed(x)>\n")
    assert "&lt;fused function relaxed" in bundle["text/html"]
    assert NOTE not in (fuse_jit(enabled=False)(relaxed).__doc__ or "")
    (example,) = doctest.DocTestParser().get_examples(fused.__doc__)
    assert example.want == "2\n"
    assert fused_doc(None) == fused_doc("") == NOTE
