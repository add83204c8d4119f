"""The worker protocol end to end, and the runner on top of it."""

import textwrap

import numpy as np
import pytest

from benchmarks.client import WorkerDied, WorkerError, WorkerProcess
from benchmarks.correctness import compare, load_results, tolerance
from benchmarks.first_call import measure_first_call
from benchmarks.gauge import Gauge
from benchmarks.runner import Runner
from benchmarks.selection import Case
from benchmarks.workloads import by_name

FAKES = '''
import os

from benchmarks.engine import Engine


class Identity(Engine):
    """Runs the function as it is; the classes below go wrong in one way each."""

    name = "identity"

    def versions(self):
        return {self.name: "1"}

    def supports(self, workload, with_out):
        return not with_out

    def load(self, workload, dtype, with_out):
        print("noise on stdout")
        return workload.function


class Wrong(Identity):
    name = "wrong"

    def load(self, workload, dtype, with_out):
        return lambda *arguments: workload.function(*arguments) + 1


class Raising(Identity):
    name = "raising"

    def load(self, workload, dtype, with_out):
        raise NotImplementedError("no such op")


class Crashing(Identity):
    name = "crashing"

    def load(self, workload, dtype, with_out):
        os._exit(7)


class Writing(Identity):
    name = "writing"

    def load(self, workload, dtype, with_out):
        def write(*arguments):
            result = workload.function(*arguments)
            arguments[0][...] = 0
            return result

        return write
'''


@pytest.fixture
def fakes(tmp_path, monkeypatch):
    """Makes `fakes:Identity` and its broken siblings importable in workers."""
    (tmp_path / "fakes.py").write_text(textwrap.dedent(FAKES))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


def chain2(size=100, dtype="f64", with_out=False):
    return Case(by_name("chain2"), size, dtype, with_out)


def quiet_gauge():
    return Gauge(lambda: 1.0)


def test_protocol_with_numpy(tmp_path):
    case = {"workload": "chain8", "size": 1_000, "dtype": "f32", "with_out": False}
    with WorkerProcess("numpy") as worker:
        assert worker.request("hello")["versions"] == {"numpy": np.__version__}
        with pytest.raises(WorkerError, match="nothing is prepared"):
            worker.request("run", calls=1)
        prepared = worker.request("prepare", **case)
        assert prepared["supported"]
        assert prepared["first_call_ns"] > 0
        assert prepared["warnings"] == []
        times = worker.request("run", calls=10, samples=3)["ns"]
        assert len(times) == 3
        assert all(time > 0 for time in times)
        path = tmp_path / "results.npz"
        reply = worker.request("check", path=str(path))
        assert reply == {"arrays": 1, "arguments_changed": False, "allowed": None}
        workload = by_name("chain8")
        (found,) = load_results(path)
        np.testing.assert_array_equal(found, workload.function(*workload.build(1_000, "f32")))
        assert worker.request("release") == {}
        with pytest.raises(WorkerError, match="TypeError"):
            worker.request("prepare", nonsense=1)
        first = worker.request("first_call", **case)
        assert set(first) == {"load_ns", "first_call_ns"}
    assert worker.process.returncode == 0


def test_out_form_and_mutated_arguments_are_results(tmp_path):
    path = tmp_path / "results.npz"
    with WorkerProcess("numpy") as worker:
        worker.request("prepare", workload="add", size=50, dtype="f64", with_out=True)
        worker.request("check", path=str(path))
        a, b = by_name("add").build(50, "f64")
        np.testing.assert_array_equal(load_results(path)[0], a + b)

        worker.request("prepare", workload="heat_step", size=100, dtype="f64", with_out=False)
        worker.request("check", path=str(path))
        (u,) = by_name("heat_step").build(100, "f64")
        by_name("heat_step").function(u)
        np.testing.assert_array_equal(load_results(path)[0], u)


def test_unknown_engine_is_an_answer_not_a_crash():
    with (
        WorkerProcess("nonsense") as worker,
        pytest.raises(WorkerError, match="unknown engine 'nonsense'"),
    ):
        worker.request("hello")


@pytest.mark.usefixtures("fakes")
def test_a_crash_is_noticed():
    with WorkerProcess("fakes:Crashing") as worker:
        worker.request("hello")
        with pytest.raises(WorkerDied, match="exit status 7"):
            worker.request("prepare", workload="add", size=10, dtype="f64", with_out=False)


def test_a_hanging_command_is_killed():
    with WorkerProcess("numpy", timeout_s=5) as worker:
        worker.request("prepare", workload="small_add", size=10, dtype="f64", with_out=False)
        worker.timeout_s = 0.05
        with pytest.raises(WorkerDied, match="no reply"):
            worker.request("run", calls=10**9)
    assert worker.process.returncode != 0


@pytest.mark.usefixtures("fakes")
def test_runner_measures_every_engine_and_compares_results():
    broken = ["fakes:Wrong", "fakes:Raising", "fakes:Crashing", "fakes:Writing"]
    with Runner(["fakes:Identity", *broken, "fakes:Missing"], quiet_gauge(), 2) as runner:
        record = runner.run_case(chain2())
        again = runner.run_case(chain2(size=200))
        assert runner.versions.keys() >= {"numpy", "identity"}
        assert "Missing" in runner.unavailable["fakes:Missing"]
    engines = record.engines
    assert list(engines) == ["numpy", "fakes:Identity", *broken]
    identity = engines["fakes:Identity"]
    assert identity.error is None
    assert identity.mismatch is None
    assert identity.max_error == 0.0
    assert identity.speedup is not None
    assert len(identity.rounds_ns) == 2
    assert "relative error" in engines["fakes:Wrong"].mismatch
    assert "no such op" in engines["fakes:Raising"].error
    assert "exit status 7" in engines["fakes:Crashing"].error
    assert engines["fakes:Writing"].mismatch == "arguments were modified"
    assert "exit status 7" in again.engines["fakes:Crashing"].error, "it was started anew"
    assert again.engines["fakes:Identity"].mismatch is None


@pytest.mark.usefixtures("fakes")
def test_unsupported_forms_are_left_out():
    with Runner(["fakes:Identity"], quiet_gauge(), 1) as runner:
        assert list(runner.run_case(chain2(with_out=True)).engines) == ["numpy"]


def test_first_call_in_fresh_processes():
    record = measure_first_call("numpy", chain2(size=1_000))
    assert record.error is None
    assert record.cold_call_ns > 0
    assert record.cached_call_ns > 0
    failed = measure_first_call("nonsense", chain2(size=1_000))
    assert "nonsense" in failed.error


def test_compare_is_exact_for_integers_and_strict_about_types():
    whole = [np.arange(5)]
    assert compare(whole, [np.arange(5)], 5, True) == (0.0, None)
    off_by_one = whole[0] + np.array([0, 0, 0, 0, 1])
    assert "relative error" in compare(whole, [off_by_one], 5, True)[1]
    assert "dtype" in compare(whole, [whole[0].astype(np.float64)], 5, True)[1]
    assert "shape" in compare(whole, [np.arange(6)], 5, True)[1]
    assert "results" in compare(whole, [], 5, True)[1]


def test_compare_allows_rounding_but_no_nan():
    wanted = np.linspace(0, 1, 100)
    assert compare([wanted], [wanted * (1 + 1e-15)], 100, False)[1] is None
    assert compare([wanted], [wanted * (1 + 1e-12)], 100, False)[1] is not None
    assert compare([wanted], [np.where(wanted > 0.5, np.nan, wanted)], 100, False)[1] is not None
    assert compare([np.array([np.nan])], [np.array([np.nan])], 1, False)[1] is None


def test_tolerance_grows_with_sums_only():
    f32 = np.dtype(np.float32)
    assert tolerance(np.dtype(np.int64), 10**6, True) == 0.0
    assert tolerance(f32, 10**6, False) == tolerance(f32, 10, False)
    assert tolerance(f32, 10**6, True) > tolerance(f32, 10, True)
