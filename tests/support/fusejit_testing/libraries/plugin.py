"""The judge as a plugin of pytest: it runs in a subprocess for one file of a library's tests.

``FUSEJIT_LIBRARIES`` names a JSON file with a `Job`. One line of JSON is written when a test begins
and one when it has ended, so that the runner knows where a process is, and where one was killed.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import re
import signal
import time
from collections.abc import Generator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from fusejit_testing.libraries.calls import CallJudge
from fusejit_testing.libraries.decorated import Decorated, install
from fusejit_testing.libraries.records import TestRecord

VARIABLE = "FUSEJIT_LIBRARIES"
_LOG = os.dup(2) if VARIABLE in os.environ else 2  # before pytest captures what is written there


@dataclass(frozen=True, slots=True)
class Job:
    """What one subprocess does.

    Attributes
    ----------
    root : str
        Folder of the copies.
    packages : list of str
        Packages whose functions are decorated; none, to see which tests fail without.
    lines : str
        The file that gets a line for each test.
    pickles : str
        Folder for the arguments of calls that went wrong.
    done : list of str
        Tests that are not run again.
    tests : str
        A regular expression; only tests in whose name it is found run.
    seconds_per_test : float
        Time for judging in one test.
    """

    root: str
    packages: list[str]
    lines: str
    pickles: str
    done: list[str]
    tests: str
    seconds_per_test: float

    def write(self, path: Path) -> None:
        """As JSON."""
        path.write_text(json.dumps(asdict(self)))


class _Plugin:
    def __init__(self, job: Job) -> None:
        self.job = job
        self.lines = Path(job.lines)
        self.judge = CallJudge(Path(job.pickles), job.seconds_per_test)
        self.outcome, self.message = "passed", ""
        if job.packages:
            install(Decorated(job.packages, Path(job.root), self.judge))

    def write(self, record: dict[str, Any]) -> None:
        with self.lines.open("a") as file:
            file.write(json.dumps(record) + "\n")

    def pytest_collection_modifyitems(self, items: list[Any], config: Any) -> None:
        """Leave out what is done, and what was not asked for."""
        done, pattern = set(self.job.done), re.compile(self.job.tests)
        items[:] = [i for i in items if i.nodeid not in done and pattern.search(i.nodeid)]
        _quiet_hypothesis()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Generator[None, Any, Any]:
        """Write when a test begins and when it has ended."""
        self.write({"begins": item.nodeid})
        self.outcome, self.message = "passed", ""
        self.judge.tallies, self.judge.findings = {}, {}
        start = time.perf_counter()
        try:
            return (yield)
        finally:
            record = TestRecord(
                item.nodeid,
                self.outcome,
                round(time.perf_counter() - start, 3),
                self.judge.tallies,
                [*self.judge.findings.values()],
                self.message,
            )
            self.write(record.as_json())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: Any) -> Generator[None, Any, Any]:
        """Judge the calls of the test itself, not those of its collection."""
        with self.judge.judging(item.nodeid):
            return (yield)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note how a test has ended."""
        if report.outcome != "passed":
            self.outcome = report.outcome if report.when == "call" else f"{report.outcome} in setup"
            self.message = str(report.longrepr)[-1500:]
            if report.outcome == "skipped":
                self.outcome = "skipped"


def _quiet_hypothesis() -> None:
    """The same examples in each run, however long they take."""
    with contextlib.suppress(ImportError):
        from hypothesis import HealthCheck, settings

        settings.register_profile(
            "libraries",
            deadline=None,
            derandomize=True,
            database=None,
            max_examples=10,
            suppress_health_check=[*HealthCheck],
        )
        settings.load_profile("libraries")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: Any) -> None:
    """Start, where the runner has named a job, before anything of the library is imported."""
    path = os.environ.get(VARIABLE)
    if path is None:
        return
    job = Job(**json.loads(Path(path).read_text()))
    if hasattr(signal, "SIGUSR1"):
        faulthandler.register(signal.SIGUSR1, file=_LOG)
    early_config.pluginmanager.register(_Plugin(job), "fusejit-libraries")
