"""`explain(passes=True)` and ``FUSEJIT_DUMP=passes``: what each pass did."""

import re

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.pipeline import KERNEL_PASSES, PASSES


def centred(x, y):
    z = (x - x.mean(axis=0))[:, ::-1] * y
    return np.where(z > 0, z, 0).sum()


X, Y = np.ones((30, 4)), np.ones(4)
LINE = re.compile(
    r"    (?P<name>\S.*?) +(?P<ms>\d+\.\d\d)(?:   (?P<before>\d+) -> (?P<after>\d+))?"
)


def test_each_pass_is_told_in_order():
    text = fuse_jit(centred).explain(X, Y, passes=True)
    assert text.startswith(fuse_jit(centred).explain(X, Y))
    lines = text.split("\npasses: ")[1].splitlines()[1:]
    at_kernel = next(k for k, line in enumerate(lines) if line.startswith("  kernel 0, pass"))
    assert lines[0].startswith("  graph, pass")
    found = [LINE.fullmatch(line) for line in lines if line.startswith("    ")]
    assert [m["name"] for m in found] == [name for name, _ in (*PASSES, *KERNEL_PASSES)]
    assert len(found) == len(lines) - 2
    assert at_kernel == 1 + len(PASSES)
    changes = {m["name"]: (int(m["before"]), int(m["after"])) for m in found if m["before"]}
    before, after = changes["fold producers into consumers"]
    assert after < before  # ops are folded
    before, after = changes["reuse memory"]
    assert after < before


def test_without_fusion_nothing_is_folded():
    text = fuse_jit(fusion="none")(centred).explain(X, Y, passes=True)
    folds = [line for line in text.splitlines() if "fold producers into consumers  " in line]
    assert folds
    assert not any("->" in line for line in folds)


def test_each_kernel_has_its_passes():
    def two(x):
        return np.sort(x + 1, kind="stable")[0] + np.linalg.det(np.outer(x, x) + np.eye(len(x)))

    text = fuse_jit(two).explain(np.arange(3.0), passes=True)
    lowered = fuse_jit(two).trace(np.arange(3.0)).fuse().lower()
    assert text.count(", pass ") == 1 + len(lowered.sources)


def test_the_ir_behind_what_changed_it_is_printed(monkeypatch, capsys):
    monkeypatch.setenv("FUSEJIT_DUMP", "passes")
    fuse_jit(centred)(X, Y)
    printed = re.findall(r"^-- (.*) --$", capsys.readouterr().err, re.MULTILINE)
    assert "graph: fold producers into consumers" in printed
    assert "kernel 0: reuse memory" in printed
    assert "graph: unroll small reductions" not in printed  # there is none


def test_nothing_is_printed_for_a_log_without_details():
    stage = fuse_jit(centred).trace(X, Y)
    stage.fuse().lower()
    assert {record.of for record in stage.log.records} == {"graph", "kernel 0"}
    assert not any(record.lines for record in stage.log.records)


@pytest.mark.parametrize("passes", [False, True])
def test_what_python_runs_has_no_passes(passes):
    text = fuse_jit(lambda x: x.tofile("nowhere")).explain(X, passes=passes)
    assert "passes:" not in text
