"""The suite ``programs``: workloads, arguments put back, bounds from NumPy's own answer, bars.

Regression: The benchmark runner did not report whether the compile budget held. A line after the
tables now does.
"""

import io
import time
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from benchmarks import bars
from benchmarks.cli import parser
from benchmarks.client import WorkerProcess
from benchmarks.compile_budget import budget_line
from benchmarks.correctness import compare, load_results
from benchmarks.engine import with_helpers
from benchmarks.program_report import means, print_programs
from benchmarks.programs import PROGRAMS, bits, implicit
from benchmarks.programs.program import Program
from benchmarks.programs.sensitivity import allowances, distance, floor, leaves, moved, own_errors
from benchmarks.records import CaseRecord, EngineRecord, RunRecord
from benchmarks.restore import Restorer
from benchmarks.selection import SUITES, select_cases, select_workloads
from benchmarks.workloads import WORKLOADS, by_name

SORT = "bits.bubble_sort"


# ----------------------------------------------------------------------------------- workloads
def test_every_program_is_a_workload_of_the_suite_and_of_no_other():
    assert len(SUITES["programs"]) == len(PROGRAMS)
    assert len({*SUITES["programs"], *(w.name for w in WORKLOADS)}) == len(PROGRAMS) + len(
        WORKLOADS
    )
    cases = select_cases(select_workloads("programs"))
    assert [(c.workload.program, c.size) for c in cases] == [(p, p.bench) for p in PROGRAMS]
    assert not {*SUITES["all"]} & {*SUITES["programs"]}


def test_families_and_names_select_programs():
    stencils = select_workloads("programs", families=["stencils"])
    assert {w.family for w in stencils} == {"stencils"}
    assert [w.name for w in select_workloads("all", names=[SORT])] == [SORT]
    assert parser().parse_args(["--suite", "programs"]).suite == "programs"


def test_a_workload_has_the_arguments_of_its_program():
    workload = by_name(SORT)
    assert workload.program is not None
    (ours,), (theirs,) = workload.build(50, "f64"), workload.program.build(50)
    np.testing.assert_array_equal(ours, theirs)


# ----------------------------------------------------------------------- arguments are put back
def test_changed_arguments_are_put_back_and_others_left_alone():
    def draw(x, y, rng, scale):
        x += y * rng.random(x.shape) * scale

    arguments = (np.zeros(4), np.arange(4.0), np.random.default_rng(3), 2.0)
    restorer = Restorer(arguments)
    draw(*arguments)
    first = arguments[0].copy()
    restorer.keep_changed()
    assert restorer.changed == [0, 2]
    np.testing.assert_array_equal(arguments[0], np.zeros(4))
    draw(*arguments)
    np.testing.assert_array_equal(arguments[0], first)


def test_the_clock_stops_while_arguments_are_put_back():
    restorer = Restorer((np.zeros(3),))
    slow, seen = restorer.restore, []

    def restore():
        time.sleep(0.02)
        slow()

    def count(x):
        seen.append(float(x[0]))
        x += 1

    restorer.restore = restore
    elapsed_ns = restorer.time_calls(count, restorer.arguments, 3)
    assert seen == [0.0, 0.0, 0.0]
    assert 0 < elapsed_ns < 2e7


def test_a_worker_times_a_program_on_its_first_arguments(tmp_path):
    case = {"workload": SORT, "size": 60, "dtype": "f64", "with_out": False}
    with WorkerProcess("numpy") as worker:
        assert worker.request("prepare", **case)["supported"]
        worker.request("run", calls=5)
        path = tmp_path / "sorted.npz"
        reply = worker.request("check", path=str(path))
        assert reply == {"arrays": 1, "arguments_changed": False, "allowed": [0.0]}
        (found,) = load_results(path)
        (x,) = by_name(SORT).build(60, "f64")
        np.testing.assert_array_equal(found, np.sort(x))


def test_numbers_of_nested_results_and_of_generators_are_saved(tmp_path):
    case = {"workload": "points.random_walk", "size": 20, "dtype": "f64", "with_out": False}
    with WorkerProcess("numpy") as worker:
        worker.request("prepare", **case)
        path = tmp_path / "walk.npz"
        reply = worker.request("check", path=str(path))
        shapes = [np.shape(a) for a in load_results(path)]
        assert shapes[:2] == [(20, 2), (20,)]
        assert len(reply["allowed"]) == reply["arrays"] == len(shapes)


# ------------------------------------------------------------------------------ how far apart
def cancelling(x, y):
    return np.sum(x - y), x > y


def unstable(x, n):
    for _ in range(n):
        x = 4.0 * x * (1.0 - x)
    return x


def test_bounds_follow_how_much_numpys_own_answer_moves():
    x = 1e8 * np.random.default_rng(5).random(1000)
    ill = Program(cancelling, lambda rng, n: (x.copy(), x.copy()), (2, 3), 4)
    well = replace(ill, arguments=lambda rng, n: (x.copy(), -x))
    difference, bools = allowances(ill, 2)[:2]
    assert 1e-8 < difference < 1e-4
    assert bools > 0.0, "the conditions themselves change when x and y move"
    assert allowances(well, 2)[1] == 0.0
    chaotic = Program(unstable, lambda rng, n: (np.linspace(0.1, 0.9, 5), n), (1, 20), 20)
    assert allowances(chaotic, 20)[0] > 1e3 * allowances(chaotic, 1)[0]
    assert allowances(replace(chaotic, exact=True), 20)[0] == 0.0


def one_by_one(x):
    return x.sum(axis=0), len(x)


def test_errors_of_numpys_own_answer():
    x = np.random.default_rng(5).random((100_000, 2))
    sums = Program(one_by_one, lambda rng, n: (x[:n].copy(),), (2, 3), 4)
    error, count = own_errors(sums, 100_000)[:2]
    assert 1e-11 < error < 1e-7
    assert count == 0.0
    assert own_errors(sums, 2)[0] < 1e-15
    assert own_errors(replace(sums, exact=True), 100_000) == [0.0] * 3


def test_leaves_of_nested_results():
    assert [*leaves((1, [2.0, None], {"a": 3}))] == [
        ("result[0]", 1),
        ("result[1][0]", 2.0),
        ("result[2]['a']", 3),
    ]
    ours, theirs = np.random.default_rng(1), np.random.default_rng(1)
    assert [*leaves(ours)] == [*leaves(theirs)]
    theirs.random()
    assert [*leaves(ours)] != [*leaves(theirs)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("order", ["C", "F"])
def test_moved_changes_floats_by_one_unit_at_most(dtype, order):
    x = np.asarray(np.random.default_rng(0).random((30, 20)), dtype, order=order)
    y = moved(x, np.random.default_rng(1))
    assert (y.dtype, y.shape, y.strides) == (x.dtype, x.shape, x.strides)
    assert 0.4 < np.mean(x != y) < 0.99
    assert np.max(np.abs((y - x).real) / np.spacing(np.abs(x.real))) <= 1.0
    kept = (3, True, np.arange(3), "text")
    assert str(moved(kept, np.random.default_rng(1))) == str(kept)
    assert abs(moved(1.0, np.random.default_rng(2)) - 1.0) <= np.finfo(float).eps


def test_distance_takes_nan_and_infinity_for_themselves_only():
    nan, inf = np.nan, np.inf
    assert distance([nan, inf, 1.0], [nan, inf, 1.5]) == 0.5
    assert distance([nan], [1.0]) == distance([inf], [-inf]) == inf
    assert distance([True, False], [True, True]) == 1.0
    assert distance("a", "b") == inf
    assert floor(np.array([1.0, inf, nan, -8.0])) == 16 * 8 * np.finfo(float).eps
    assert floor(np.arange(5)) == 0.0


def test_compare_with_given_bounds():
    want, have = [np.array([1.0, np.nan])], [np.array([1.5, np.nan])]
    assert compare(want, have, 2, False, [0.5])[1] is None
    assert "0.5 apart" in compare(want, have, 2, False, [0.4])[1]
    assert "dtype" in compare([np.arange(2)], [np.arange(2.0)], 2, False, [9.0])[1]


# -------------------------------------------------------------------------------------- engines
def test_helpers_are_decorated_too():
    seen = []

    def decorate(function):
        def call(*arguments):
            seen.append(function.__name__)
            return function(*arguments)

        return call

    program = next(p for p in PROGRAMS if p.function is implicit.crank_nicolson)
    arguments = program.build(7)
    expected = program.function(*program.build(7))
    np.testing.assert_array_equal(with_helpers(program.function, decorate)(*arguments), expected)
    assert seen == ["crank_nicolson", "thomas"]


# --------------------------------------------------------------------------------------- report
def timed(ns, **more):
    return EngineRecord(
        median_ns=ns, speedup=1e6 / ns, rounds_ns=(ns,) * 3, prepare_call_ns=int(ns + 1e9), **more
    )


def case(name, **engines):
    return CaseRecord(f"bits.{name}", "bits", 100, "f64", False, {"numpy": timed(1e6), **engines})


def program_bars(*cases):
    return {r.bar.name: r for r in bars.evaluate(cases, parts=("C",))}


def test_the_mean_decides_over_all_programs():
    fast = case("crc32", fusejit=timed(1e4), njit=timed(4e4))
    slow = case("sieve", fusejit=timed(1e5), njit=timed(2e5))
    results = program_bars(fast, slow)
    assert results["programs, geometric mean"].figure == pytest.approx(1000**0.5)
    assert results["programs against njit, geometric mean"].figure == pytest.approx(8**0.5)
    assert {r.verdict for r in results.values()} == {"pass"}
    both = ["geometric mean of numpy", "geometric mean of njit"]
    assert all(a in b for a, b in zip(both, means([fast, slow]), strict=True))


def test_a_program_that_does_not_compile_misses_every_bar():
    fast = case("crc32", fusejit=timed(1e4), njit=timed(4e4))
    refused = case("sieve", fusejit=EngineRecord(declined="nonzero"), njit=timed(2e5))
    results = program_bars(fast, refused)
    mean = results["programs, geometric mean"]
    assert (mean.verdict, mean.figure) == ("miss", pytest.approx(100.0))
    assert mean.missing == ("bits.sieve f64 100",)
    assert {r.verdict for r in results.values()} == {"miss"}
    assert program_bars(refused)["programs, geometric mean"].verdict == "miss"


def test_slow_programs_and_slow_compilers_miss():
    slow = case("crc32", fusejit=timed(1.2e6), njit=timed(1e6))
    results = program_bars(slow)
    assert {r.verdict for r in results.values()} == {"miss", "pass"}
    assert results["programs: time to compile"].verdict == "pass"
    late = replace(timed(1e4), prepare_call_ns=4_000_000_000)
    results = program_bars(case("crc32", fusejit=late, njit=timed(1e6)))
    assert results["programs: time to compile"].verdict == "miss"
    assert results["programs: time to compile"].figure == pytest.approx(4.0, rel=1e-3)


def test_programs_are_no_matter_of_the_other_parts():
    verdicts = {r.verdict for r in bars.evaluate([case("crc32", fusejit=timed(1e4))])}
    assert verdicts == {"not measured"}


def test_the_table_shows_every_program():
    facts = {"cpu": "test", "cores": 2, "system": "-", "python": "3", "load": 0.0, "date": "2000"}
    cases = (
        case("crc32", fusejit=timed(1e4), njit=timed(4e4)),
        case("sieve", fusejit=EngineRecord(declined="nonzero"), njit=timed(2e5)),
        case("fnv1a", fusejit=timed(2e4), njit=EngineRecord(declined="cannot")),
        case("adler32", fusejit=timed(1e4, mismatch="7 apart"), njit=timed(4e4)),
    )
    stream = io.StringIO()
    console = Console(file=stream, width=160)
    print_programs(console, RunRecord(facts, {}, {}, {}, cases))
    lines = {line.split()[0]: line for line in stream.getvalue().splitlines() if "bits." in line}
    assert "100.00x" in lines["bits.crc32"]
    assert "4.00x" in lines["bits.crc32"]
    assert "1.00 s" in lines["bits.crc32"]
    assert "refused" in lines["bits.sieve"]
    assert "50.00x" in lines["bits.fnv1a"]
    assert "WRONG" in lines["bits.adler32"]
    assert "70.71x over 2 of 4 programs" in stream.getvalue()


def test_a_line_says_whether_the_compile_budget_held():
    fast, njit = timed(1e4), timed(4e4)
    assert budget_line([case("crc32", njit=njit)]) == "compile budget of 10 s: nothing was compiled"
    line = budget_line([case("crc32", fusejit=fast), case("fnv1a", fusejit=timed(5e8))])
    assert "held[/]; 2 first calls took 2.5 s, the longest 1.50 s (bits.fnv1a f64 100)" in line
    late = replace(fast, prepare_call_ns=11_000_000_000)
    line = budget_line([case("a", fusejit=late), case("b", fusejit=fast), case("c", fusejit=late)])
    assert "not held by bits.a f64 100, bits.c f64 100[/]; 3 first calls" in line


def test_every_program_is_its_modules_own_function():
    assert all(p.function.__module__.startswith("benchmarks.programs.") for p in PROGRAMS)
    assert {p.family for p in bits.PROGRAMS} == {"bits"}
