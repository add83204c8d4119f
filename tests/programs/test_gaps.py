"""The file of gaps of a corpus is read, and written with what a run has found."""

from __future__ import annotations

from pathlib import Path

from fusejit_testing.gaps import Gaps


def test_lines_of_programs_that_ran_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "gaps.txt"
    path.write_text("a unjitted: wrong: old\nb unjitted: slow: not run\nc jitted: plain: x\n")
    gaps = Gaps(path, Path("/clone/of/it"))
    assert gaps.known["b", "unjitted"] == "slow: not run"
    assert gaps.try_now("a", "unjitted") == "wrong: old"
    assert gaps.try_now("c", "jitted") == "plain: x"
    assert gaps.try_now("d", "jitted") == ""
    text = gaps.note("d", "jitted", "refused:\n  /clone/of/it/d.py:3   " + "why" * 100)
    assert text.startswith("refused: d.py:3 why")
    assert len(text) == 200
    gaps.note("c", "jitted", "plain: y")
    gaps.write("abcd", ("unjitted", "jitted"))
    assert path.read_text() == f"b unjitted: slow: not run\nc jitted: plain: y\nd jitted: {text}\n"
