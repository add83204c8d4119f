"""A child process that owns one engine: ``python -m benchmarks.worker ENGINE [fresh-heap]``.

One JSON object per line comes in on stdin, one goes out on the original stdout; whatever the engine
prints goes to stderr. Commands::

    {"command": "hello"}                      -> {"versions", "pid"}
    {"command": "prepare", "workload", "size", "dtype", "with_out"}
                                              -> {"supported", "first_call_ns", "warnings",
                                                  "declined"}, or {"supported", "refused"}
    {"command": "run", "calls", "samples"}    -> {"ns": mean time of a call, one per sample}
    {"command": "check", "path"}              -> {"arrays", "arguments_changed", "allowed"};
                                                 results at `path`; NumPy tells how far those of a
                                                 program may be apart, else null
    {"command": "release"}                    -> {}   forget arguments and function
    {"command": "first_call", as prepare}     -> {"load_ns", "first_call_ns"}

``first_call`` is meant for a fresh process: the engine's library is only imported when the first
command needs it. A failing command answers ``{"error": text}`` and the process goes on.
"""

import contextlib
import gc
import itertools
import json
import os
import sys
import time
import traceback
import warnings
import zlib
from collections.abc import Callable
from typing import Any, TextIO

import numpy as np

from benchmarks.engine import Engine, plain_function
from benchmarks.engines import create
from benchmarks.programs.program import Program
from benchmarks.programs.sensitivity import allowances, leaves, own_errors
from benchmarks.restore import Restorer
from benchmarks.workload import Workload
from benchmarks.workloads import by_name

Reply = dict[str, Any]

SETTLE_BYTES = 31 << 20


class Worker:
    """The state of a worker: one engine, at most one prepared case."""

    def __init__(self, engine_name: str) -> None:
        self.engine_name = engine_name
        self.loaded_engine: Engine | None = None
        self.case: tuple[Workload, int, str, bool] | None = None
        self.function: Callable[..., Any] | None = None
        self.arguments: tuple[Any, ...] = ()
        self.restorer: Restorer | None = None

    @property
    def engine(self) -> Engine:
        """The engine, imported on first use."""
        if self.loaded_engine is None:
            self.loaded_engine = create(self.engine_name)
        return self.loaded_engine

    def hello(self) -> Reply:
        """Say which versions are at work."""
        return {"versions": self.engine.versions(), "pid": os.getpid()}

    def prepare(self, workload: str, size: int, dtype: str, with_out: bool) -> Reply:
        """Build arguments, load the function and call it once."""
        self.release()
        described = by_name(workload)
        if not self.engine.supports(described, with_out):
            return {"supported": False}
        self.case = (described, size, dtype, with_out)
        self.arguments = self.engine.put(build_arguments(*self.case))
        restorer = Restorer(self.arguments) if described.program else None
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                self.function = self.engine.load(described, dtype, with_out)
                first_call_ns = time_calls(self.function, self.arguments, 1)
        except self.engine.refusals as refusal:
            self.release()
            return {"supported": False, "refused": f"{type(refusal).__name__}: {refusal}"}
        if restorer is not None:
            restorer.keep_changed()
            self.restorer = restorer
        return {
            "supported": True,
            "first_call_ns": first_call_ns,
            "warnings": list(dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in caught)),
            "declined": self.engine.declined(self.function),
        }

    def run(self, calls: int, samples: int = 1) -> Reply:
        """Time `calls` calls in a row, `samples` times."""
        if self.function is None:
            raise RuntimeError("nothing is prepared")
        if self.restorer is not None:
            time_once = self.restorer.time_calls
        else:
            time_once = time_calls
        times = [time_once(self.function, self.arguments, calls) for _ in range(samples)]
        return {"ns": [elapsed_ns / calls for elapsed_ns in times]}

    def check(self, path: str) -> Reply:
        """Run once on fresh arguments and save the results (`numpy.savez`) for comparison."""
        if self.function is None or self.case is None:
            raise RuntimeError("nothing is prepared")
        workload, with_out = self.case[0], self.case[3]
        arguments = build_arguments(*self.case)
        inputs = arguments[:-1] if with_out else arguments
        before = [] if workload.mutates else digests(inputs)
        converted = self.engine.put(arguments)
        outcome = self.function(*converted)
        if workload.program is not None:
            return self.save_program(path, workload.program, [outcome, converted])
        results = [converted[-1]] if with_out else as_results(outcome)
        if workload.mutates:
            results += converted
        np.savez(path, *self.engine.fetch(results))
        changed = not workload.mutates and digests(inputs) != before
        return {"arrays": len(results), "arguments_changed": changed, "allowed": None}

    def save_program(self, path: str, program: Program, found: list[Any]) -> Reply:
        """Save the numbers of a program's results and arguments."""
        results = [leaf for _, leaf in leaves(found) if is_numeric(leaf)]
        np.savez(path, *self.engine.fetch(results))
        allowed = None
        if self.engine_name == "numpy":
            assert self.case is not None
            size = self.case[1]
            pairs = zip(allowances(program, size), own_errors(program, size), strict=True)
            every = [allowance + error for allowance, error in pairs]
            kinds = [is_numeric(leaf) for _, leaf in leaves(found)]
            allowed = [a for a, numeric in zip(every, kinds, strict=True) if numeric]
        return {"arrays": len(results), "arguments_changed": False, "allowed": allowed}

    def release(self) -> Reply:
        """Forget the case, so that memory stays bounded by one."""
        self.case, self.function, self.arguments = None, None, ()
        self.restorer = None
        gc.collect()
        return {}

    def first_call(self, workload: str, size: int, dtype: str, with_out: bool) -> Reply:
        """Time what a fresh process pays: importing and loading, then the first call."""
        described = by_name(workload)
        arguments = self.engine.put(build_arguments(described, size, dtype, with_out))
        start_ns = time.perf_counter_ns()
        function = self.engine.load(described, dtype, with_out)
        load_ns = time.perf_counter_ns() - start_ns
        return {"load_ns": load_ns, "first_call_ns": time_calls(function, arguments, 1)}

    def answer(self, request: dict[str, Any]) -> Reply:
        """Carry out one command; an exception becomes an ``error`` reply."""
        commands: dict[str, Callable[..., Reply]] = {
            "hello": self.hello,
            "prepare": self.prepare,
            "run": self.run,
            "check": self.check,
            "release": self.release,
            "first_call": self.first_call,
        }
        fields = dict(request)
        try:
            return commands[fields.pop("command")](**fields)
        except Exception as error:
            traceback.print_exc()
            return {"error": f"{type(error).__name__}: {error}"}


def time_calls(function: Callable[..., Any], arguments: tuple[Any, ...], calls: int) -> int:
    """Nanoseconds for `calls` calls in a row, garbage collection off, each result dropped."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        start_ns = time.perf_counter_ns()
        for _ in itertools.repeat(None, calls):
            function(*arguments)
        return time.perf_counter_ns() - start_ns
    finally:
        if was_enabled:
            gc.enable()


def build_arguments(workload: Workload, size: int, dtype: str, with_out: bool) -> tuple[Any, ...]:
    """Arguments of a case; with `with_out` an empty array like the result is the last one."""
    arguments = workload.build(size, dtype)
    if not with_out:
        return arguments
    like = plain_function(workload, with_out=False)(*arguments)
    return (*arguments, np.full_like(like, 0))


def as_results(outcome: Any) -> list[Any]:
    """What a function returned, as a list of arrays."""
    if outcome is None:
        return []
    return list(outcome) if isinstance(outcome, tuple) else [outcome]


def is_numeric(leaf: Any) -> bool:
    """Whether a leaf can be saved: a generator's state has names and long integers in it."""
    return np.asarray(leaf).dtype.kind in "biufc"


def digests(arrays: tuple[Any, ...]) -> list[int]:
    """A checksum per array, to notice arguments that should not have changed."""
    return [zlib.crc32(np.ascontiguousarray(array).data) for array in arrays]


def serve(worker: Worker, requests: TextIO, replies: TextIO) -> None:
    """Answer requests until the parent closes the pipe."""
    for line in requests:
        print(json.dumps(worker.answer(json.loads(line))), file=replies, flush=True)


def settle_allocator() -> None:
    """Bring glibc's allocator to the state it has in any process that has run for a while.

    It returns the top of the heap to the system whenever more is free there than twice the largest
    mapped block freed so far, and faults it in again on the next call. Up to that point NumPy's
    chains of temporaries take up to 6 times as long, depending on which cases ran before. One freed
    block just below the 32 MB limit ends this for good, in favour of NumPy.
    """
    np.empty(SETTLE_BYTES, np.uint8)


def main() -> None:
    """Keep the original stdout for replies and send everything else to stderr."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if "fresh-heap" not in sys.argv[2:]:
        settle_allocator()
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        serve(Worker(sys.argv[1]), sys.stdin, replies)


if __name__ == "__main__":
    main()
