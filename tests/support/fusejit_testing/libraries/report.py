"""The judge's report: a table of figures, the findings, and the tests that failed."""

from __future__ import annotations

import json
import platform
import re
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fusejit_testing.libraries.known import known_reasons, reason_of
from fusejit_testing.libraries.records import Finding, FunctionTally, TestRecord, asdict_of


def total(records: Sequence[TestRecord]) -> FunctionTally:
    """All calls of all functions."""
    result = FunctionTally()
    for record in records:
        for tally in record.tallies.values():
            result.add(tally)
    return result


def by_function(records: Sequence[TestRecord]) -> dict[str, FunctionTally]:
    """The calls of each function, by name."""
    result: dict[str, FunctionTally] = {}
    for record in records:
        for name, tally in record.tallies.items():
            result.setdefault(name, FunctionTally()).add(tally)
    return dict(sorted(result.items()))


def findings(records: Sequence[TestRecord]) -> list[tuple[Finding, int]]:
    """Each kind of finding of each function once, in order, and in how many tests it was met."""
    first: dict[tuple[str, str, str], Finding] = {}
    counts: Counter[tuple[str, str, str]] = Counter()
    for record in records:
        for finding in record.findings:
            key = (finding.kind, finding.function, cause_of(finding.what))
            first.setdefault(
                key, Finding(**{**asdict(finding), "kind": finding.kind, "test": record.test})
            )
            counts[key] += 1
    return sorted(((f, counts[key]) for key, f in first.items()), key=lambda row: _order(row[0]))


def cause_of(what: str) -> str:
    """The kind of a difference: its text without numbers and places."""
    return re.sub(r"\d+", "0", re.sub(r"/\S*/", "", what))[:80]


def _order(finding: Finding) -> tuple[int, str, str]:
    return (
        ("wrong", "error", "refused", "hang").index(finding.kind.value),
        finding.function,
        finding.what,
    )


def text_report(libraries: Mapping[str, Sequence[TestRecord]]) -> str:
    """All of it, as text."""
    lines = [f"fusejit {_commit()}, Python {platform.python_version()}", "", *_table(libraries)]
    known = known_reasons()
    for name, records in libraries.items():
        lines += ["", f"== {name}"]
        for finding, count in findings(records):
            lines += _finding_lines(finding, count)
        failed = [r for r in records if r.outcome.startswith(("failed", "collection failed"))]
        for record in failed:
            reason = reason_of(record.test, known)
            last = record.message.strip().splitlines()[-1:] or [""]
            lines.append(f"test {record.outcome}: {record.test}: {reason or last[0]}")
        lines += _warned_lines(records)
        lines += _slow_lines(records)
    return "\n".join(lines) + "\n"


def _table(libraries: Mapping[str, Sequence[TestRecord]]) -> list[str]:
    head = (
        "library                  tests failed  known functions   calls compared    once   plain"
        "   alike    near  wrong refused errors hangs  warned  time/plain compile s"
    )
    lines = [head]
    known = known_reasons()
    for name, records in libraries.items():
        tally = total(records)
        ran = [r for r in records if r.outcome != "skipped"]
        failed = [r for r in ran if r.outcome.startswith(("failed", "collection failed"))]
        with_reason = [r for r in failed if reason_of(r.test, known)]
        hangs = sum(r.outcome == "hang" for r in records)
        ratio = tally.fused_ns / tally.plain_ns if tally.plain_ns else 0.0
        lines.append(
            f"{name:24} {len(ran):5} {len(failed) - len(with_reason):6} {len(with_reason):6} "
            f"{len(by_function(records)):9} {tally.calls:7} {tally.compared:8} {tally.once:7} "
            f"{tally.plain:7} {tally.alike:7} {tally.near:7} {tally.wrong:6} {tally.refused:7} "
            f"{tally.errors:6} {hangs:5} {sum(tally.warned.values()):7} {ratio:10.2f} "
            f"{tally.compile_ns / 1e9:9.1f}"
        )
    return lines


def _finding_lines(finding: Finding, count: int) -> list[str]:
    lines = [f"{finding.kind.value}: {finding.function} ({count} tests, first {finding.test})"]
    if finding.arguments:
        lines.append(f"    f({finding.arguments})")
    lines += [f"    {line}" for line in finding.what.splitlines()[:30]]
    if finding.pickle:
        lines.append(f"    python -m fusejit_testing.libraries.replay {finding.pickle}")
    return lines


def _warned_lines(records: Sequence[TestRecord]) -> list[str]:
    tally = total(records)
    causes: Counter[str] = Counter()
    for cause, count in tally.warned.items():
        causes[re.sub(r"\d+", "0", cause.partition(": ")[2])[:160]] += count
    lines = [f"warned {count}x: {cause}" for cause, count in causes.most_common(40)]
    uncopied = tally.uncopied.most_common(10)
    return lines + [f"run once {count}x: {cause}" for cause, count in uncopied]


def _slow_lines(records: Sequence[TestRecord]) -> list[str]:
    rows = []
    for name, tally in by_function(records).items():
        if tally.timed >= 10 and tally.fused_ns > 1.05 * tally.plain_ns + 2000 * tally.timed:
            each = (tally.fused_ns - tally.plain_ns) / tally.timed / 1e3
            rows.append((tally.fused_ns / tally.plain_ns, each, tally.timed, name))
    rows.sort(reverse=True)
    lines = [f"slow: {len(rows)} functions"] if rows else []
    return lines + [
        f"slow: {ratio:7.1f} times undecorated, {each:9.1f} us more a call, {calls} calls: {name}"
        for ratio, each, calls, name in rows[:25]
    ]


def json_report(libraries: Mapping[str, Sequence[TestRecord]]) -> str:
    """The figures and findings as JSON."""
    data: dict[str, Any] = {"commit": _commit(), "libraries": {}}
    for name, records in libraries.items():
        data["libraries"][name] = {
            "tests": dict(Counter(r.outcome for r in records)),
            "total": asdict_of(total(records)),
            "functions": {n: asdict_of(t) for n, t in by_function(records).items()},
            "findings": [{**asdict(f), "tests": n} for f, n in findings(records)],
            "failed": {r.test: r.message for r in records if r.outcome.startswith("failed")},
        }
    return json.dumps(data, indent=1, sort_keys=True)


def _commit() -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"],
            capture_output=True,
            text=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return "of unknown commit"
    return done.stdout.strip() or "of unknown commit"
