"""The tables of docs/performance.md: ``python -m benchmarks --load FILE --markdown``."""

from collections.abc import Iterable, Sequence

from benchmarks.bars import NJIT_NOISE, BarResult, Part, evaluate, speedup_over
from benchmarks.records import RunRecord
from benchmarks.report import duration, worst_figure
from benchmarks.summary import NOISE, family_means, lost_cases

PARTS: tuple[Part, ...] = ("A", "B", "C")


def markdown(run: RunRecord) -> str:
    """Machine, bars, means per family, first calls and lost cases of a run."""
    results = [evaluate(run.cases, parts=(part,)) for part in PARTS]
    measured = [r for r in results if any(one.verdict != "not measured" for one in r)]
    parts = [_machine(run), *map(_bars, measured), _means(run)]
    if run.first_calls:
        parts.append(_first_calls(run))
    parts.append(_losses(run))
    if behind := _behind_njit(run):
        parts.append(behind)
    return "\n".join(parts)


def _table(header: Sequence[str], alignment: str, rows: Iterable[Sequence[str]]) -> str:
    """A table; ``alignment`` has a letter per column, ``l`` or ``r``."""
    rule = "".join(f"{'---' if side == 'l' else '---:'}|" for side in alignment)
    lines = [f"| {' | '.join(cells)} |" for cells in (header, *rows)]
    return "\n".join([lines[0], f"|{rule}", *lines[1:], ""])


def _machine(run: RunRecord) -> str:
    facts = run.machine
    versions = ", ".join(f"{name} {version}" for name, version in run.versions.items())
    discarded = sum(case.discarded_rounds for case in run.cases)
    noisy = sum(case.noisy for case in run.cases)
    return (
        f"{facts['cpu']}, {facts['cores']} cores, {facts['system']}, Python {facts['python']}, "
        f"{versions}; {facts['date']}; {len(run.cases)} cases, {discarded} rounds discarded, "
        f"{noisy} cases noisy.\n"
    )


def _bars(results: Iterable[BarResult]) -> str:
    rows = []
    for result in results:
        bar = result.bar
        figure = "" if result.figure is None else worst_figure(result)
        rows.append((bar.name, bar.needed, figure, result.verdict, result.worst))
    return _table(("bar", "needed", "worst case", "verdict", "which"), "lrrll", rows)


def _means(run: RunRecord) -> str:
    means = family_means(run.cases)
    engines = list(dict.fromkeys(name for by_engine in means.values() for name in by_engine))
    rows = []
    for family, by_engine in means.items():
        cells = [by_engine.get(engine) for engine in engines]
        rows.append((family, *(f"{c[0]:.2f}x of {c[1]}" if c else "" for c in cells)))
    return _table(
        ("NumPy / engine, geometric mean of cases", *engines), "l" + "r" * len(engines), rows
    )


def _first_calls(run: RunRecord) -> str:
    rows = [
        (
            entry.workload,
            duration(entry.cold_load_ns),
            duration(entry.cold_call_ns),
            duration(entry.cached_load_ns),
            duration(entry.cached_call_ns),
        )
        for entry in run.first_calls
    ]
    header = ("first call in a process", "import", "call", "import, cached", "call, cached")
    return _table(header, "lrrrr", rows)


def _losses(run: RunRecord) -> str:
    lost = lost_cases(run.cases, "fusejit")
    if not lost:
        return f"No case is slower than NumPy (below {NOISE}).\n"
    rows = [(case.label, f"{speedup:.2f}x") for case, speedup in lost]
    return _table((f"slower than NumPy (below {NOISE})", "NumPy / fusejit"), "lr", rows)


def _behind_njit(run: RunRecord) -> str:
    """Programs slower than ``numba.njit`` of the same source; "" if none is, or none was run."""
    over_njit = speedup_over("njit")
    found = []
    for case in run.cases:
        engine = case.engines.get("fusejit")
        if engine is not None and engine.rounds_ns:
            speedup = over_njit(case, engine)
            if speedup is not None and speedup < NJIT_NOISE:
                found.append((speedup, case.label))
    rows = [(label, f"{speedup:.2f}x") for speedup, label in sorted(found)]
    header = (f"slower than njit (below {NJIT_NOISE:.2f})", "njit / fusejit")
    return _table(header, "lr", rows) if rows else ""
