"""Figures over many cases: geometric means per family, and the lost cases."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from statistics import geometric_mean

from benchmarks.own_engines import COPY
from benchmarks.records import CaseRecord

NO_CONTENDERS = ("numpy", COPY)

NOISE = 0.95
"""Ratios above this are not called slower: two runs of the same code differ by as much."""


def speedups(cases: Iterable[CaseRecord]) -> Iterator[tuple[CaseRecord, str, float]]:
    """All measured ratios NumPy / engine that are fair.

    Left out: NumPy itself, the yardstick, calls that were declined, and wrong results.
    """
    for case in cases:
        for engine, record in case.engines.items():
            if engine in NO_CONTENDERS or record.declined or record.mismatch:
                continue
            if record.speedup is not None:
                yield case, engine, record.speedup


def family_means(cases: Iterable[CaseRecord]) -> dict[str, dict[str, tuple[float, int]]]:
    """``family -> engine -> (geometric mean of the speedups, number of cases)``."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for case, engine, speedup in speedups(cases):
        found[case.family][engine].append(speedup)
    return {
        family: {engine: (geometric_mean(v), len(v)) for engine, v in engines.items()}
        for family, engines in found.items()
    }


def lost_cases(
    cases: Iterable[CaseRecord], engine: str, below: float = NOISE
) -> list[tuple[CaseRecord, float]]:
    """Cases where `engine` is slower than NumPy, the worst first."""
    lost = [(case, s) for case, name, s in speedups(cases) if name == engine and s < below]
    return sorted(lost, key=lambda entry: entry[1])
