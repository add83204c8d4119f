"""Cells that are run again, and modules that are edited: a function is compiled as it is now.

Regression: A variant was right for one code object alone, so each new run of a helper's cell made
another. After eight of them Python ran the next calls, after 32 all calls; so it was after eight
edits of the function itself by ``%autoreload``. What Python ran because of its helper stayed
Python's when the helper was edited.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.segments.find_dispatcher import dispatcher_of
from fusejit.variants import Variants
from fusejit_testing.shells import ipython_shell

EDITS = 12  # more than there may be variants of one signature

SUMMED = """
@fuse_jit
def summed(x):
    s = 0.0
    for i in range(len(x)):
        s += {call}
    return s
"""
X = np.arange(1.0, 5.0)


def variants_of(function: Any) -> Variants:
    state = dispatcher_of(function)
    assert state is not None
    return state.variants


class Notebook:
    """Cells are run; each must give what plain Python gives, by one variant."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.run("import numpy as np, os, sys\nfrom fusejit import fuse_jit\nX = np.arange(1., 5.)")

    def run(self, cell: str) -> Any:
        """What the last expression of a cell gives."""
        done = self.shell.run_cell(cell)
        done.raise_error()
        return done.result

    def is_compiled(self) -> bool:
        """Whether one variant serves the calls."""
        variants = variants_of(self.shell.user_ns["summed"])
        return len(variants) == 1 and not variants.fallbacks and variants.segmented is None


@pytest.fixture
def notebook() -> Iterator[Notebook]:
    """A notebook in which fusejit is imported."""
    with ipython_shell() as shell:
        yield Notebook(shell)


def test_a_helpers_cell_runs_again(notebook: Notebook) -> None:
    helper = "def helper(v):\n    return 2 * v"
    notebook.run(helper)
    notebook.run(SUMMED.format(call="helper(x[i])"))
    for _ in range(EDITS):
        assert notebook.run("summed(X)") == 20.0
        assert notebook.is_compiled()
        before = variants_of(notebook.shell.user_ns["summed"]).compiled
        notebook.run(helper)
        assert notebook.run("summed(X)") == 20.0
        assert variants_of(notebook.shell.user_ns["summed"]).compiled is before


def test_a_helper_is_edited(notebook: Notebook) -> None:
    notebook.run("def helper(v):\n    return v")
    notebook.run(SUMMED.format(call="helper(x[i])"))
    for k in range(EDITS):
        notebook.run(f"def helper(v):\n    return {k} * v")
        assert notebook.run("summed(X)") == 10.0 * k
        assert notebook.is_compiled()


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_a_helper_is_edited_after_which_it_can_be_compiled(notebook: Notebook) -> None:
    notebook.run("def helper(v):\n    return v + len(os.listdir('/')) * 0")
    notebook.run(SUMMED.format(call="helper(x[i])"))
    assert notebook.run("summed(X)") == 10.0
    assert not notebook.is_compiled()
    notebook.run("def helper(v):\n    return v + 1")
    assert notebook.run("summed(X)") == 14.0
    assert notebook.is_compiled()


def test_a_helper_of_a_module_is_edited(notebook: Notebook, tmp_path: Path) -> None:
    path = tmp_path / "helpers_that_are_edited.py"
    path.write_text("def helper(v):\n    return v\n")
    notebook.run(f"sys.path.insert(0, {str(tmp_path)!r})\nimport {path.stem} as helpers")
    notebook.run(SUMMED.format(call="helpers.helper(x[i])"))
    try:
        for k in range(EDITS):
            path.write_text(f"def helper(v):\n    return {'1 * ' * k}v\n")
            importlib.invalidate_caches()
            notebook.run("import importlib\nhelpers = importlib.reload(helpers)")
            assert notebook.run("summed(X)") == 10.0
            assert notebook.is_compiled()
    finally:
        sys.path.remove(str(tmp_path))
        del sys.modules[path.stem]


@pytest.mark.parametrize("of", ["of", "Weight(3.0)"])
def test_a_classs_cell_runs_again(notebook: Notebook, of: str) -> None:
    made = "class Weight:\n    def __init__(self, w):\n        self.w = w\nweight = Weight(3.0)"
    notebook.run(made)
    notebook.run(SUMMED.format(call=f"x[i] * {of}.w").replace("summed(x)", "summed(x, of)"))
    for _ in range(EDITS):
        assert notebook.run("summed(X, weight)") == 30.0
        assert notebook.is_compiled()
        notebook.run(made)


def test_a_classs_cell_runs_again_and_a_list_has_its_objects(notebook: Notebook) -> None:
    made = "class Weight:\n    def __init__(self, w):\n        self.w = w\n"
    made += "many = [Weight(3.0) for _ in range(9)]"
    notebook.run(made)
    program = SUMMED.format(call="x[i] * sum(w.w for w in many)")
    notebook.run(program.replace("summed(x)", "summed(x, many)"))
    for _ in range(EDITS):
        assert notebook.run("summed(X, many)") == 270.0
        assert notebook.is_compiled()
        notebook.run(made)


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_a_classs_cell_runs_again_and_segments_have_its_objects(notebook: Notebook) -> None:
    made = "class Weight:\n    def __init__(self, w):\n        self.w = w\nweight = Weight(3.0)"
    notebook.run(made)
    call = "x[i] * of.w\n    os.listdir('/')"
    notebook.run(SUMMED.format(call=call).replace("summed(x)", "summed(x, of)"))
    for _ in range(EDITS):
        assert notebook.run("summed(X, weight)") == 30.0
        (split,) = variants_of(notebook.shell.user_ns["summed"]).all_segmented
        states = [call.state for call in split.segments if call.state is not None]
        assert [len(state.variants) for state in states if len(state.variants)] == [1]
        notebook.run(made)


def test_a_helper_is_left_to_python_and_edited(notebook: Notebook) -> None:
    """Before anything was traced, as no call could have gained from it."""
    notebook.run("def helper(n):\n    return n + 1")
    notebook.run("from fusejit_testing.oracle import decorate\n")
    notebook.run(
        "def summed(n):\n    return helper(n)\nsummed = decorate(summed, jit=True, tiering=True)"
    )
    notebook.run("for _ in range(300):\n    summed(3)")
    assert not len(variants_of(notebook.shell.user_ns["summed"]))
    notebook.run("def helper(n):\n    return sum(i % 7 for i in range(n))")
    notebook.run("for _ in range(200):\n    summed(20_000)")
    assert notebook.is_compiled()


def test_code_is_assigned() -> None:
    def compiled(k: int) -> Any:
        names: dict[str, Any] = {"fuse_jit": fuse_jit}
        exec(SUMMED.format(call=f"{k} * x[i]"), names)
        return names["summed"]

    function = compiled(0)
    for k in range(EDITS):
        assert function(X) == 10.0 * k
        assert len(variants_of(function)) == 1
        assert not variants_of(function).fallbacks
        function.__code__ = compiled(k + 1).__code__


def test_a_helper_is_edited_where_no_cells_are() -> None:
    names: dict[str, Any] = {"fuse_jit": fuse_jit}
    exec(SUMMED.format(call="helper(x[i])"), names)
    for k in range(3 * EDITS):
        exec(f"def helper(v):\n    return {k} * v", names)
        assert names["summed"](X) == 10.0 * k
        assert not variants_of(names["summed"]).fallbacks


def test_equal_code_that_reads_other_globals() -> None:
    """Regression: A helper of another module with the same statements kept the old one's globals.

    Also where both are made of one code object.
    """
    helper = "def helper(v):\n    return v * scale"
    text = compile(helper, "one file", "exec")
    spaces: list[dict[str, Any]] = [{"scale": k} for k in (2.0, 3.0, 5.0, 7.0)]
    for at, names in enumerate(spaces):
        exec(text if at % 2 else helper, names)
    own: dict[str, Any] = {"fuse_jit": fuse_jit, "scale": 11.0}
    exec(SUMMED.format(call="helper(x[i])"), own)
    for code in (helper, text):
        exec(code, own)
        assert own["summed"](X) == 110.0
        for names in spaces:
            own["helper"] = names["helper"]
            assert own["summed"](X) == 10.0 * names["scale"]
