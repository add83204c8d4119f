"""The scripts of `benchmarks.scripts` with the import line changed: the same output to 12 digits.

Each new array is an `Array`, however small, and 64 operations may wait.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import fusejit.numpy as np
from benchmarks.scripts import FOLDER, SCRIPTS, Script
from benchmarks.scripts.outputs import agree, difference
from benchmarks.scripts.run import run


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_a_script(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(script.needs)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    _, expected = run(script, "", "numpy")
    assert len(expected.split()) >= 8
    with np.threshold(0), np.window(64):
        _, found = run(script, "", "fusejit.numpy")
    assert not difference(expected, found)


def test_every_file_is_listed() -> None:
    files = set(FOLDER.glob("*/*.py"))
    assert files == {script.path for script in SCRIPTS}
    assert len(SCRIPTS) == 40


def test_the_import_line_is_replaced() -> None:
    for script in SCRIPTS:
        assert script.source("numpy") == script.path.read_text("utf-8")
        assert "\nimport fusejit.numpy as np\n" in script.source("fusejit.numpy")


def test_a_script_runs_in_a_folder_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "area" / "writes.py"
    path.parent.mkdir()
    path.write_text(
        "import sys\n\nimport numpy as np\n\nnp.save('x', np.arange(int(sys.argv[1])))\n"
        "print(np.load('x.npy').sum(), len(sys.argv), __name__)\n"
    )
    script = Script(str(path.parent), "writes", 1)
    seconds, output = run(script, "5", "numpy")
    assert output == "10 2 __main__\n"
    assert seconds > 0
    assert [each.name for each in tmp_path.rglob("*")] == ["area", "writes.py"]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (1.0, 1.0 + 1e-11, True),  # one unit of the twelfth digit
        (1.0, 1.0 + 3e-11, False),
        (0.999999999999, 1.0, True),
        (-2e-300, -2.00000000001e-300, True),
        (-2e-300, 2e-300, False),
        (0.0, 1e-300, False),
        (math.inf, math.inf, True),
        (math.inf, 1.0, False),
    ],
)
def test_numbers_agree_to_12_digits(a: float, b: float, expected: bool) -> None:
    assert agree(a, b) is expected
    assert agree(b, a) is expected


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        ("mean 0.123456789012", "mean 0.123456789013"),
        ("x=1.5e-05 y", "x=1.50000000000e-05 y"),
        ("[ 1.   2.5]", "[1.  2.5]"),
        ("1", "0.999999999999"),  # both of .12g
        ("nan inf -inf", "nan inf -inf"),
        ("step2 3", "step2 3"),
    ],
)
def test_outputs_that_agree(expected: str, found: str) -> None:
    assert difference(expected, found) == ""


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        ("mean 0.123456789012", "mean 0.123456789015"),
        ("1000000000000", "1000000000001"),  # an integer
        ("mean 1.5", "mean nan"),
        ("step2 3", "step3 3"),
        ("a 1\nb 2", "a 1"),
        ("True", "False"),
        ("1.5 2", "-1.5 2"),
        ("1", "1.0"),  # an int and a float
    ],
)
def test_outputs_that_differ(expected: str, found: str) -> None:
    assert difference(expected, found)
