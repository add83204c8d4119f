"""NumPy's own tests pass with ``fusejit.numpy``, but for a list of differences with reasons.

Every array of numbers is an `Array` there, and operations are deferred.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fusejit_testing import numpy_suites
from fusejit_testing.numpy_suites import MAIN, failures, known_differences, with_the_namespace

_CORE = (
    "dlpack einsum errstate function_base indexing item_selection mem_overlap multiarray "
    "nditer nep50_promotions numeric regression shape_base ufunc umath"
)
_LIB = (
    "arraypad arraysetops function_base histograms index_tricks io nanfunctions polynomial "
    "shape_base stride_tricks twodim_base type_check ufunclike"
)
SUITES = (
    *(f"_core/test_{name}" for name in _CORE.split()),
    *(f"lib/test_{name}" for name in _LIB.split()),
    *("linalg/test_linalg", "fft/test_pocketfft"),
    *("random/test_generator_mt19937", "random/test_randomstate"),
)


@pytest.mark.deep
@pytest.mark.parametrize("name", SUITES)
def test_a_suite(name: str) -> None:
    by_numpy, _ = failures(name, by_numpy=True)
    found, num_passed = failures(name, by_numpy=False)
    assert num_passed
    known = set(known_differences().get(name, {}))
    assert set(found) - set(by_numpy) == known, "update fusejit_testing/numpy_differences.txt"


def test_a_short_suite() -> None:
    """One that takes two seconds runs each time."""
    name = "_core/test_indexing"
    found, num_passed = failures(name, by_numpy=False)
    assert num_passed > 90
    assert set(found) == set(known_differences()[name])


def test_each_difference_has_a_reason() -> None:
    known = known_differences()
    assert set(known) <= set(SUITES)
    assert all(len(reason) > 20 for tests in known.values() for reason in tests.values())


def test_imports_are_replaced() -> None:
    source = "import numpy as np\nfrom numpy import sin, pi\nimport numpy.random as random\n"
    assert with_the_namespace(source).splitlines()[:2] == [
        "import fusejit.numpy as np",
        "from fusejit.numpy import sin, pi",
    ]


def test_the_document_gives_the_figure_of_the_list() -> None:
    """docs/numpy.md names the command, and as many tests fail as numpy_differences.txt lists."""
    document = (Path(__file__).parents[2] / "docs" / "numpy.md").read_text("utf-8")
    assert "`python -m fusejit_testing.numpy_suites`" in document
    found = re.search(r"([\d,]+)\s+of\s+([\d,]+)\s+tests", document)
    assert found is not None
    passed, every = (int(figure.replace(",", "")) for figure in found.groups())
    assert every - passed == sum(len(known_differences()[name]) for name in MAIN)
    assert set(MAIN) <= set(SUITES)


def test_the_command_prints_the_figure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that fail by NumPy count in no figure."""
    outcomes = {True: ({"a": "fails"}, 1_200), False: ({"a": "fails", "b": "differs"}, 1_199)}
    monkeypatch.setattr(
        numpy_suites, "failures", lambda name, by_numpy, seconds=0: outcomes[by_numpy]
    )
    numpy_suites.main([])
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [f"{MAIN[0]}: 1199 passed, 1 only by NumPy", "    b -- differs"]
    assert lines[-1] == "5,995 of 6,000 tests that pass by NumPy pass with fusejit.numpy"


def test_the_command_runs_one_file(capsys: pytest.CaptureFixture[str]) -> None:
    numpy_suites.main(["_core/test_indexing"])
    last = capsys.readouterr().out.splitlines()[-1]
    assert re.fullmatch(r"1\d\d of 1\d\d tests that pass by NumPy pass with fusejit.numpy", last)
