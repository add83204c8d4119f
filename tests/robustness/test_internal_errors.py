"""A fault of fusejit itself: the error says where the IR was saved; the next call starts anew."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fusejit.pipeline
from fusejit import fuse_jit
from fusejit.errors import InternalError
from fusejit.ir.parser import parse_graph
from fusejit.ir.verifier import verify
from fusejit.testing.compare import assert_same

pytestmark = pytest.mark.usefixtures("unjitted")


def update(x: Any) -> Any:
    x[1:] -= x[:-1]
    return x * 2


def fail(*args: Any, **kwargs: Any) -> Any:
    raise ZeroDivisionError("a fault")


def broken_passes() -> Any:
    first, *others = fusejit.pipeline.PASSES
    return (first, ("break it", fail), *others)


@pytest.mark.parametrize("stage", ["pass", "lower", "emit"])
def test_the_ir_in_front_of_a_failing_pass_is_saved(
    stage: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FUSEJIT_DUMP_DIR", str(tmp_path))
    fused = fuse_jit(update)
    x = np.arange(4.0)
    with monkeypatch.context() as broken:
        if stage == "pass":
            broken.setattr(fusejit.pipeline, "PASSES", broken_passes())
        else:
            broken.setattr(fusejit.pipeline, {"lower": "lower", "emit": "emit_kernel"}[stage], fail)
        for call in (fused, fused.explain):
            with pytest.raises(InternalError, match="'update'") as caught:
                call(x)
            assert isinstance(caught.value.__cause__, ZeroDivisionError)
            assert "enabled=False" in str(caught.value)
            np.testing.assert_array_equal(x, np.arange(4.0))
    assert len(fused.variants) == 0
    saved = sorted(tmp_path.iterdir())
    assert len(saved) == 2
    assert str(saved[0]) in str(caught.value) or str(saved[1]) in str(caught.value)
    first, _, text = saved[0].read_text().partition("\n")
    remaining = [name for name, _ in fusejit.pipeline.PASSES[1:]]
    expected = ["break it", *remaining] if stage == "pass" else ["lower", "emit"]
    assert re.fullmatch("# passes to run: (.*)", first)[1].split(", ") == expected  # type: ignore[index]
    graph = parse_graph(text)
    verify(graph)
    assert graph.name == "update"
    expected_result = update(np.arange(4.0))
    assert_same(expected_result, fused(x))  # the fault is gone, nothing of it is left


NO_TEMPORARY_FOLDER = """
import tempfile

def none():
    raise FileNotFoundError("No usable temporary directory found")

tempfile.gettempdir = none

import numpy as np
import fusejit.pipeline
from fusejit import fuse_jit
from fusejit.errors import InternalError

f = fuse_jit(lambda x: x * 2 + 1)
assert (f(np.arange(3.0)) == [1, 3, 5]).all()

def fail(*args):
    raise ZeroDivisionError

fusejit.pipeline.lower = fail
try:
    f(np.ones((2, 2)))
except InternalError as error:
    assert "could not be saved (No usable" in str(error), error
else:
    raise AssertionError
"""


def test_no_folder_for_temporary_files(tmp_path: Path, run_python: Any) -> None:
    """As in containers that may write nowhere: importing fusejit failed there."""
    script = tmp_path / "no_temporary_folder.py"
    script.write_text(NO_TEMPORARY_FOLDER)
    run_python(script, FUSEJIT_DUMP_DIR="")
