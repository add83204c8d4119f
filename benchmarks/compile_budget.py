"""Whether the first calls of a run stayed within the compile budget of fusejit."""

from collections.abc import Iterable

from benchmarks.records import CaseRecord
from benchmarks.report import SUBJECT
from fusejit.options import Options


def budget_line(cases: Iterable[CaseRecord], seconds: float = Options().compile_seconds) -> str:
    """How many first calls there were, the longest one, and those that took longer than it.

    The wall clock of a first call, with the call itself and all imports, is above the processor
    time that the budget counts.
    """
    subjects = {c.label: c.engines[SUBJECT] for c in cases if SUBJECT in c.engines}
    taken = {label: e.prepare_call_ns / 1e9 for label, e in subjects.items() if e.prepare_call_ns}
    above = [label for label in taken if taken[label] > seconds]
    title = f"compile budget of {seconds:g} s"
    if not taken:
        return f"{title}: nothing was compiled"
    verdict = f"[bold red]not held by {', '.join(above)}[/]" if above else "[green]held[/]"
    longest = max(taken, key=lambda label: taken[label])
    return (
        f"{title}: {verdict}; {len(taken)} first calls took {sum(taken.values()):.1f} s, "
        f"the longest {taken[longest]:.2f} s ({longest})"
    )
