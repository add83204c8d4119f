"""Records: JSON there and back, summary, bars, tables, picture, exit status."""

import io
import json

import pytest
from rich.console import Console

from benchmarks import bars, report
from benchmarks.cli import main, parser
from benchmarks.plot import save_plot
from benchmarks.records import CaseRecord, EngineRecord, FirstCallRecord, RunRecord, from_json
from benchmarks.selection import select_cases, select_workloads
from benchmarks.summary import family_means, lost_cases

CASE_KEYS = {
    "workload",
    "family",
    "size",
    "dtype",
    "with_out",
    "engines",
    "discarded_rounds",
    "noisy",
    "load",
}
ENGINE_KEYS = {
    "median_ns",
    "min_ns",
    "spread",
    "speedup",
    "rounds_ns",
    "calls_per_round",
    "prepare_call_ns",
    "max_error",
    "mismatch",
    "error",
    "warnings",
}


def engine(speedup, numpy_ns=10_000.0, **more):
    time_ns = numpy_ns / speedup
    return EngineRecord(
        median_ns=time_ns,
        min_ns=time_ns,
        spread=0.01,
        speedup=speedup,
        rounds_ns=(time_ns,) * 3,
        calls_per_round=10,
        **more,
    )


def case(name, speedup, size=100, dtype="f64", with_out=False, **more):
    (workload,) = select_workloads("all", names=[name])
    both = {"numpy": engine(1.0), "fusejit": engine(speedup, **more)}
    return CaseRecord(name, workload.family, size, dtype, with_out, both)


def run_of(*cases, **more):
    facts = {
        "cpu": "test",
        "cores": 2,
        "system": "none",
        "python": "3",
        "load": 0.0,
        "date": "2000-01-01",
    }
    return RunRecord(facts, {"quick": True}, {"numpy": "2"}, {}, cases, **more)


def printed(function, *arguments):
    stream = io.StringIO()
    function(Console(file=stream, width=140), *arguments)
    return stream.getvalue()


def test_json_has_the_documented_keys():
    data = json.loads(
        run_of(case("chain8", 2.0), first_calls=(FirstCallRecord("a", 1, "f64"),)).to_json()
    )
    assert data["schema"] == 1
    assert set(data) == {
        "schema",
        "machine",
        "options",
        "versions",
        "unavailable",
        "cases",
        "first_calls",
    }
    (entry,) = data["cases"]
    assert set(entry) == CASE_KEYS
    assert all(set(e) == ENGINE_KEYS for e in entry["engines"].values())


def test_json_round_trip():
    run = run_of(
        case("chain8", 2.0, warnings=("w",)),
        case("add", 0.5, mismatch="bad"),
        first_calls=(FirstCallRecord("chain8", 1_000, "f64", 1, 2, 3, 4),),
    )
    assert from_json(run.to_json()) == run


def test_other_schema_is_refused():
    with pytest.raises(ValueError, match="schema 99"):
        from_json('{"schema": 99}')


def test_summary_and_losses():
    run = run_of(case("chain8", 2.0), case("add", 8.0), case("sum_all", 0.5), case("max_all", 0.96))
    means = family_means(run.cases)
    assert means["elementwise"]["fusejit"] == (pytest.approx(4.0), 2)
    assert [(c.workload, s) for c, s in lost_cases(run.cases, "fusejit")] == [("sum_all", 0.5)]
    text = printed(report.print_summary, run)
    assert "fusejit: 1 cases slower than NumPy" in text
    assert "0.50x  sum_all f64 100" in text


def test_wrong_results_are_loud():
    text = printed(report.print_wrong, run_of(case("add", 2.0, mismatch="relative error 1")))
    assert "1 WRONG RESULTS OR FAILURES" in text
    assert "fusejit, add f64 100: relative error 1" in text


def test_tables_print_every_case():
    failed = case("exp_decay", 1.0)
    failed.engines["fusejit"] = EngineRecord(error="no such op")
    run = run_of(case("chain8", 2.0), case("add", 0.5, mismatch="bad"), failed)
    text = printed(report.print_cases, run)
    assert "2.00x" in text
    assert "WRONG" in text
    assert "FAILED" in text


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (56.7, "56.7 ns"),
        (999.7, "1.00 us"),
        (1234.0, "1.23 us"),
        (8.9e7, "89.0 ms"),
        (2e9, "2.00 s"),
    ],
)
def test_duration(nanoseconds, text):
    assert report.duration(nanoseconds) == text


def bar_results(*cases):
    return {result.bar.name: result for result in bars.evaluate(cases)}


def test_bars_pass_miss_and_not_measured():
    results = bar_results(
        case("chain8", 9.0, size=10**6),
        case("chain8", 7.9, size=10**6, dtype="f32"),
        case("trig_mix", 4.0, size=10**6, dtype="f32"),
        case("trig_mix", 4.0, size=10**6),
        case("gelu", 2.5, size=10**6),
    )
    assert results["chain8 f64, 10^6"].verdict == "pass"
    assert results["chain8 f32, 10^6"].verdict == "miss"
    assert results["chain8 f64, 10^7 with out="].verdict == "not measured"
    assert results["mixes with sin or cos, f32, 10^6"].verdict == "pass"
    assert results["mixes with sin or cos, f64, 10^6"].verdict == "miss"
    assert results["mixes without sin and cos, 10^6"].figure == 2.5


def test_worst_case_of_a_bar_decides_and_is_named():
    name = "elementwise, broadcast, reduction: never slower"
    (result,) = [
        r
        for r in bars.evaluate([case("sum_all", 0.9), case("chain2", 3.0), case("outer", 0.96)])
        if r.bar.name == name
    ]
    assert (result.verdict, result.worst, result.cases) == ("miss", "sum_all f64 100", 3)
    assert result.missing == ("sum_all f64 100 (0.9)",)
    assert "1/3 miss" in printed(report.print_bars, [result])


def test_single_ufunc_bar_is_in_nanoseconds_and_only_below_ten_thousand():
    name = "one ufunc, below 10^4: at most 0.5 us slower"
    slightly_slower = case("add", 10_000 / 10_400)
    assert bar_results(slightly_slower)[name].verdict == "pass"
    assert bar_results(case("add", 10_000 / 10_600))[name].verdict == "miss"
    assert bar_results(case("add", 0.1, size=10**5))[name].verdict == "not measured"


def test_a_failed_case_misses_its_bar():
    failed = case("chain8", 9.0, size=10**6)
    failed.engines["fusejit"] = EngineRecord(error="crash")
    wrong = case("chain8", 9.0, size=10**6, mismatch="bad")
    assert bar_results(failed)["chain8 f64, 10^6"].verdict == "miss"
    assert bar_results(wrong)["chain8 f64, 10^6"].verdict == "miss"


def test_every_bar_is_covered_by_the_cases_of_its_suite():
    cases = [
        case(c.workload.name, 100.0, c.size, c.dtype, c.with_out)
        for c in select_cases(select_workloads("bars"))
    ]
    assert {result.verdict for result in bars.evaluate(cases)} == {"pass"}


def test_picture_is_written(tmp_path):
    path = tmp_path / "new" / "plot.png"
    save_plot(run_of(case("chain8", 2.0), case("chain8", 4.0, size=1_000), case("blur", 3.0)), path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_command_line_reads_sizes_and_lists(capsys):
    options = parser().parse_args(["--sizes", "100,1e6,10**7", "--dtypes", "f32,u8"])
    assert options.sizes == (100, 10**6, 10**7)
    assert options.dtypes == ("f32", "u8")
    assert main(["--list", "--family", "image"]) == 0
    assert "sobel" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--workload", "nonsense"])


@pytest.mark.parametrize(
    ("record", "options", "status"),
    [
        (case("chain8", 2.0), [], 0),
        (case("chain8", 2.0, mismatch="bad"), [], 1),
        (case("chain8", 2.0), ["--bars"], 3),
    ],
)
def test_exit_status(record, options, status, tmp_path, capsys):
    path = tmp_path / "run.json"
    path.write_text(run_of(record).to_json())
    assert main(["--load", str(path), *options]) == status
    assert "chain8" in capsys.readouterr().out


def test_end_to_end(tmp_path, capsys):
    path = tmp_path / "run.json"
    options = "--workload small_add --sizes 10 --dtypes f64 --rounds 2 --engines numpy,numexpr"
    assert main([*options.split(), "--json", str(path)]) == 0
    run = from_json(path.read_text())
    assert [c.label for c in run.cases] == ["small_add f64 10", "small_add f64 10 out="]
    assert set(run.cases[0].engines) == {"numpy", "numexpr"}
    assert "small_add" in capsys.readouterr().out
