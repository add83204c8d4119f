"""The project's speed bars: what must hold before a version may be called good."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from benchmarks.records import CaseRecord, EngineRecord
from benchmarks.summary import NOISE
from benchmarks.workload import FLOATS
from benchmarks.workloads import by_name

Verdict = Literal["pass", "miss", "not measured"]

SINGLE_UFUNC_ALLOWANCE_NS = 500.0
SINGLE_UFUNC_SIZE = 10_000
NEVER_SLOWER = ("elementwise", "broadcast", "reduction")


@dataclass(frozen=True)
class Bar:
    """One bar.

    Parameters
    ----------
    name
        As in the list of bars.
    applies
        Which cases it speaks about; the worst of them decides.
    figure
        What is compared: larger is better.
    least
        The figure must reach this.
    unit
        Printed after figures.
    """

    name: str
    applies: Callable[[CaseRecord], bool]
    figure: Callable[[EngineRecord, EngineRecord], float]
    least: float
    unit: str = "x"


@dataclass(frozen=True)
class BarResult:
    """How an engine did on a bar: the worst case and all that miss."""

    bar: Bar
    verdict: Verdict
    figure: float | None = None
    worst: str = ""
    cases: int = 0
    missing: tuple[str, ...] = ()


def _speedup(numpy: EngineRecord, engine: EngineRecord) -> float:
    return engine.speedup or 0.0


def _gain_ns(numpy: EngineRecord, engine: EngineRecord) -> float:
    return (numpy.median_ns or 0.0) - (engine.median_ns or float("inf"))


def _chain8(size: int, with_out: bool, dtype: str) -> Callable[[CaseRecord], bool]:
    return lambda case: (
        case.workload == "chain8"
        and (case.size, case.with_out, case.dtype) == (size, with_out, dtype)
    )


def _transcendental(trig: bool, dtypes: tuple[str, ...]) -> Callable[[CaseRecord], bool]:
    return lambda case: (
        case.family == "transcendental"
        and case.size == 1_000_000
        and case.dtype in dtypes
        and ("trig" in by_name(case.workload).tags) is trig
    )


def _small_chain8(case: CaseRecord) -> bool:
    return case.workload in ("chain8", "small_chain8") and case.size == 100 and not case.with_out


def _is_single_ufunc(case: CaseRecord) -> bool:
    return "single" in by_name(case.workload).tags


def _small_single(case: CaseRecord) -> bool:
    return _is_single_ufunc(case) and case.size < SINGLE_UFUNC_SIZE


def _never_slower(case: CaseRecord) -> bool:
    return case.family in NEVER_SLOWER and not _small_single(case)


BARS: tuple[Bar, ...] = (
    *(
        Bar(f"chain8 {dtype}, 10^6", _chain8(10**6, False, dtype), _speedup, 8.0)
        for dtype in FLOATS
    ),
    *(
        Bar(f"chain8 {dtype}, 10^7 with out=", _chain8(10**7, True, dtype), _speedup, 8.0)
        for dtype in FLOATS
    ),
    *(
        Bar(f"chain8 {dtype}, 10^7 fresh output", _chain8(10**7, False, dtype), _speedup, 5.0)
        for dtype in FLOATS
    ),
    Bar("mixes with sin or cos, f32, 10^6", _transcendental(True, ("f32",)), _speedup, 3.0),
    Bar("mixes with sin or cos, f64, 10^6", _transcendental(True, ("f64",)), _speedup, 5.0),
    Bar("mixes without sin and cos, 10^6", _transcendental(False, FLOATS), _speedup, 2.0),
    Bar("chain8, 100 elements", _small_chain8, _speedup, 2.5),
    Bar(
        "one ufunc, below 10^4: at most 0.5 us slower",
        _small_single,
        _gain_ns,
        -SINGLE_UFUNC_ALLOWANCE_NS,
        "ns",
    ),
    Bar("elementwise, broadcast, reduction: never slower", _never_slower, _speedup, NOISE),
)


def evaluate(cases: Iterable[CaseRecord], engine: str = "fusejit") -> list[BarResult]:
    """Hold the cases of a run against every bar."""
    cases = list(cases)
    return [_evaluate_one(bar, cases, engine) for bar in BARS]


def _evaluate_one(bar: Bar, cases: list[CaseRecord], engine: str) -> BarResult:
    figures = sorted(_figures(bar, cases, engine), key=lambda entry: entry[0])
    if not figures:
        return BarResult(bar, "not measured")
    worst, label = figures[0]
    return BarResult(
        bar,
        "pass" if worst >= bar.least else "miss",
        worst,
        label,
        len(figures),
        tuple(f"{label} ({figure:.3g})" for figure, label in figures if figure < bar.least),
    )


def _figures(bar: Bar, cases: list[CaseRecord], engine: str) -> Iterator[tuple[float, str]]:
    """Figures of the cases of a bar; a case that failed or is wrong counts as the worst."""
    for case in cases:
        if engine not in case.engines or not bar.applies(case):
            continue
        record = case.engines[engine]
        if record.median_ns is None or record.mismatch:
            yield float("-inf"), case.label
        else:
            yield bar.figure(case.engines["numpy"], record), case.label
