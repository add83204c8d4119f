"""Runs cases: one worker per engine, interleaved rounds, results compared with NumPy's."""

import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import Any, Self

from benchmarks.client import WorkerDied, WorkerError, WorkerProcess
from benchmarks.correctness import compare, load_results
from benchmarks.gauge import Gauge
from benchmarks.machine import load_average
from benchmarks.own_engines import COPY
from benchmarks.records import CaseRecord, EngineRecord
from benchmarks.rounds import Rounds, measure, paired_speedup, spread
from benchmarks.selection import Case

REFERENCE = "numpy"
SETTLE_S = 0.05
"""OpenBLAS workers spin for about 26 ms after a product and would take a core from the next."""


class Runner:
    """Holds the workers and measures case after case.

    Parameters
    ----------
    engines
        Names; the reference (NumPy) is added in front if missing.
    gauge
        Decides which rounds count.
    rounds
        Accepted rounds per case.
    fresh_heap
        Start workers with an unsettled allocator, see `worker.settle_allocator`.
    fresh_cache
        Kernels are compiled in this run, not found on disk.
    """

    def __init__(
        self,
        engines: Sequence[str],
        gauge: Gauge,
        rounds: int,
        fresh_heap: bool = False,
        fresh_cache: bool = False,
    ) -> None:
        self.engines = [REFERENCE, *(e for e in engines if e != REFERENCE)]
        self.gauge = gauge
        self.rounds = rounds
        self.workers: dict[str, WorkerProcess] = {}
        self.versions: dict[str, str] = {}
        self.unavailable: dict[str, str] = {}
        self.folder = tempfile.TemporaryDirectory(prefix="fusejit-bench-")
        cache: Mapping[str, str] = {"FUSEJIT_CACHE_DIR": f"{self.folder.name}/cache"}
        self.start = partial(
            WorkerProcess, environment=cache if fresh_cache else None, fresh_heap=fresh_heap
        )

    def __enter__(self) -> Self:
        for engine in self.engines:
            worker = self.start(engine)
            try:
                self.versions |= worker.request("hello")["versions"]
                self.workers[engine] = worker
            except WorkerError as error:
                worker.close()
                self.unavailable[engine] = str(error)
        if REFERENCE not in self.workers:
            raise RuntimeError(f"NumPy's worker does not start: {self.unavailable[REFERENCE]}")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for worker in self.workers.values():
            worker.close(kill=kind is not None)
        self.folder.cleanup()

    def run_case(self, case: Case) -> CaseRecord:
        """Measure one case with every engine that supports it."""
        first_calls: dict[str, dict[str, Any]] = {}
        failed: dict[str, EngineRecord] = {}
        for engine in self.workers:
            if case.engines and engine not in case.engines and engine != REFERENCE:
                continue
            reply = self._guarded(engine, failed, partial(self._prepare, engine, case))
            if reply and reply["supported"]:
                first_calls[engine] = reply
            elif reply and "refused" in reply:
                failed[engine] = EngineRecord(declined=reply["refused"])
        verdicts = self._check(case, list(first_calls), failed)
        measured = self._measure(case, list(verdicts), failed)
        records = dict(failed)
        for engine, times in measured.times_ns.items():
            error, mismatch = verdicts[engine]
            records[engine] = EngineRecord(
                median_ns=median(times),
                min_ns=min(times),
                spread=spread(times),
                speedup=paired_speedup(measured.times_ns[REFERENCE], times),
                rounds_ns=times,
                calls_per_round=measured.calls[engine],
                prepare_call_ns=first_calls[engine]["first_call_ns"],
                max_error=error,
                mismatch=mismatch,
                declined=first_calls[engine]["declined"],
                warnings=tuple(first_calls[engine]["warnings"]),
            )
        for engine in list(self.workers):
            self._guarded(engine, {}, partial(self.workers[engine].request, "release"))
        return CaseRecord(
            workload=case.workload.name,
            family=case.workload.family,
            size=case.size,
            dtype=case.dtype,
            with_out=case.with_out,
            engines={engine: records[engine] for engine in self.engines if engine in records},
            discarded_rounds=measured.discarded,
            noisy=measured.noisy,
            load=round(load_average(), 2),
        )

    def _prepare(self, engine: str, case: Case) -> dict[str, Any]:
        return self.workers[engine].request(
            "prepare",
            workload=case.workload.name,
            size=case.size,
            dtype=case.dtype,
            with_out=case.with_out,
        )

    def _check(
        self, case: Case, engines: Iterable[str], failed: dict[str, EngineRecord]
    ) -> dict[str, tuple[float | None, str | None]]:
        """Compare each engine with NumPy; an engine missing from the answer has failed."""
        verdicts: dict[str, tuple[float | None, str | None]] = {}
        expected = allowed = None
        for engine in engines:
            path = Path(self.folder.name) / f"{engine.replace(':', '.')}.npz"
            request = partial(self.workers[engine].request, "check", path=str(path))
            reply = self._guarded(engine, failed, request)
            if reply is None:
                continue
            found = load_results(path)
            path.unlink()
            if engine == COPY:
                verdicts[engine] = None, None
                continue
            if engine == REFERENCE:
                expected, allowed = found, reply["allowed"]
            if expected is None:
                raise RuntimeError(f"{case}: NumPy itself failed: {failed[REFERENCE].error}")
            verdict = compare(expected, found, case.size, case.workload.reassociates, allowed)
            if reply["arguments_changed"]:
                verdict = verdict[0], "arguments were modified"
            verdicts[engine] = verdict
        return verdicts

    def _measure(
        self, case: Case, engines: Iterable[str], failed: dict[str, EngineRecord]
    ) -> Rounds:
        """Interleaved rounds; an engine that fails on the way is left out and all start again."""
        engines = list(engines)
        multiplies = (
            case.workload.family == "contraction"
            or "dense" in case.workload.name
            or case.workload.program is not None
        )
        settle = partial(time.sleep, SETTLE_S) if multiplies else _nothing
        while True:
            try:
                runners = {engine: partial(self._run, engine) for engine in engines}
                return measure(runners, self.gauge, self.rounds, settle)
            except _EngineFailed as failure:
                if failure.engine == REFERENCE:
                    raise
                engines.remove(failure.engine)
                self._guarded(failure.engine, failed, failure.again)

    def _run(self, engine: str, calls: int) -> float:
        try:
            reply = self.workers[engine].request("run", calls=calls, samples=1)
        except WorkerError as error:
            raise _EngineFailed(engine, error) from error
        return float(reply["ns"][0])

    def _guarded(
        self,
        engine: str,
        failed: dict[str, EngineRecord],
        action: Callable[[], dict[str, Any]],
    ) -> dict[str, Any] | None:
        """Run `action`; note a failure, and start a new worker if this one died."""
        try:
            return action()
        except WorkerError as error:
            failed[engine] = EngineRecord(error=str(error))
            if isinstance(error, WorkerDied):
                self.workers[engine] = self.start(engine)
            return None


class _EngineFailed(Exception):
    """An engine failed in the middle of the rounds."""

    def __init__(self, engine: str, error: WorkerError) -> None:
        super().__init__(f"{engine}: {error}")
        self.engine = engine
        self.error = error

    def again(self) -> dict[str, Any]:
        """Raise the engine's own error where it can be noted."""
        raise self.error


def _nothing() -> None:
    pass
