"""What a person reads on stdout: tables of cases, first calls, summary, losses, bars."""

from collections.abc import Sequence
from math import isinf

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks.bars import BarResult
from benchmarks.own_engines import COPY
from benchmarks.records import CaseRecord, EngineRecord, RunRecord
from benchmarks.rounds import paired_speedup
from benchmarks.summary import NO_CONTENDERS, NOISE, family_means, lost_cases

SHOWN_LOSSES = 10
"""Engines other than fusejit: only the worst are named."""

SUBJECT = "fusejit"
REASON_LENGTH = 240

VERDICT_STYLE = {"pass": "green", "miss": "bold red", "not measured": "yellow"}


def duration(nanoseconds: float | None) -> str:
    """Three digits and a unit.

    >>> duration(1234.0), duration(56.7), duration(8.9e7), duration(None)
    ('1.23 us', '56.7 ns', '89.0 ms', '-')
    """
    if nanoseconds is None:
        return "-"
    scales = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
    unit = next((u for u, scale in scales.items() if abs(nanoseconds) < 999.5 * scale), "s")
    value = nanoseconds / scales[unit]
    return f"{value:.{max(0, 3 - len(str(int(abs(value)))))}f} {unit}"


def print_machine(console: Console, run: RunRecord) -> None:
    """CPU, cores, versions, load; which engines are missing and why."""
    facts = run.machine
    console.print(f"[bold]{escape(facts['cpu'])}[/], {facts['cores']} cores, {facts['system']}")
    versions = ", ".join(f"{name} {version}" for name, version in run.versions.items())
    console.print(f"Python {facts['python']}, {versions}; load at start {facts['load']}")
    for engine, reason in run.unavailable.items():
        console.print(f"[yellow]engine {engine} is not available:[/] {escape(reason)}")


def print_cases(console: Console, run: RunRecord) -> None:
    """One table per family: median times and ratios NumPy / engine."""
    engines = [e for e in _engines(run) if e != "numpy"]
    for family in dict.fromkeys(case.family for case in run.cases):
        table = Table(title=family, title_justify="left", title_style="bold", box=None)
        for name in ("workload", "dtype"):
            table.add_column(name, no_wrap=True)
        for name in ("size", "numpy"):
            table.add_column(name, justify="right", no_wrap=True)
        for engine in engines:
            table.add_column(engine, justify="right", no_wrap=True)
            heading = f"{SUBJECT} / {COPY}" if engine == COPY else "ratio"
            table.add_column(heading, justify="right", no_wrap=True)
        table.add_column("spread", justify="right", no_wrap=True)
        table.add_column("", no_wrap=True)
        for case in run.cases:
            if case.family == family:
                table.add_row(*_case_row(case, engines))
        console.print(table)
        console.print()


def _case_row(case: CaseRecord, engines: Sequence[str]) -> list[str]:
    row = [case.workload + (" out=" if case.with_out else ""), case.dtype, f"{case.size:,}"]
    numpy = case.engines["numpy"]
    row.append(duration(numpy.median_ns))
    for engine in engines:
        record = case.engines.get(engine)
        if engine == COPY and record and record.rounds_ns:
            row += [duration(record.median_ns), _times_a_copy(case)]
        else:
            row += _engine_cells(record)
    worst = max((e.spread or 0.0 for e in case.engines.values()), default=0.0)
    notes = [f"{case.discarded_rounds} discarded"] if case.discarded_rounds else []
    notes += ["[yellow]noisy[/]"] if case.noisy else []
    return [*row, f"{worst:.0%}", ", ".join(notes)]


def _times_a_copy(case: CaseRecord) -> str:
    """How many times the yardstick's time fusejit takes; empty where it has no times of its own."""
    subject = case.engines.get(SUBJECT)
    if subject is None or not subject.rounds_ns or subject.declined:
        return ""
    return f"{paired_speedup(subject.rounds_ns, case.engines[COPY].rounds_ns):.2f}x"


def _engine_cells(record: EngineRecord | None) -> list[str]:
    if record is None:
        return ["", ""]
    if record.error:
        return ["[bold red]FAILED[/]", ""]
    if record.declined and record.median_ns is None:
        return ["[yellow]refused[/]", ""]
    time = duration(record.median_ns)
    if record.mismatch:
        return [time, "[bold white on red]WRONG[/]"]
    if record.declined:
        return [time, "[yellow]NumPy[/]"]
    speedup = record.speedup or 0.0
    style = "green" if speedup >= 1.05 else "red" if speedup < NOISE else "default"
    return [time, f"[{style}]{speedup:.2f}x[/]"]


def print_first_calls(console: Console, run: RunRecord) -> None:
    """Import and first call of fresh processes, with an empty and with a filled cache."""
    if not run.first_calls:
        return
    table = Table(title="first call of fusejit in a fresh process", title_justify="left", box=None)
    table.add_column("workload", no_wrap=True)
    for name in ("import, cold", "call, cold", "import, cached", "call, cached"):
        table.add_column(name, justify="right", no_wrap=True)
    for entry in run.first_calls:
        times = (
            entry.cold_load_ns,
            entry.cold_call_ns,
            entry.cached_load_ns,
            entry.cached_call_ns,
        )
        failure = f" [red]{escape(entry.error)}[/]" if entry.error else ""
        table.add_row(entry.workload + failure, *map(duration, times))
    console.print(table)
    console.print()


def print_summary(console: Console, run: RunRecord) -> None:
    """Geometric means per family, lost cases per engine, noise."""
    engines = [e for e in _engines(run) if e not in NO_CONTENDERS]
    if engines:
        _print_means(console, run, engines)
    for engine in engines:
        _print_losses(console, run, engine)
    discarded = sum(case.discarded_rounds for case in run.cases)
    noisy = sum(case.noisy for case in run.cases)
    load = max((case.load for case in run.cases), default=0.0)
    console.print(
        f"{len(run.cases)} cases, {discarded} rounds discarded because the machine was busy, "
        f"{noisy} cases noisy to the end, load at most {load}"
    )


def _print_means(console: Console, run: RunRecord, engines: Sequence[str]) -> None:
    means = family_means(run.cases)
    table = Table(
        title="geometric mean of NumPy / engine", title_justify="left", title_style="bold", box=None
    )
    table.add_column("family", no_wrap=True)
    for engine in engines:
        table.add_column(engine, justify="right", no_wrap=True)
        table.add_column("cases", justify="right", no_wrap=True)
    for family, by_engine in means.items():
        cells: list[str] = []
        for engine in engines:
            mean = by_engine.get(engine)
            cells += [f"{mean[0]:.2f}x", str(mean[1])] if mean else ["", ""]
        table.add_row(family, *cells)
    console.print(table)


def _print_losses(console: Console, run: RunRecord, engine: str) -> None:
    lost = lost_cases(run.cases, engine)
    if not lost:
        console.print(f"{engine}: no case slower than NumPy")
        return
    console.print(f"[bold]{engine}: {len(lost)} cases slower than NumPy[/] (below {NOISE})")
    shown = lost if engine == SUBJECT else lost[:SHOWN_LOSSES]
    for case, speedup in shown:
        console.print(f"  {speedup:.2f}x  {case.label}{'  (noisy)' if case.noisy else ''}")
    if len(shown) < len(lost):
        console.print(f"  and {len(lost) - len(shown)} more")


def print_wrong(console: Console, run: RunRecord) -> None:
    """Wrong results and failures, loudly; warnings that engines gave, and what they declined."""
    for case in run.cases:
        for engine, record in case.engines.items():
            for text in record.warnings:
                console.print(f"[yellow]{engine}, {case.label}:[/] {escape(text)}")
    reasons: dict[tuple[str, str, str], list[str]] = {}
    for case, engine, text in run.declined():
        reasons.setdefault((engine, case.workload, _short(text)), []).append(case.label)
    for (engine, _, text), labels in reasons.items():
        more = f" and {len(labels) - 1} more" if len(labels) > 1 else ""
        console.print(f"[yellow]{engine} declined {labels[0]}{more}:[/] {escape(text)}")
    wrong = run.wrong()
    if wrong:
        console.print(f"\n[bold white on red] {len(wrong)} WRONG RESULTS OR FAILURES [/]")
    for case, engine, text in wrong:
        console.print(f"[bold red]{engine}, {case.label}:[/] {escape(text)}")


def _short(reason: str) -> str:
    """The first two lines that say something: Numba's first one names a stage of its own."""
    lines = [line.strip() for line in reason.splitlines()]
    return " ".join([line for line in lines if line.strip("- ")][:2])[:REASON_LENGTH]


def print_bars(console: Console, results: Sequence[BarResult]) -> None:
    """A table per part: pass or miss per bar, the worst figure and where it comes from."""
    for part in dict.fromkeys(result.bar.part for result in results):
        table = Table(
            title=f"speed bars of part {part}",
            title_justify="left",
            title_style="bold",
            box=None,
        )
        table.add_column("verdict", no_wrap=True)
        table.add_column("bar")
        for name in ("needed", "worst, or mean", "cases"):
            table.add_column(name, justify="right", no_wrap=True)
        table.add_column("where")
        for result in results:
            if result.bar.part == part:
                table.add_row(*_bar_row(result))
        console.print(table)
        console.print()


def _bar_row(result: BarResult) -> list[str]:
    style = VERDICT_STYLE[result.verdict]
    count = f"{len(result.missing)}/{result.cases} miss" if result.missing else result.cases
    return [
        f"[{style}]{result.verdict}[/]",
        result.bar.name,
        result.bar.needed,
        worst_figure(result),
        str(count),
        result.worst,
    ]


def worst_figure(result: BarResult) -> str:
    """The worst figure with its unit; ``-`` if there is none, ``failed`` if a case gave none."""
    if result.figure is None:
        return "-"
    if isinf(result.figure):
        return "failed"
    return f"{result.figure:.2f} {result.bar.unit}"


def _engines(run: RunRecord) -> list[str]:
    return list(dict.fromkeys(name for case in run.cases for name in case.engines))
