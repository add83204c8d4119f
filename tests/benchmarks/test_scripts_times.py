"""The timing of scripts with their import line changed, with runs that are made up."""

from __future__ import annotations

import pytest

import benchmarks.scripts_times as scripts_times
from benchmarks.scripts import by_name
from benchmarks.scripts_times import Times, measured, row, summary


def test_the_cold_run_is_kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = {"numpy": [0.9, 2.0, 9.0, 1.0], "fusejit.numpy": [30.0, 4.0, 7.0, 5.0]}
    order = []
    counts = []

    def ran(
        script: object, size: str, module: str, folder: str, count: int, clock: str
    ) -> tuple[float, list[str]]:
        assert clock == "process_time"
        order.append(module)
        counts.append(count)
        return seconds[module].pop(0), ["sum 1.0\n"]

    monkeypatch.setattr(scripts_times, "ran", ran)
    times = measured(by_name()["burgers"], "long", 3, "process_time")
    assert times == Times("burgers", 2.0, 5.0, 30.0)
    assert counts == [1, *[9] * 7]  # 8 seconds of NumPy's time
    assert order == [
        *("numpy", "fusejit.numpy"),
        *("numpy", "fusejit.numpy"),
        *("fusejit.numpy", "numpy"),
        *("numpy", "fusejit.numpy"),
    ]
    assert times.misses() == ["slower"]


@pytest.mark.parametrize("wrong", range(2, 8))
def test_each_output_is_compared(monkeypatch: pytest.MonkeyPatch, wrong: int) -> None:
    number = iter(range(8))

    def ran(*_: object) -> tuple[float, list[str]]:
        return 1.0, ["sum 2.5" if next(number) == wrong else "sum 1.5" for _ in range(2)]

    monkeypatch.setattr(scripts_times, "ran", ran)
    assert measured(by_name()["burgers"], "small", 1).misses() == ["output differs"]


def test_rows_and_the_summary() -> None:
    every = [
        Times("burgers", 2.0, 0.5, 1.0),
        Times("planets", 1.0, 1.04, 2.0),
        Times("ising", 1.0, 1.06, 1.0, "'a 1' against 'a 2'"),
    ]
    assert row(every[0]).endswith("4.00x   output agrees")
    assert row(every[2]).endswith("0.94x   output differs   slower, output differs")
    assert summary(every) == [
        "3 scripts, warm: geometric mean 1.54x of NumPy, slowest 0.94x (ising)",
        "3 scripts, cold: geometric mean 1.00x of NumPy, slowest 0.50x (planets)",
        "2 of them with large arrays, warm: geometric mean 1.94x",
        "slower than 1.05 times NumPy: ising",
        "output differs: 1",
        "ising: 'a 1' against 'a 2'",
    ]


def test_a_script_in_a_process_of_its_own(tmp_path: object) -> None:
    script = by_name()["heat_equation"]
    seconds, outputs = scripts_times.ran(
        script, "small", "fusejit.numpy", str(tmp_path), 2, "perf_counter"
    )
    assert seconds > 0
    assert [output[:14] for output in outputs] == ["step 10: mean "]
