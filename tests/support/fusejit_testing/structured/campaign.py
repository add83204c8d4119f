"""Many random structured ops, and a table of what became of them."""

from __future__ import annotations

import tempfile
import traceback
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from fusejit_testing.programs.mutation_programs import deadline
from fusejit_testing.structured.structured_check import Tally, check_seed, describe

SLOWEST = 120.0  # seconds for one op
_BETWEEN_TABLES = 500


def failures_of(seeds: Iterable[int], jit_every: int, tally: Tally) -> list[str]:
    """What fails, as text that has the seed and the op; each ``jit_every``-th op is jitted too."""
    found = []
    with tempfile.TemporaryDirectory(prefix="fusejit-structured-") as name:
        for seed in seeds:
            is_jitted = bool(jit_every) and seed % jit_every == 0
            for jit in (False, True)[: 1 + is_jitted]:
                try:
                    with deadline(SLOWEST):
                        check_seed(seed, Path(name) / "reports", jit=jit, tally=tally)
                except Exception as error:
                    found.append(_text(seed, jit, error))
                    break
    return found


def _text(seed: int, jit: bool, error: BaseException) -> str:
    root = error
    while root.__cause__ is not None:
        root = root.__cause__
    trace = "".join(traceback.format_exception(root, limit=-4, chain=False))
    how = "jitted" if jit else "unjitted"
    return f"{describe(seed)}\n{how}: {str(error)[:6000]}\n{trace[:2000]}"


def main(first: int, count: int, jit_every: int = 0) -> int:
    """Run a campaign and print it; returns how many ops failed."""
    tally, causes = Tally(), Counter[str]()
    for at in range(first, first + count, _BETWEEN_TABLES):
        seeds = range(at, min(at + _BETWEEN_TABLES, first + count))
        for text in failures_of(seeds, jit_every, tally):
            print("=" * 100, text, sep="\n", flush=True)
            causes[_cause(text)] += 1
        print(_table(first, seeds.stop, tally, causes), flush=True)
    return causes.total()


def _cause(text: str) -> str:
    """The last line that says what failed, without numbers."""
    lines = [line for line in text.splitlines() if "Error" in line] or ["unknown"]
    return "".join(c for c in lines[-1] if not c.isdigit())[:90]


def _table(first: int, stop: int, tally: Tally, causes: Counter[str]) -> str:
    lines = [
        f"seeds {first} to {stop - 1}: {tally.ops} checks, {tally.jitted} of them jitted, "
        f"{causes.total()} failures"
    ]
    for title, counted in (("", tally.outcomes), ("failed: ", causes)):
        lines += [f"  {n:8}  {title}{what}" for what, n in sorted(counted.items())]
    return "\n".join(lines)
