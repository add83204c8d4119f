"""The library judge's subprocesses: one for each file of tests, killed where a test hangs.

What has been judged stands in a file of lines per file of tests. A run that was broken off goes on
after the last line; a test in which a process died or hung is noted and left out.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fusejit_testing.libraries.copies import Copy
from fusejit_testing.libraries.plugin import VARIABLE, Job
from fusejit_testing.libraries.records import Finding, Kind, TestRecord

_PYTEST = (
    "-m pytest -p fusejit_testing.libraries.plugin -p no:cacheprovider -p no:xdist -q --tb=short "
    f"-c {os.devnull}"
).split()
_COLLECTION = "(collection)"
_STACK = "Current thread"  # where a process is, as faulthandler writes it


@dataclass(frozen=True, slots=True)
class Settings:
    """How libraries are judged.

    Attributes
    ----------
    folder : Path
        Holds lines, pickles and logs.
    tests : str
        A regular expression for the names of tests.
    files : str
        A regular expression for the files of tests.
    jobs : int
        Subprocesses at a time.
    limit_seconds : float
        A test that is longer under way is a hang.
    seconds_per_test : float
        Time for judging in each test; later calls of the test run undecorated.
    """

    folder: Path
    tests: str = ""
    files: str = ""
    jobs: int = 1
    limit_seconds: float = 120.0
    seconds_per_test: float = 30.0


def judge_library(
    copy: Copy, settings: Settings, log: Callable[[str], None] = print
) -> list[TestRecord]:
    """Run the tests of a copied package; the records of all tests in the order of the files."""
    files = [path.relative_to(copy.root) for path in copy.test_files()]
    files = [file for file in files if re.search(settings.files, str(file))]

    def one(file: Path) -> list[TestRecord]:
        start = time.perf_counter()
        records = _FileRun(copy, file, settings, decorate=True).records()
        failed = [r.test for r in records if r.outcome.startswith("failed")]
        if failed:
            alone = _FileRun(copy, file, settings, decorate=False, only=failed).records()
            fail_anyway = {r.test for r in alone if r.outcome != "passed"}
            for record in records:
                if record.test in fail_anyway:
                    record.outcome = "fails undecorated too"
        calls = sum(t.calls for r in records for t in r.tallies.values())
        log(f"{file}: {len(records)} tests, {calls} calls, {time.perf_counter() - start:.0f} s")
        return records

    with ThreadPoolExecutor(settings.jobs) as pool:
        return [record for records in pool.map(one, files) for record in records]


class _FileRun:
    """The tests of one file, in as many processes as it takes."""

    def __init__(
        self,
        copy: Copy,
        file: Path,
        settings: Settings,
        decorate: bool,
        only: Sequence[str] | None = None,
    ) -> None:
        self.copy, self.file, self.settings = copy, file, settings
        self.packages = [copy.package] if decorate else []
        self.only = only
        stem = ".".join(file.with_suffix("").parts) + ("" if decorate else ".undecorated")
        self.lines = settings.folder / "lines" / f"{stem}.jsonl"
        self.log = settings.folder / "logs" / f"{stem}.txt"
        self.job = settings.folder / "logs" / f"{stem}.json"

    def records(self) -> list[TestRecord]:
        """Run what has not been run, and read all lines."""
        for path in (self.lines, self.log):
            path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            done, under_way = self.read()
            if under_way is not None:
                self.note_death(under_way)
                continue
            if any(r.test == _COLLECTION for r in done.values()):
                break
            if self.run([*done]):
                break
        done, _ = self.read()
        return [r for r in done.values() if r.test != _COLLECTION or r.outcome != "passed"]

    def read(self) -> tuple[dict[str, TestRecord], str | None]:
        """The records of tests that have ended, and the test during which a process died."""
        done: dict[str, TestRecord] = {}
        under_way = None
        if not self.lines.exists():
            return done, None
        for line in self.lines.read_text().splitlines():
            try:
                data = json.loads(line)
            except ValueError:
                continue  # half a line: the process was killed while it wrote
            if "begins" in data:
                under_way = data["begins"]
            else:
                record = TestRecord.from_json(data)
                done[record.test] = record
                under_way = None
        return done, under_way

    def note_death(self, test: str) -> None:
        """A test in which the process died, or was killed."""
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        start = text.rfind(_STACK)  # innermost frames first
        where = text[-3000:] if start < 0 else text[start : start + 3000]
        what = f"the process ended during this test: {where}"
        finding = Finding(Kind.HANG, test, what, test=test)
        self.write(TestRecord(test, "hang", self.settings.limit_seconds, findings=[finding]))

    def write(self, record: TestRecord) -> None:
        """One more line."""
        with self.lines.open("a") as file:
            file.write(json.dumps(record.as_json()) + "\n")

    def run(self, done: list[str]) -> bool:
        """One process; whether it came to the end of the file."""
        tests = self.settings.tests
        if self.only is not None:
            tests = "^(" + "|".join(map(re.escape, self.only)) + ")$"
        Job(
            root=str(self.copy.root),
            packages=self.packages,
            lines=str(self.lines),
            pickles=str(self.settings.folder / "pickles"),
            done=done,
            tests=tests,
            seconds_per_test=self.settings.seconds_per_test,
        ).write(self.job)
        with self.log.open("w") as log:
            process = subprocess.Popen(
                [sys.executable, *_PYTEST, "--rootdir", str(self.copy.root), str(self.file)],
                cwd=self.copy.root,
                env=self.environment(),
                stdout=log,
                stderr=subprocess.STDOUT,
            )
            code = self.wait(process)
        if code is None:
            return False
        if code in (0, 1, 5):  # all passed, some failed, none was left
            self.write(TestRecord(_COLLECTION, "passed", 0.0))
            return True
        _, under_way = self.read()
        if under_way is None:  # it did not come to a test
            message = self.log.read_text(errors="replace")[-2000:]
            self.write(TestRecord(_COLLECTION, f"collection failed ({code})", 0.0, message=message))
            return True
        return False

    def environment(self) -> dict[str, str]:
        """The subprocess finds the copies first, and its job."""
        paths = [str(self.copy.root), os.environ.get("PYTHONPATH", "")]
        return {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "PYTHONHASHSEED": "0",
            VARIABLE: str(self.job),
        }

    def wait(self, process: subprocess.Popen[Any]) -> int | None:
        """The exit code, or None for a process that wrote no line for too long and was killed."""
        last, size = time.monotonic(), -1
        while process.poll() is None:
            time.sleep(0.05)
            now = self.lines.stat().st_size if self.lines.exists() else 0
            if now != size:
                last, size = time.monotonic(), now
            elif time.monotonic() - last > self.settings.limit_seconds:
                if hasattr(signal, "SIGUSR1"):
                    process.send_signal(signal.SIGUSR1)  # writes where it is
                    time.sleep(0.5)
                process.kill()
                process.wait()
                return None
        return process.returncode
