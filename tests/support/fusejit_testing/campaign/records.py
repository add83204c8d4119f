"""What a campaign has done: one line of JSON for each run of seeds, in a file that grows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

KINDS = ("differences", "refusals", "faults")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of seeds of one family, of which each ``jit_every``-th is jitted as well."""

    family: str
    first: int
    count: int
    jit_every: int


@dataclass(slots=True)
class Outcome:
    """What became of the programs of some seeds.

    ``failures`` are their texts by kind: differences, refusals, and faults, among which are
    programs that end the process or do not end. ``ways`` counts how programs ran, where known.
    """

    programs: int = 0
    jitted: int = 0
    seconds: float = 0.0
    failures: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    ways: dict[str, int] = field(default_factory=dict)

    def add(self, other: Outcome) -> None:
        """Count those of other seeds as well."""
        self.programs += other.programs
        self.jitted += other.jitted
        self.seconds += other.seconds
        for kind, texts in other.failures.items():
            self.failures[kind] += texts
        for way, count in other.ways.items():
            self.note_way(way, count)

    def note_way(self, way: str, count: int = 1) -> None:
        """Count programs that ran in a way."""
        self.ways[way] = self.ways.get(way, 0) + count

    @property
    def num_failures(self) -> int:
        """All kinds together."""
        return sum(map(len, self.failures.values()))


class Record:
    """The file of a campaign, and what stands in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.done: dict[Chunk, Outcome] = {}
        if path.exists():
            for line in path.read_text("utf-8").splitlines():
                self.done.__setitem__(*_read(line))

    def add(self, chunk: Chunk, outcome: Outcome) -> None:
        """Note what became of a run of seeds."""
        self.done[chunk] = outcome
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**asdict(chunk), "outcome": asdict(outcome)}) + "\n")

    def by_family(self) -> dict[str, Outcome]:
        """All runs of each family together."""
        total: dict[str, Outcome] = {}
        for chunk, outcome in self.done.items():
            total.setdefault(chunk.family, Outcome()).add(outcome)
        return total

    def lines(self) -> Iterator[str]:
        """A table: one line per family, and the sum."""
        yield _LINE.format("family", "programs", "jitted", *KINDS, "seconds")
        families = self.by_family()
        total = Outcome()
        for outcome in families.values():
            total.add(outcome)
        for name, outcome in (*families.items(), ("all", total)):
            counts = (len(outcome.failures[kind]) for kind in KINDS)
            seconds = f"{outcome.seconds:.0f}"
            ways = "".join(f"  {way} {count}" for way, count in sorted(outcome.ways.items()))
            yield _LINE.format(name, outcome.programs, outcome.jitted, *counts, seconds) + ways


_LINE = "{:12}{:>10}{:>8}{:>13}{:>10}{:>8}{:>9}"


def _read(line: str) -> tuple[Chunk, Outcome]:
    data = json.loads(line)
    outcome = Outcome(**data.pop("outcome"))
    return Chunk(**data), outcome
