"""The list of repaired bugs: one line per file of ``tests/regressions``.

``python -m fusejit_testing.regression_list [WORD]`` prints each test with
the first line of its docstring (symptom and cause), or only the lines that contain WORD.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "regressions"


def regressions(word: str = "") -> str:
    """Lines ``area/test: symptom and cause`` that contain a word, sorted by area."""
    lines = [f"{p.parent.name}/{p.stem}: {first_sentence(p)}" for p in regression_tests()]
    return "\n".join(line for line in lines if word.lower() in line.lower())


def regression_tests() -> list[Path]:
    """All files of regression tests, by area and name."""
    return sorted(FOLDER.glob("*/test_*.py"))


def first_sentence(path: Path) -> str:
    """The first line of a module's docstring."""
    return (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").partition("\n")[0]


if __name__ == "__main__":
    print(regressions(*sys.argv[1:]))
