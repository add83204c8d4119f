"""NumPy's own tests with ``fusejit.numpy`` in place of ``numpy``: which tests end differently.

``python -m fusejit_testing.numpy_suites [FILE...]`` runs files of NumPy's tests such as
``_core/test_indexing``, by NumPy and by the namespace with threshold 0 and windows of 64. It prints
the tests that pass only by NumPy, and how many of all pass by both. Without files it runs `MAIN`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy

_IMPORTS = (
    (re.compile(r"^(\s*)import numpy as np$", re.MULTILINE), r"\1import fusejit.numpy as np"),
    (re.compile(r"^(\s*)from numpy import ", re.MULTILINE), r"\1from fusejit.numpy import "),
    (re.compile(r"^(\s*)from numpy\.random import ", re.M), r"\1from fusejit.numpy.random import "),
)
# functions of NumPy's tests that take any object for an ndarray, without a look at its type
_CRASHES = ("incref_elide",)
# each test catches warnings, and operations are recorded under its filters
_FIXTURE = """

@pytest.fixture(autouse=True)
def _operations_are_deferred():
    import fusejit.numpy

    with fusejit.numpy.window(64):
        yield
"""
_MAIN = "indexing multiarray numeric ufunc umath"
MAIN = tuple(f"_core/test_{name}" for name in _MAIN.split())
"""The files that docs/numpy.md gives a figure for."""

_ROOT = Path(numpy.__file__).parent
_SETTINGS = {"FUSEJIT_LAZY": "1", "FUSEJIT_LAZY_THRESHOLD": "0"}


def with_the_namespace(source: str) -> str:
    """Return the source of a test file whose imports of ``numpy`` are of ``fusejit.numpy``."""
    for pattern, replacement in _IMPORTS:
        source = pattern.sub(replacement, source)
    return source


def failures(name: str, by_numpy: bool, seconds: float = 900) -> tuple[dict[str, str], int]:
    """Run one file of NumPy's tests.

    Parameters
    ----------
    name : str
        The file, such as ``_core/test_indexing``.
    by_numpy : bool
        Whether NumPy runs the file as it is.

    Returns
    -------
    failed : dict
        Tests that fail, and the last lines of their errors.
    num_passed : int
    """
    part, _, file = name.partition("/")
    folder = _ROOT / part / "tests"
    source = (folder / f"{file}.py").read_text("utf-8")
    with tempfile.TemporaryDirectory(prefix="fusejit-suites-") as temporary:
        path = Path(temporary)
        path.joinpath("pytest.ini").write_text("[pytest]\n")
        conftest = (_ROOT / "conftest.py").read_text("utf-8")
        path.joinpath("conftest.py").write_text(conftest if by_numpy else conftest + _FIXTURE)
        test = path / f"{file}.py"
        test.write_text(source if by_numpy else with_the_namespace(source), "utf-8")
        for extra in folder.glob("data"):
            path.joinpath(extra.name).symlink_to(extra)
        report = path / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-x", "--maxfail=10000", "--tb=line"]
        options = ["-p", "no:cacheprovider", f"--junitxml={report}", "-m", "not slow", str(test)]
        options += ["-k", " and ".join(f"not {crash}" for crash in _CRASHES)]
        done = subprocess.run(
            [*command, *options],
            env={**os.environ, **_SETTINGS},
            cwd=path,
            capture_output=True,
            text=True,
            timeout=seconds,
        )
        if not report.exists():
            raise RuntimeError(f"{name} did not run:\n{done.stdout}\n{done.stderr}")
        return _read(report)


def _read(report: Path) -> tuple[dict[str, str], int]:
    failed: dict[str, str] = {}
    num_passed = 0
    for case in ElementTree.parse(report).iter("testcase"):
        test = f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}"
        for kind in ("failure", "error"):
            if (found := case.find(kind)) is not None:
                failed[test] = (found.get("message") or "").strip().split("\n")[0]
        if test not in failed and case.find("skipped") is None:
            num_passed += 1
    return failed, num_passed


KNOWN = Path(__file__).with_name("numpy_differences.txt")
"""Tests that pass only by NumPy: lines ``file test``, each group after a line ``# reason``."""


def known_differences() -> dict[str, dict[str, str]]:
    """Return, for each file of tests, those that are known to pass only by NumPy, with reasons."""
    known: dict[str, dict[str, str]] = {}
    reason = ""
    for line in KNOWN.read_text("utf-8").splitlines():
        if line.startswith("#"):
            reason = line.removeprefix("# ")
        elif line:
            file, _, test = line.partition(" ")
            known.setdefault(file, {})[test] = reason
    return known


def main(names: Sequence[str]) -> None:
    """Print the tests of each file that pass only by NumPy, and the figure of all files."""
    num_all = num_both = 0
    for name in names or MAIN:
        expected, num_by_numpy = failures(name, by_numpy=True)
        found, num_passed = failures(name, by_numpy=False)
        new = {test: text for test, text in found.items() if test not in expected}
        print(f"{name}: {num_passed} passed, {len(new)} only by NumPy", flush=True)
        for test, text in sorted(new.items()):
            print(f"    {test} -- {text}")
        num_all += num_by_numpy
        num_both += num_by_numpy - len(new)
    print(f"{num_both:,} of {num_all:,} tests that pass by NumPy pass with fusejit.numpy")


if __name__ == "__main__":
    main(sys.argv[1:])
