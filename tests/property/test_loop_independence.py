"""Random loops over rows and elements: whatever is marked parallel computes what NumPy does.

Unjitted chunks run in another order than the iterations, so a dependence that is overlooked shows.
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check

ROWS = 11
PLACES = ["i", "i + 1", "i + 2", "2 * i", "2 * i + 1", "8 - i", "3", "9", "k", "i - 1", "-i"]
PLACE = st.one_of(st.just("i"), st.sampled_from(PLACES))
ARRAYS = ["a", "b", "t", "s"]  # two arguments, a local, and a view of the first

ELEMENT = st.tuples(st.sampled_from(ARRAYS), PLACE, st.sampled_from(["0", "j", "i % 5", "-1"]))
ROW = st.tuples(st.sampled_from(ARRAYS), PLACE)


def text_of(access: tuple[str, ...]) -> str:
    return f"{access[0]}[{', '.join(access[1:])}]"


STATEMENT = st.one_of(
    st.tuples(ELEMENT, ELEMENT).map(lambda p: [f"{text_of(p[0])} = {text_of(p[1])} * 0.5 + i"]),
    st.tuples(ELEMENT, ELEMENT).map(lambda p: [f"{text_of(p[0])} += 0.25 * {text_of(p[1])}"]),
    st.tuples(ROW, ROW).map(lambda p: [f"{text_of(p[0])} = 1.0 - {text_of(p[1])}"]),
    st.tuples(ROW, ROW).map(lambda p: [f"{text_of(p[0])} = {text_of(p[1])}[::-1]"]),
    st.tuples(ELEMENT, ROW).map(lambda p: [f"{text_of(p[0])} = np.sum({text_of(p[1])})"]),
    st.tuples(ELEMENT, ROW).map(
        lambda p: [f"if {text_of(p[0])} > 0.5:", f"    {text_of(p[1])} *= 0.5"]
    ),
    st.tuples(ROW, ELEMENT).map(
        lambda p: [f"r = {text_of(p[0])}.copy()", "r[1:] += r[:-1]", f"{text_of(p[1])} = r[-1]"]
    ),
    ROW.map(lambda p: [f"total = 0.5 * total + np.sum({text_of(p)})"]),
    ELEMENT.map(lambda p: [f"for j in range(1, 5): {text_of(p)} = 0.5 * {text_of(p)} + j"]),
)
LOOP = st.sampled_from(["range(n)", "range(1, n)", "range(0, n, 2)", "range(n - 1, 0, -1)"])


def program(head: str, body: list[list[str]]) -> str:
    lines = [
        "import numpy as np",
        "def f(a, b, n, k):",
        "    t = a * 0.5 + 1.0",
        "    s = a[::-1]",
        "    total, j = 0.0, 2",
        f"    for i in {head}:",
        *(f"        {line}" for statement in body for line in statement),
        "    return t, total",
    ]
    return "\n".join(lines) + "\n"


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Rules of the loops that were met; loops are split whatever their size."""
    rules: Counter[str] = Counter()
    monkeypatch.setattr("fusejit.fuse.loops.loop_fission.LAUNCH_NS", 0)
    monkeypatch.setattr("fusejit.fuse.loops.loop_fission.BLOCK", 3)
    return rules


def test_random_loops(tmp_path: Path, seen: Counter[str]) -> None:
    numbers = iter(range(10**6))

    @seed(7)
    @settings(
        max_examples=120,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(LOOP, st.lists(STATEMENT, min_size=1, max_size=3), st.integers(0, 4))
    def run(head: str, body: list[list[str]], n: int) -> None:
        name = f"loops{next(numbers)}"
        path = tmp_path / f"{name}.py"
        path.write_text(program(head, body))
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module: Any = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        a, b = (np.linspace(x, 1.0, ROWS * 5).reshape(ROWS, 5) for x in (0.1, -0.5))
        f = check(module.f, (a, b, n + 1, 4), bound=Bound(absolute=1e-12), variants=None)
        for variant in f.variants:
            seen.update({note.rule for note in variant.schedule.report.loops})

    run()
    assert seen["independent"] + seen["split"] > 10, seen
    assert seen["not its own elements"] + seen["neighbouring elements"] > 10, seen
