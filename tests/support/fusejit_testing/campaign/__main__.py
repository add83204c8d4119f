"""Runs a campaign: see `fusejit_testing.campaign`."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from fusejit_testing.campaign.families import FAMILIES
from fusejit_testing.campaign.records import Record
from fusejit_testing.campaign.runner import Worker, chunks, run


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is left of a campaign and print its table; 1 if something failed."""
    parser = argparse.ArgumentParser(prog="python -m fusejit_testing.campaign")
    parser.add_argument("--programs", type=int, default=200_000)
    parser.add_argument("--jitted", type=int, default=10_000, help="of them, compiled as well")
    parser.add_argument("--first", type=int, default=1_000_000, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="then no more begin")
    parser.add_argument("--memory", type=float, default=8.0, help="GiB that a process may map")
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument(
        "--record", type=Path, default=Path("campaign.jsonl"), help="what is done: goes on from it"
    )
    given = parser.parse_args(arguments)
    record = Record(given.record)
    todo = chunks(given.programs, given.jitted, given.first, given.families)
    memory = int(given.memory * 2**30)
    try:
        run(
            todo,
            record,
            given.jobs,
            given.seconds,
            lambda: Worker(memory),
            lambda text: print(text, flush=True),
        )
    except KeyboardInterrupt:
        print("interrupted: the same command goes on", file=sys.stderr)
    print("\n".join(record.lines()))
    return bool(sum(outcome.num_failures for outcome in record.done.values()))


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM):  # also where a shell has turned them off
        signal.signal(number, signal.default_int_handler)
    sys.exit(main())
