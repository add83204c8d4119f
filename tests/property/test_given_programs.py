"""Random programs over objects, lists and dictionaries that the caller gives and keeps.

More by hand: ``python -m fusejit_testing.campaign --families objects dictionaries given_lists``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fusejit_testing.campaign.families import FAMILIES
from fusejit_testing.programs.given.check import GIVEN, Way, assert_equal, given_program
from fusejit_testing.programs.mutation_programs import MutationProgram, Parameter, parse

COUNTS = {"objects": 24, "dictionaries": 24, "given_lists": 12}
WORDS = {
    "objects": (
        *(
            "__slots__",
            "@dataclass(order=True)",
            "@cached_property",
            "(NamedTuple)",
            "__set_name__",
        ),
        *(".half = ", ".scale = ", "del it.", "hasattr(", "setattr(", "isinstance(", " *= 2"),
        *(".sort(key=", ".index(", ".remove(", "[1:3] = []", "Heavy(", "2**63", " is not "),
    ),
    "dictionaries": (" | ", " |= ", "{**", ".update(x", ".copy()", ".popitem()", "dict(zip("),
    "given_lists": ("f(a, b", "f(a, r", " a.append(", "a[:] = b", "a *= 2", "return "),
}


@pytest.mark.parametrize("family", GIVEN)
def test_programs(family: str, tmp_path: Path) -> None:
    count = COUNTS[family]
    ways = [FAMILIES[family].check(seed, seed == 0, tmp_path) for seed in range(count)]
    assert ways.count("declined") + ways.count("skipped") < 0.4 * count, ways


@pytest.mark.parametrize("family", GIVEN)
def test_programs_do_all_to_them(family: str) -> None:
    programs = [given_program(family, seed) for seed in range(300)]
    text = "".join(each.outside + each.text for each in programs)
    assert not [word for word in WORDS[family] if word not in text]


CHANGES = {
    "a type": "xs[0] = float(xs[0])",
    "an object": "xs[1] = Box(2)",
    "an attribute": "xs[1].more = 1",
    "the order": "xs.reverse()",
    "a class": "Box.size = 4",
    "an error": "xs[9]",
}


@pytest.mark.parametrize("change", CHANGES)
def test_each_difference_is_seen(change: str, tmp_path: Path) -> None:
    outside = "class Box:\n    size = 3\n    def __init__(self, n):\n        self.n = n\n\n\n"
    beginning = "xs[:] = [1, Box(2), Box(2)]\nxs[2] = xs[1]"
    outcomes = []
    for body in (beginning, f"{beginning}\n{CHANGES[change]}"):
        parameters = (Parameter("xs", "nums", (), "value"),)
        call = {"at": 0, "flavour": 0, "again": 0}
        program = MutationProgram(
            1, parameters, parse(body), ("xs",), "one", (call,), outside=outside
        )
        way = Way(program, tmp_path)
        outcomes.append(way.run(way.function, call))
    assert_equal(outcomes[0], outcomes[0], "call 0")
    with pytest.raises(AssertionError):
        assert_equal(outcomes[0], outcomes[1], "call 0")
