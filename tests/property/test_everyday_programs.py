"""Random programs as people write them: strings, tables from outside, classes and recursions.

More of them by hand: ``python -m fusejit_testing.campaign --families strings tables classes``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fusejit_testing.campaign.families import FAMILIES
from fusejit_testing.programs.everyday.check import GRAMMARS, everyday_program

COUNTS = {"strings": 20, "tables": 16, "classes": 16, "recursions": 10}
WORDS = {
    "strings": ("int(text", ".split(", " * 2", "f'", "str(k)", "min(", ".replace(", "[::-1]"),
    "tables": (".items()", ".get(", " in PRICES", "COUNTS[", ".add(", "len(s)", "sorted(p"),
    "classes": (" += Point", ".norm", "e.add(", "c.withdraw(", "sorted(points", "p.x, p.y"),
    "recursions": ("steps(", "kept(", "subsets(", "nested(", "flat(tree", "pick(", "tick("),
}


@pytest.mark.parametrize("family", GRAMMARS)
def test_programs(family: str, tmp_path: Path) -> None:
    count = COUNTS[family]
    ways = [FAMILIES[family].check(seed, seed == 0, tmp_path) for seed in range(count)]
    assert ways.count("whole") + ways.count("segments") > 0.7 * count, ways


@pytest.mark.parametrize("family", GRAMMARS)
def test_programs_do_all_to_them(family: str) -> None:
    text = "".join(everyday_program(family, seed).text for seed in range(300))
    assert not [word for word in WORDS[family] if word not in text]
