"""The generated table of docs/mended.md: one row per file of ``tests/regressions``."""

from __future__ import annotations

import ast
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "regressions"


def regressions() -> str:
    """The table: area, symptom and cause, and a link to the test. Rows are sorted by area."""
    lines = ["area|symptom and cause|test", "-|-|-"]
    for path in regression_tests():
        area, name = path.parent.name, path.stem
        sentence = first_sentence(path).replace("|", "\\|")
        lines.append(f"{area}|{sentence}|[{name}](../tests/regressions/{area}/{name}.py)")
    return "\n".join(lines) + "\n"


def regression_tests() -> list[Path]:
    """All files of regression tests, by area and name."""
    return sorted(FOLDER.glob("*/test_*.py"))


def first_sentence(path: Path) -> str:
    """The first line of a module's docstring."""
    return (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").partition("\n")[0]
