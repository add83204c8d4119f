"""The helper process that compiles windows ahead, and what this process does without it."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest

import fusejit.numpy as np
from fusejit.numpy import ahead, programs
from fusejit.numpy.programs import Program

SOURCE = """def window(x0, n1, m1, done):
    x1 = np.multiply(x0, n1)
    m1[...] = x1
    done[0] = 1
"""


@pytest.fixture(autouse=True)
def own_helper_and_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("FUSEJIT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("FUSEJIT_UNJITTED", raising=False)
    monkeypatch.setattr(ahead, "IS_ON", True)
    monkeypatch.setattr(ahead, "_HELPERS", [])
    yield
    for helper in ahead._HELPERS:
        if helper is not None:
            helper.stop()


def arguments() -> list[object]:
    return [numpy.arange(6.0)[::-1], 2.0, numpy.empty(6), numpy.zeros(1, numpy.int64)]


def test_the_helper_compiles_to_the_disk_cache(tmp_path: Path) -> None:
    number = ahead.ask(SOURCE, arguments())
    assert number == 1
    ahead.wait(number)
    files = {*(tmp_path / "cache").iterdir()}
    assert len(files) == 2  # a kernel and a note
    assert ahead.ask(SOURCE, arguments()) == 0  # there is a note
    program = Program(SOURCE)
    program.question = number
    given = arguments()
    program.run(given)
    numpy.testing.assert_array_equal(given[2], numpy.arange(10.0, -1.0, -2.0))
    assert {*(tmp_path / "cache").iterdir()} == files  # this process found the kernel


def test_a_helper_that_ends_is_done_without() -> None:
    number = ahead.ask(SOURCE, arguments())
    helper = ahead._HELPERS[0]
    assert helper is not None
    helper._process.kill()
    ahead.wait(number)
    assert ahead._HELPERS == [None]
    assert ahead.ask(SOURCE, arguments()) == 0
    given = arguments()
    Program(SOURCE).run(given)
    assert given[3] == [1]


def test_a_source_that_cannot_be_compiled_is_answered() -> None:
    ahead.wait(ahead.ask(SOURCE.replace("np.multiply", "np.no_such"), arguments()))
    assert ahead.ask(SOURCE, arguments()) == 2


@pytest.mark.parametrize("variable", ["FUSEJIT_LAZY_AHEAD", "FUSEJIT_CACHE"])
def test_no_helper(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "0")
    monkeypatch.setattr(ahead, "IS_ON", os.environ.get("FUSEJIT_LAZY_AHEAD") != "0")
    assert ahead.ask(SOURCE, arguments()) == 0
    assert ahead._HELPERS == [None]


def test_windows_ask_ahead_of_their_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_PROGRAMS", {})
    monkeypatch.setattr(programs, "ASK_SECONDS", (0.0, 0.0))
    monkeypatch.setattr(programs, "COMPILE_SECONDS", (0.0, 0.0))
    monkeypatch.setattr(programs, "LOAD_SECONDS", 0.0)
    np.report().clear()
    with np.threshold(0), np.window(64):
        x = np.arange(6.0)
        for _ in range(5):
            y = x * 2 + 1
        assert y.tolist() == [1, 3, 5, 7, 9, 11]
    helper = ahead._HELPERS[0]
    assert helper is not None
    assert helper.num_answered == 1
    assert np.report().runs == 3


def test_scripts_leave_no_helper_behind(tmp_path: Path) -> None:
    """Also where a child process is forked while the helper works."""
    code = """
import os, sys
import fusejit.numpy as np
from fusejit.numpy import ahead
import numpy
number = ahead.ask({source!r}, [numpy.ones(3), 2.0, numpy.ones(3), numpy.zeros(1, int)])
print(ahead._HELPERS[0]._process.pid, flush=True)
if hasattr(os, "fork"):
    child = os.fork()
    if not child:
        assert not ahead._HELPERS
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""
    environment = os.environ | {"FUSEJIT_LAZY": "1"}
    command = [sys.executable, "-W", "error", "-c", code.format(source=SOURCE)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert not done.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)


def _asked(source: str) -> tuple[int, bool]:
    number = ahead.ask(source, arguments())
    return number, ahead._HELPERS == [None]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_workers_of_a_pool_have_no_helper() -> None:
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(_asked, [SOURCE]) == (0, True)
