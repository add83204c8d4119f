"""Records: JSON there and back, summary, bars, tables, picture, exit status.

Regression: Benchmarks printed nothing for minutes and the picture's legend was cut off: progress
was drawn on terminals only.
"""

import io
import json
from types import MappingProxyType

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from rich.console import Console

from benchmarks import bars, report
from benchmarks.cli import _with_bar_engines, main, parser
from benchmarks.plot import draw, save_plot
from benchmarks.progress import RunProgress
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
    "declined",
    "warnings",
}


RIVALS_AND_COPY = {"jax": 2.0, "torch": 2.0, "copy": 100.0}


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


def case(name, speedup, size=100, dtype="f64", with_out=False, others=MappingProxyType({}), **more):
    (workload,) = select_workloads("all", names=[name])
    engines = {"numpy": engine(1.0), "fusejit": engine(speedup, **more)}
    engines |= {name: engine(others[name]) for name in others}
    return CaseRecord(name, workload.family, size, dtype, with_out, engines)


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
        case(c.workload.name, 100.0, c.size, c.dtype, c.with_out, RIVALS_AND_COPY)
        for c in select_cases(select_workloads("bars"))
    ]
    assert {result.verdict for result in bars.evaluate(cases)} == {"pass"}


def test_bars_against_rivals_compare_the_same_rounds_and_need_them():
    name = "softmax f32, 4096 x 1024, against jax"
    rows = {"size": 4096 * 1024, "dtype": "f32"}
    assert bar_results(case("softmax", 4.0, **rows))[name].verdict == "not measured"
    faster = bar_results(case("softmax", 4.0, **rows, others={"jax": 2.0}))[name]
    assert (faster.verdict, faster.figure) == ("pass", pytest.approx(2.0))
    slower = bar_results(case("softmax", 4.0, **rows, others={"jax": 5.0}))[name]
    assert (slower.verdict, slower.figure) == ("miss", pytest.approx(0.8))
    refused = case("softmax", 4.0, **rows)
    refused.engines["jax"] = EngineRecord(declined="TypeError: no")
    assert bar_results(refused)[name].verdict == "not measured"


@pytest.mark.parametrize(
    ("workload", "dtype", "times", "verdict"),
    [
        ("softmax", "f32", 1.59, "pass"),
        ("softmax", "f32", 1.61, "miss"),
        ("softmax", "f64", 1.59, "miss"),
        ("rms_norm", "f64", 1.29, "pass"),
        ("stencil_chain", "f32", 1.31, "miss"),
    ],
)
def test_bars_against_a_copy_are_upper_limits(workload, dtype, times, verdict):
    name = f"{workload} {dtype}, beyond the cache, against a copy"
    measured = case(workload, 2.0, 2**25, dtype, others={"copy": 2.0 * times})
    result = bar_results(measured)[name]
    assert (result.verdict, result.figure) == (verdict, pytest.approx(times))
    assert result.bar.needed.startswith("at most 1.")


def test_bars_against_a_copy_speak_of_arrays_of_128_mib_and_the_slowest_decides():
    name = "rms_norm f32, beyond the cache, against a copy"
    small = case("rms_norm", 1.0, 2**25 - 1, "f32", others={"copy": 9.0})
    assert bar_results(small)[name].verdict == "not measured"
    fresh = case("rms_norm", 1.0, 2**25, "f32", others={"copy": 1.1})
    in_place = case("rms_norm", 1.0, 2**25, "f32", True, others={"copy": 1.5})
    result = bar_results(fresh, in_place)[name]
    assert (result.verdict, result.figure) == ("miss", pytest.approx(1.5))
    assert result.worst == in_place.label
    assert bar_results(case("rms_norm", 1.0, 2**25, "f32"))[name].verdict == "not measured"


def test_a_declined_case_misses_its_bar_and_is_no_speedup():
    declined = case("softmax", 9.0, 4096 * 1024, "f32", declined="no such op")
    (result,) = [r for r in bars.evaluate([declined]) if r.bar.name == "softmax f32, 4096 x 1024"]
    assert result.verdict == "miss"
    assert "failed" in printed(report.print_bars, [result])
    upper = case("softmax", 9.0, 2**25, "f32", others={"copy": 9.0}, declined="no such op")
    name = "softmax f32, beyond the cache, against a copy"
    assert bar_results(upper)[name].verdict == "miss"
    assert family_means([declined]) == {}


def test_declined_cases_are_marked_and_their_reasons_listed_once():
    ran_numpy = case("softmax", 1.0, declined="no such op")
    refused = case("softmax", 1.0, size=1_000)
    refused.engines["fusejit"] = EngineRecord(declined="no such op")
    text = printed(report.print_cases, run_of(ran_numpy, refused))
    assert "1.00x" not in text
    assert "refused" in text
    text = printed(report.print_wrong, run_of(ran_numpy, refused))
    assert "fusejit declined softmax f64 100 and 1 more: no such op" in text
    assert "WRONG" not in text


def test_the_yardstick_is_no_contender():
    run = run_of(case("softmax", 2.0, others={"copy": 0.5}))
    assert list(family_means(run.cases)["rowwise"]) == ["fusejit"]
    assert "copy" not in printed(report.print_summary, run)


def test_wrong_results_of_rivals_are_shown_and_do_not_fail_the_run():
    wrong = case("softmax", 2.0)
    wrong.engines["numba"] = engine(9.0, mismatch="dtype float64 instead of float32")
    run = run_of(wrong)
    assert [name for _, name, _ in run.wrong()] == ["numba"]
    assert run.own_failures() == []
    assert list(family_means(run.cases)["rowwise"]) == ["fusejit"], "nor are they a speedup"
    wrong.engines["numexpr"] = engine(9.0, mismatch="bad")
    assert [name for _, name, _ in run.own_failures()] == ["numexpr"]


def test_long_reasons_are_cut_to_what_says_something():
    long = "TypingError: Failed in a stage\n\nNo keepdims\n" + "more\n" * 50
    text = printed(report.print_wrong, run_of(case("softmax", 1.0, declined=long)))
    assert "Failed in a stage No keepdims" in text
    assert "more" not in text


def test_the_table_says_how_many_copies_a_case_takes():
    text = printed(report.print_cases, run_of(case("softmax", 2.0, others={"copy": 5.0})))
    assert "fusejit / copy" in text
    assert "2.50x" in text
    declined = run_of(case("softmax", 2.0, others={"copy": 5.0}, declined="no such op"))
    assert "2.50x" not in printed(report.print_cases, declined)


def test_each_part_of_the_bars_has_its_table():
    results = bars.evaluate([])
    text = printed(report.print_bars, results)
    assert text.index("bars of part A") < text.index("bars of part B")
    only_b = bars.evaluate([], parts=("B",))
    assert {r.bar.part for r in only_b} == {"B"}
    assert len(only_b) < len(results)


def test_rivals_run_under_bars_only_where_a_bar_asks_for_them():
    def rivals(*names):
        cases = select_cases(select_workloads("bars", names=names), dtypes=["f32"])
        return {c.size for c in map(_with_bar_engines, cases) if "jax" in c.engines}

    assert rivals("softmax") == {4096 * 1024}
    assert rivals("chain8", "sum_all") == set()


def test_picture_is_written(tmp_path):
    path = tmp_path / "new" / "plot.png"
    save_plot(run_of(case("chain8", 2.0), case("chain8", 4.0, size=1_000), case("blur", 3.0)), path)
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("families", [1, 2, 5])
@pytest.mark.parametrize("others", [(), ("numexpr", "numba", "njit", "jax", "torch", "nofuse")])
def test_no_text_of_the_picture_is_cut_off_or_covered(families, others):
    names = ("chain8", "blur", "sum_rows", "heat_step", "dense_relu")[:families]
    cases = [
        case(name, 2.0, size, others=dict.fromkeys(others, 3.0))
        for name in names
        for size in (100, 10**6)
    ]
    figure = draw(run_of(*cases))
    FigureCanvasAgg(figure).draw()
    ticks = {t for a in figure.axes for t in (*a.get_xticklabels(), *a.get_yticklabels())}
    texts = [t for t in figure.findobj(Text) if t.get_text() and t not in ticks]
    boxes = {t.get_text(): t.get_window_extent() for t in texts}
    whole = figure.bbox
    for box in boxes.values():
        assert whole.x0 <= box.x0 < box.x1 <= whole.x1
        assert whole.y0 <= box.y0 < box.y1 <= whole.y1
    legend = figure.legends[0].get_window_extent()
    outside = {t.get_text() for t in figure.legends[0].get_texts()}
    assert not [t for t, box in boxes.items() if t not in outside and box.overlaps(legend)]


def test_progress_is_told_from_the_start_and_then_every_ten_seconds():
    now = iter([0.0, 0.1, 4.0, 12.0, 12.5])
    stream = io.StringIO()
    with RunProgress(Console(file=stream, width=100), 3, lambda: next(now)) as progress:
        progress.at("starting numpy, fusejit")
        for name in ("add f32 100", "add f32 1,000", "add f32 10,000"):
            progress.at(name)
            progress.advance()
    told = stream.getvalue().splitlines()
    assert told == ["    0 s  0/3  starting numpy, fusejit", "   12 s  1/3  add f32 1,000"]


def test_progress_is_a_bar_in_a_terminal():
    stream = io.StringIO()
    console = Console(file=stream, width=100, force_terminal=True)
    with RunProgress(console, 3) as progress:
        progress.at("add f32 100")
        progress.advance()
    assert "add f32 100" in stream.getvalue()
    assert "1/3" in stream.getvalue()


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
