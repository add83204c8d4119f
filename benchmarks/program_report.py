"""The table of the suite ``programs``: times, ratios, seconds to compile; then geometric means."""

from collections.abc import Iterable
from statistics import geometric_mean

from rich.console import Console
from rich.table import Table

from benchmarks.records import CaseRecord, EngineRecord, RunRecord
from benchmarks.report import SUBJECT, duration
from benchmarks.rounds import paired_speedup

NJIT = "njit"
SLOW = 0.95


def print_programs(console: Console, run: RunRecord) -> None:
    """One row per program; a rival or fusejit that has no row of its own shows ``-``."""
    table = Table(title="programs", title_justify="left", title_style="bold", box=None)
    table.add_column("program", no_wrap=True)
    columns = ("size", "numpy", SUBJECT, "numpy/fusejit", NJIT, "njit/fusejit")
    for name in (*columns, "compile", "compile njit", "spread"):
        table.add_column(name, justify="right", no_wrap=True)
    for case in run.cases:
        table.add_row(*_row(case))
    console.print(table)
    for text in means(run.cases):
        console.print(text)
    console.print()


def _row(case: CaseRecord) -> list[str]:
    subject, rival = case.engines.get(SUBJECT), case.engines.get(NJIT)
    spread = max((e.spread or 0.0 for e in case.engines.values()), default=0.0)
    return [
        case.workload,
        f"{case.size:,}",
        duration(case.engines["numpy"].median_ns),
        *_cells(subject, case.engines["numpy"]),
        duration(rival.median_ns) if rival else "-",
        _cells(subject, rival)[1],
        _compile(subject),
        _compile(rival),
        f"{spread:.0%}",
    ]


def _cells(subject: EngineRecord | None, other: EngineRecord | None) -> tuple[str, str]:
    """The subject's time, and how many times as long the other one takes."""
    if subject is None:
        return "-", ""
    if subject.error or subject.mismatch:
        return "[bold red]FAILED[/]" if subject.error else "[bold white on red]WRONG[/]", ""
    if subject.declined:
        return "[yellow]refused[/]" if subject.median_ns is None else "[yellow]NumPy[/]", ""
    ratio = _ratio(subject, other)
    if ratio is None:
        return duration(subject.median_ns), ""
    style = "green" if ratio >= 1.05 else "red" if ratio < SLOW else "default"
    return duration(subject.median_ns), f"[{style}]{ratio:.2f}x[/]"


def _ratio(subject: EngineRecord, other: EngineRecord | None) -> float | None:
    if other is None or not other.rounds_ns or other.mismatch or other.declined:
        return None
    return paired_speedup(other.rounds_ns, subject.rounds_ns)


def _compile(record: EngineRecord | None) -> str:
    if record is None or record.prepare_call_ns is None or record.median_ns is None:
        return "-"
    return duration(record.prepare_call_ns - record.median_ns)


def means(cases: Iterable[CaseRecord]) -> list[str]:
    """Geometric means over the programs that fusejit runs compiled, and how many those are."""
    cases = list(cases)
    texts = []
    for other in ("numpy", NJIT):
        ratios = []
        for case in cases:
            subject = case.engines.get(SUBJECT)
            if subject is None or subject.declined or subject.mismatch or not subject.rounds_ns:
                continue
            ratio = _ratio(subject, case.engines.get(other))
            if ratio is not None:
                ratios.append(ratio)
        if ratios:
            texts.append(
                f"geometric mean of {other} / {SUBJECT}: {geometric_mean(ratios):.2f}x over "
                f"{len(ratios)} of {len(cases)} programs"
            )
    return texts
