"""What each pass did to a program, and how long it took."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from fusejit.ir.pass_log import PassLog, PassRecord

_WIDTH = 52


def passes_text(log: PassLog) -> str:
    """The passes over the graph and over each kernel, in order.

    One line each: its name, milliseconds, and the lines of the printed IR before it and behind
    it, if it changed anything.
    """
    return "\n".join(_lines(log)) + "\n"


def _lines(log: PassLog) -> Iterator[str]:
    total = 1e3 * sum(record.seconds for record in log.records)
    yield f"passes: {total:.2f} ms"
    for of, records in groupby(log.records, key=lambda record: record.of):
        yield f"  {of + ', pass':{_WIDTH - 2}}{'ms':>7}   lines"
        yield from map(_line, records)


def _line(record: PassRecord) -> str:
    change = ""
    if record.lines is not None:
        before, after = record.lines
        change = f"   {before} -> {after}"
    return f"    {record.name:{_WIDTH - 4}}{1e3 * record.seconds:7.2f}{change}"
