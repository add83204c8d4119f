"""The project's speed bars: what must hold before a version may be called good.

Part A is about elementwise work and small calls, part B about fusion: rowwise functions and chains
of stencils. ``python -m benchmarks --suite fusion --bars`` judges part B alone. Part C, about whole
programs, is judged by ``python -m benchmarks --suite programs --bars``.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import isinf
from statistics import geometric_mean
from typing import Literal

from benchmarks.own_engines import COPY
from benchmarks.records import CaseRecord, EngineRecord
from benchmarks.rounds import paired_speedup
from benchmarks.summary import NOISE
from benchmarks.workload import DTYPES, FLOATS
from benchmarks.workloads import WORKLOADS, by_name

Part = Literal["A", "B", "C"]
PARTS: tuple[Part, ...] = ("A", "B")
"""The parts about array expressions; those about programs need a suite of their own."""

Verdict = Literal["pass", "miss", "not measured"]

SINGLE_UFUNC_ALLOWANCE_NS = 500.0
SINGLE_UFUNC_SIZE = 10_000
NEVER_SLOWER = ("elementwise", "broadcast", "reduction")


Figure = Callable[[CaseRecord, EngineRecord], float | None]
"""What is compared; None if an engine that it needs has no times of this case."""


@dataclass(frozen=True)
class Bar:
    """One bar.

    Parameters
    ----------
    name
        As in the list of bars.
    applies
        Which cases it speaks about; the worst of them decides unless `mean` is set.
    figure
        What is compared, see `Figure`.
    limit
        The figure must reach this, or with `at_most` not exceed it.
    unit
        Printed after figures.
    at_most
        Smaller figures are better.
    part
        ``"A"``, ``"B"`` or ``"C"``: the table it is printed in.
    mean
        The geometric mean decides, over the cases that give a figure. A case that failed has none:
        then the bar is missed whatever the mean.
    """

    name: str
    applies: Callable[[CaseRecord], bool]
    figure: Figure
    limit: float
    unit: str = "x"
    at_most: bool = False
    part: Part = "A"
    mean: bool = False

    @property
    def needed(self) -> str:
        """The limit as printed: ``8 x``, or ``at most 1.3 x``."""
        return f"{'at most ' * self.at_most}{self.limit:g} {self.unit}"

    def holds(self, figure: float) -> bool:
        """Whether a figure meets the limit."""
        return figure <= self.limit if self.at_most else figure >= self.limit

    @property
    def failure(self) -> float:
        """The figure of a case that failed, is wrong or declined: worse than any other."""
        return float("inf") if self.at_most else float("-inf")


@dataclass(frozen=True)
class BarResult:
    """How an engine did on a bar: the worst case and all that miss."""

    bar: Bar
    verdict: Verdict
    figure: float | None = None
    worst: str = ""
    cases: int = 0
    missing: tuple[str, ...] = ()


def _speedup(case: CaseRecord, engine: EngineRecord) -> float:
    return engine.speedup or 0.0


def _gain_ns(case: CaseRecord, engine: EngineRecord) -> float:
    return (case.engines["numpy"].median_ns or 0.0) - (engine.median_ns or float("inf"))


def speedup_over(rival: str) -> Figure:
    """Median over the rounds of rival time / engine time."""

    def figure(case: CaseRecord, engine: EngineRecord) -> float | None:
        record = case.engines.get(rival)
        if record is None or not record.rounds_ns or record.mismatch:
            return None
        return paired_speedup(record.rounds_ns, engine.rounds_ns)

    return figure


def _times_a_copy(case: CaseRecord, engine: EngineRecord) -> float | None:
    copy = case.engines.get(COPY)
    if copy is None or not copy.rounds_ns or copy.declined:
        return None
    return paired_speedup(engine.rounds_ns, copy.rounds_ns)


def _compile_seconds(case: CaseRecord, engine: EngineRecord) -> float | None:
    """The first call less an ordinary one: tracing, fusing, compiling."""
    if engine.prepare_call_ns is None or engine.median_ns is None:
        return None
    return (engine.prepare_call_ns - engine.median_ns) / 1e9


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


ROWS_SIZE = 4096 * 1024
LAST_LEVEL_CACHE_BYTES = 32 << 20
BEYOND_CACHE_BYTES = 4 * LAST_LEVEL_CACHE_BYTES

TIMES_NUMPY = {"softmax": 3.0, "layer_norm": 3.0, "standardise_columns": 4.0}
RIVALS = ("jax", "torch")
FASTER_THAN_RIVALS = ("softmax", "layer_norm")
TIMES_A_COPY = {("softmax", "f32"): 1.6}
TIMES_A_COPY_ELSE = 1.3


def _rows(workload: str, dtype: str) -> Callable[[CaseRecord], bool]:
    """4096 rows of 1024; a form with its mean squares written out by hand counts as well."""
    return lambda case: (
        case.workload in (workload, f"{workload}_by_hand")
        and (case.size, case.dtype) == (ROWS_SIZE, dtype)
    )


def _beyond_cache(workload: str, dtype: str) -> Callable[[CaseRecord], bool]:
    return lambda case: (
        (case.workload, case.dtype) == (workload, dtype)
        and case.size * DTYPES[dtype].itemsize >= BEYOND_CACHE_BYTES
    )


def _is_program(case: CaseRecord) -> bool:
    return by_name(case.workload).program is not None


PROGRAMS_OVER_NUMPY = 15.0
PROGRAMS_OVER_NJIT = 2.5
NJIT_NOISE = 1 / 1.1
COMPILE_SECONDS = 3.0


def _one_kernel() -> Iterator[Bar]:
    """A bar for each workload that must become one kernel, and dtype."""
    for workload in WORKLOADS:
        if "one_kernel" not in workload.tags:
            continue
        for dtype in workload.dtypes:
            yield Bar(
                f"{workload.name} {dtype}, beyond the cache, against a copy",
                _beyond_cache(workload.name, dtype),
                _times_a_copy,
                TIMES_A_COPY.get((workload.name, dtype), TIMES_A_COPY_ELSE),
                at_most=True,
                part="B",
            )


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
    *(
        Bar(f"{name} {dtype}, 4096 x 1024", _rows(name, dtype), _speedup, least, part="B")
        for name, least in TIMES_NUMPY.items()
        for dtype in FLOATS
    ),
    *(
        Bar(
            f"{name} {dtype}, 4096 x 1024, against {rival}",
            _rows(name, dtype),
            speedup_over(rival),
            1.0,
            part="B",
        )
        for name in FASTER_THAN_RIVALS
        for dtype in FLOATS
        for rival in RIVALS
    ),
    *_one_kernel(),
    Bar(
        "programs, geometric mean",
        _is_program,
        _speedup,
        PROGRAMS_OVER_NUMPY,
        part="C",
        mean=True,
    ),
    Bar(
        "programs against njit, geometric mean",
        _is_program,
        speedup_over("njit"),
        PROGRAMS_OVER_NJIT,
        part="C",
        mean=True,
    ),
    Bar("programs: never slower", _is_program, _speedup, NOISE, part="C"),
    Bar(
        "programs: at most 10 % slower than njit",
        _is_program,
        speedup_over("njit"),
        NJIT_NOISE,
        part="C",
    ),
    Bar(
        "programs: time to compile",
        _is_program,
        _compile_seconds,
        COMPILE_SECONDS,
        "s",
        at_most=True,
        part="C",
    ),
)


def evaluate(
    cases: Iterable[CaseRecord], engine: str = "fusejit", parts: Iterable[Part] = PARTS
) -> list[BarResult]:
    """Hold the cases of a run against every bar of some parts."""
    cases, parts = list(cases), tuple(parts)
    return [_evaluate_one(bar, cases, engine) for bar in BARS if bar.part in parts]


def _evaluate_one(bar: Bar, cases: list[CaseRecord], engine: str) -> BarResult:
    figures = sorted(_figures(bar, cases, engine), key=lambda entry: entry[0], reverse=bar.at_most)
    if not figures:
        return BarResult(bar, "not measured")
    if bar.mean:
        return _evaluate_mean(bar, figures)
    worst, label = figures[0]
    return BarResult(
        bar,
        "pass" if bar.holds(worst) else "miss",
        worst,
        label,
        len(figures),
        tuple(f"{label} ({figure:.3g})" for figure, label in figures if not bar.holds(figure)),
    )


def _evaluate_mean(bar: Bar, figures: list[tuple[float, str]]) -> BarResult:
    failed = tuple(label for figure, label in figures if isinf(figure))
    given = [figure for figure, _ in figures if not isinf(figure)]
    mean = geometric_mean(given) if given else bar.failure
    passes = bar.holds(mean) and not failed
    where = "" if not failed else f"{len(failed)} did not run compiled, the first is {failed[0]}"
    return BarResult(bar, "pass" if passes else "miss", mean, where, len(figures), failed)


def _figures(bar: Bar, cases: list[CaseRecord], engine: str) -> Iterator[tuple[float, str]]:
    """Figures of the cases of a bar; a case that failed, declined or is wrong is the worst."""
    for case in cases:
        if engine not in case.engines or not bar.applies(case):
            continue
        record = case.engines[engine]
        if record.median_ns is None or record.mismatch or record.declined:
            yield bar.failure, case.label
            continue
        figure = bar.figure(case, record)
        if figure is not None:
            yield figure, case.label
