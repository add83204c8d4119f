"""A fault of fusejit itself: NumPy runs the call, and a warning says where the report is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fusejit.pipeline
import fusejit.stages
from fusejit import FuseWarning, fuse_jit
from fusejit.errors import InternalError
from fusejit.ir.text.parser import parse_graph
from fusejit.ir.verifier.verify import verify
from fusejit_testing.compare import assert_same

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
            broken.setattr(fusejit.stages, {"lower": "lower", "emit": "emit_kernel"}[stage], fail)
        with pytest.warns(
            FuseWarning, match=r"'update' \(ZeroDivisionError: a fault\).*report"
        ) as w:
            assert_same(update(np.arange(4.0)), fused(x))
        assert_same(update(np.arange(4.0)), fused(np.arange(4.0)))  # one warning
        assert len(w) == 1
        np.testing.assert_array_equal(x, [0, 1, 1, 1])
        assert str(w[0].message).split(": ", 1)[1].split("; ")[0] in repr(fused.variants)
        assert "'update' (ZeroDivisionError: a fault)" in fused.explain(x)
        strict = fuse_jit(fullgraph=True)(update)
        for call in (strict, strict.explain, strict):
            with pytest.raises(InternalError, match="'update'") as caught:
                call(x)
            assert isinstance(caught.value.__cause__, ZeroDivisionError)
            assert "enabled=False" in str(caught.value)
    assert len(fused.variants) == 0
    saved = sorted(tmp_path.iterdir())
    assert len(saved) == 4  # of a fault that is known `explain` makes no other
    assert sum(str(file) in str(caught.value) for file in saved) == 1
    assert sum(str(file) in str(w[0].message) for file in saved) == 1
    first, _, text = saved[0].read_text().partition("\n")
    remaining = [name for name, _ in fusejit.pipeline.PASSES[1:]]
    expected = ["break it", *remaining] if stage == "pass" else ["lower", "emit"]
    assert re.fullmatch("# passes to run: (.*)", first)[1].split(", ") == expected  # type: ignore[index]
    graph = parse_graph(text)
    verify(graph)
    assert graph.name == "update"
    for told in (f"numpy {np.__version__}", "Python 3", "ZeroDivisionError: a fault", "Traceback"):
        assert f"# {told}" in text
    assert_same(update(np.arange(4.0)), strict(np.arange(4.0)))  # nothing of the fault is left
    assert len(strict.variants) == 1


NO_TEMPORARY_FOLDER = """
import tempfile
import warnings

def none():
    raise FileNotFoundError("No usable temporary directory found")

tempfile.gettempdir = none

import numpy as np
import fusejit.stages
from fusejit import FuseWarning, fuse_jit
from fusejit.errors import InternalError

f = fuse_jit(lambda x: x * 2 + 1)
assert (f(np.arange(3.0)) == [1, 3, 5]).all()

def fail(*args):
    raise ZeroDivisionError

fusejit.stages.lower = fail
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    assert (f(np.ones((2, 2))) == 3).all()
(warned,) = seen
assert "could not be saved (No usable" in str(warned.message), warned
"""


def test_no_folder_for_temporary_files(tmp_path: Path, run_python: Any) -> None:
    """As in containers that may write nowhere: importing fusejit failed there."""
    script = tmp_path / "no_temporary_folder.py"
    script.write_text(NO_TEMPORARY_FOLDER)
    run_python(script, FUSEJIT_DUMP_DIR="")
