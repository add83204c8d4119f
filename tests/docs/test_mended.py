"""The table of repaired faults: each regression test has an area and says symptom and cause."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from fusejit_testing.mended_table import FOLDER, first_sentence, regression_tests

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "docs" / "mended.md"
MOST_FILES = 25
"""Files in one area."""
MOST_WORDS = 3000


def test_every_regression_test_has_an_area() -> None:
    files = regression_tests()
    assert len(files) > 150
    assert set(FOLDER.rglob("*.py")) == set(files)
    crowded = {
        area: n for area, n in Counter(f.parent.name for f in files).items() if n > MOST_FILES
    }
    assert not crowded, "split the area"


def test_first_lines_are_sentences_with_symptom_and_cause() -> None:
    """The table of docs/mended.md repeats these lines."""
    sentences = {path: first_sentence(path) for path in regression_tests()}
    for path, sentence in sentences.items():
        assert sentence.endswith("."), path
        assert len(sentence.split()) >= 6, path
    assert len(set(sentences.values())) == len(sentences)


def test_the_table_is_short() -> None:
    assert len(TABLE.read_text("utf-8").split()) <= MOST_WORDS
