"""Random programs with identity tests and annotations, rebound parts, forks, lists and sets.

More of them by hand: ``python -m fusejit_testing.campaign --families identities rebinding sets``.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fusejit_testing.campaign.families import FAMILIES
from fusejit_testing.programs.fork_programs import fork_program
from fusejit_testing.programs.held_programs import held_program, state_program
from fusejit_testing.programs.identities import ANNOTATIONS, identity_program
from fusejit_testing.programs.list_programs import check_lists, list_program, set_program
from fusejit_testing.programs.rebinding_programs import check_rebinding
from fusejit_testing.programs.row_programs import row_program
from fusejit_testing.programs.text_programs import text_program

BATCH = 20


@pytest.mark.parametrize("first", range(0, 60, BATCH))
def test_identities_and_annotations(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + BATCH):
        FAMILIES["identities"].check(seed, seed % BATCH == 0, tmp_path)


@pytest.mark.parametrize("first", range(0, 60, BATCH))
def test_rebinding(first: int, tmp_path: Path) -> None:
    ways = [check_rebinding(seed, tmp_path) for seed in range(first, first + BATCH)]
    assert ways.count("compared") > 0.8 * BATCH, ways


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
def test_forks(tmp_path: Path) -> None:
    for seed in range(BATCH):
        FAMILIES["forks"].check(seed, False, tmp_path)


def test_programs_have_all_kinds_of_statements() -> None:
    text = "".join(identity_program(seed).text for seed in range(300))
    parts = (" is not ", " is True", " is np.True_", " is ...", "match ", "def f(a: ", ": Missing")
    assert all(part in text for part in parts)
    first_lines = {each.split("\n")[0].split("{0}")[-1] for each in ANNOTATIONS}
    assert all(line in text for line in first_lines)
    forks = [fork_program(seed).text for seed in range(50)]
    assert 10 < sum("fork()" in text for text in forks) < 45


def test_lists(tmp_path: Path) -> None:
    ways = [check_lists(list_program(seed), tmp_path) for seed in range(3 * BATCH)]
    assert ways.count("whole") > 0.25 * len(ways), ways
    assert ways.count("skipped") < 0.1 * len(ways), ways


def test_sets(tmp_path: Path) -> None:
    ways = [check_lists(set_program(seed), tmp_path) for seed in range(2 * BATCH)]
    assert ways.count("whole") > 0.25 * len(ways), ways
    assert ways.count("skipped") < 0.1 * len(ways), ways


def test_lists_in_tuples(tmp_path: Path) -> None:
    ways = [check_lists(held_program(seed), tmp_path) for seed in range(BATCH)]
    assert ways.count("whole") > 0.25 * len(ways), ways
    assert ways.count("skipped") < 0.1 * len(ways), ways


def test_tuples_of_any_length(tmp_path: Path) -> None:
    ways = [check_lists(state_program(seed), tmp_path) for seed in range(BATCH)]
    assert ways.count("whole") > 0.25 * len(ways), ways
    assert ways.count("skipped") < 0.1 * len(ways), ways


def test_programs_of_sets_do_all_to_them() -> None:
    text = "".join(set_program(seed).text for seed in range(300))
    parts = (
        *(
            ".add(",
            ".discard(",
            ".remove(",
            ".clear()",
            ".update(",
            ".union(",
            " | ",
            " &= ",
            " ^= ",
        ),
        *("e = z\n", "z = set()", "except KeyError", "sorted(z)", "sum(z)", " in z", "noted("),
        *("p.add((", "d.setdefault(", "del d[", "list(z)", ".isdisjoint(", " <= e", "z is e"),
    )
    assert all(part in text for part in parts), [part for part in parts if part not in text]


def test_programs_of_lists_do_all_to_them() -> None:
    text = "".join(list_program(seed).text for seed in range(300))
    methods = (
        ".append(",
        ".pop(0)",
        ".insert(",
        ".sort(",
        ".reverse()",
        "del ",
        " = b\n",
        "while ",
    )
    parts = (
        *methods,
        "r.append(a)",
        "except IndexError",
        "return [a, a]",
        "np.nan",
        "2**62",
        "pushed(",
    )
    assert all(part in text for part in parts)


def test_texts(tmp_path: Path) -> None:
    for seed in range(2 * BATCH):
        FAMILIES["texts"].check(seed, seed % BATCH == 0, tmp_path)


def test_rows(tmp_path: Path) -> None:
    for seed in range(BATCH):
        FAMILIES["rows"].check(seed, seed % BATCH == 0, tmp_path)


def test_programs_of_rows_do_all_to_them() -> None:
    text = "".join(row_program(seed).text for seed in range(300))
    parts = ("a.append(", "b.append(", "[-1][:1] = ", "out=", "a.pop()", "return a, v", "if m > 2")
    assert all(part in text for part in parts)


def test_programs_of_texts_do_all_to_them() -> None:
    text = "".join(text_program(seed).text for seed in range(300))
    parts = ("o += ", "o = ''", "h = None", ".count(", ".isalpha()", "VALUES[", ".popleft()", "d[")
    assert all(part in text for part in parts)
