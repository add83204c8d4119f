"""The tables that docs/performance.md takes from a run."""

import re
from pathlib import Path

from benchmarks.cli import main
from benchmarks.markdown import markdown
from benchmarks.records import CaseRecord, EngineRecord, FirstCallRecord, RunRecord

DOCUMENT = Path(__file__).parents[2] / "docs" / "performance.md"
FACTS = {
    "cpu": "a CPU",
    "cores": 2,
    "system": "Linux",
    "python": "3.11",
    "load": 0.0,
    "date": "1st",
}


def case(speedup: float, size: int) -> CaseRecord:
    engines = {
        "numpy": EngineRecord(median_ns=1e6, speedup=1.0),
        "fusejit": EngineRecord(median_ns=1e6 / speedup, speedup=speedup),
    }
    return CaseRecord("chain8", "elementwise", size, "f64", False, engines)


def run_of(*cases: CaseRecord) -> RunRecord:
    first = FirstCallRecord("chain8", 1000, "f64", 2e8, 5e8, 1e8, 3e6)
    return RunRecord(FACTS, {}, {"numpy": "2.4"}, {}, cases, (first,))


def test_markdown_of_a_run():
    text = markdown(run_of(case(9.0, 10**6), case(4.0, 10**6)))
    assert "a CPU, 2 cores, Linux, Python 3.11, numpy 2.4; 1st; 2 cases" in text
    assert "| chain8 f64, 10^6 | 8 x | 4.00 x | miss | chain8 f64 1,000,000 |" in text
    assert "| chain8 f32, 10^6 | 8 x |  | not measured |  |" in text
    assert "softmax" not in text  # of a part of which nothing was measured
    assert "| elementwise | 6.00x of 2 |" in text
    assert "| chain8 | 200 ms | 500 ms | 100 ms | 3.00 ms |" in text
    assert "No case is slower than NumPy (below 0.95)." in text


def test_lost_cases_are_listed():
    assert "| chain8 f64 100 | 0.50x |" in markdown(run_of(case(0.5, 100)))


def test_programs_behind_njit_are_listed():
    engines = {
        "numpy": EngineRecord(rounds_ns=(4e6,), median_ns=4e6, speedup=1.0),
        "fusejit": EngineRecord(rounds_ns=(2e6,), median_ns=2e6, speedup=2.0),
        "njit": EngineRecord(rounds_ns=(1e6,), median_ns=1e6, speedup=4.0),
    }
    slow = CaseRecord("dynamic.levenshtein", "dynamic", 200, "f64", False, engines)
    assert "| dynamic.levenshtein f64 200 | 0.50x |" in markdown(run_of(slow))
    assert "njit" not in markdown(run_of(case(9.0, 10**6)))


def test_rows_have_as_many_cells_as_their_header():
    columns = None
    for line in markdown(run_of(case(0.5, 100))).splitlines():
        cells = line.count("|")
        assert not cells or columns in (None, cells)
        columns = cells or None


def test_the_option_prints_nothing_else(tmp_path, capsys):
    run = run_of(case(9.0, 10**6))
    (tmp_path / "run.json").write_text(run.to_json())
    assert main(["--load", str(tmp_path / "run.json"), "--markdown"]) == 0
    assert capsys.readouterr().out == markdown(run)


def test_the_document_has_tables_of_this_form():
    found = re.search(
        r"<!-- begin: bars -->\n(.*?)<!-- end: bars -->", DOCUMENT.read_text("utf-8"), re.DOTALL
    )
    assert found
    run = run_of(case(9.0, 10**6))
    shown = [line for line in found[1].splitlines() if line.startswith("| bar |")]
    made = [line for line in markdown(run).splitlines() if line.startswith("| bar |")]
    assert set(shown) <= set(made)
