"""Which cases a run consists of: suites, and filters by family, name, size and dtype."""

from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.workload import Workload
from benchmarks.workloads import FAMILIES, PROGRAM_FAMILIES, PROGRAMS, WORKLOADS

HEADLINE = (
    "chain8",
    "add",
    "exp_decay",
    "trig_mix",
    "subtract_row",
    "symmetrise",
    "sum_rows",
    "sum_of_squares",
    "softmax",
    "layer_norm",
    "laplace",
    "heat_step",
    "dense_relu",
    "blend",
    "sobel",
    "gather_chain",
    "small_chain8",
    "small_add",
)

BAR_FAMILIES = ("elementwise", "transcendental", "broadcast", "reduction", "small")

SUITES: dict[str, tuple[str, ...]] = {
    "all": tuple(w.name for w in WORKLOADS),
    "headline": HEADLINE,
    "small": tuple(w.name for w in WORKLOADS if w.family == "small"),
    "fusion": tuple(w.name for w in WORKLOADS if "fusion" in w.tags),
    "programs": tuple(w.name for w in PROGRAMS),
    "bars": tuple(w.name for w in WORKLOADS if w.family in BAR_FAMILIES or "fusion" in w.tags),
}


@dataclass(frozen=True)
class Case:
    """One thing to measure."""

    workload: Workload
    size: int
    dtype: str
    with_out: bool
    engines: tuple[str, ...] | None = None
    """Who takes part; None: all engines of the run that can say it."""


def select_workloads(
    suite: str, families: Iterable[str] = (), names: Iterable[str] = ()
) -> list[Workload]:
    """Workloads of a suite, narrowed by families and names where given.

    Raises
    ------
    ValueError
        An unknown family or name.
    """
    families, names = tuple(families), tuple(names)
    known = (*WORKLOADS, *PROGRAMS)
    known_families = {*FAMILIES, *PROGRAM_FAMILIES}
    unknown = (set(families) - known_families) | (set(names) - {w.name for w in known})
    if unknown:
        raise ValueError(f"unknown: {', '.join(sorted(unknown))}; --list shows what there is")
    chosen = names or SUITES[suite]
    return [w for w in known if w.name in chosen and (not families or w.family in families)]


def select_cases(
    workloads: Iterable[Workload],
    sizes: Iterable[int] = (),
    dtypes: Iterable[str] = (),
    with_out: bool = True,
) -> list[Case]:
    """Cases of the workloads; empty `sizes` or `dtypes` mean each workload's own."""
    sizes, dtypes = tuple(sizes), tuple(dtypes)
    return [
        Case(workload, size, dtype, out)
        for workload in workloads
        for size in (sizes or workload.sizes)
        if workload.allows(size)
        for dtype in workload.dtypes
        if not dtypes or dtype in dtypes
        for out in ((False, True) if with_out and workload.out_function else (False,))
    ]
