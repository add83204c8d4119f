"""The list of repaired bugs: each regression test has an area and says symptom and cause."""

from __future__ import annotations

from collections import Counter

from fusejit_testing.regression_list import FOLDER, first_sentence, regression_tests, regressions

MAX_FILES = 25
"""Files in one area."""


def test_every_regression_test_has_an_area() -> None:
    files = regression_tests()
    assert len(files) > 150
    assert set(FOLDER.rglob("*.py")) == set(files)
    crowded = {
        area: n for area, n in Counter(f.parent.name for f in files).items() if n > MAX_FILES
    }
    assert not crowded, "split the area"


def test_first_lines_are_sentences_with_symptom_and_cause() -> None:
    """`fusejit_testing.regression_list` prints these lines."""
    sentences = {path: first_sentence(path) for path in regression_tests()}
    for path, sentence in sentences.items():
        assert sentence.endswith("."), path
        assert len(sentence.split()) >= 6, path
    assert len(set(sentences.values())) == len(sentences)


def test_the_list_is_searched_by_word() -> None:
    assert len(regressions().splitlines()) == len(regression_tests())
    found = regressions("unboundlocalerror").splitlines()
    assert 0 < len(found) < 20
    assert all("UnboundLocalError" in line for line in found)
