"""Checks one random program every way; a failing one is shrunk and printed.

NumPy = interpreter of the traced graph = interpreter of the fused graph = unjitted source (= jitted
kernel). What fusejit may refuse, and where one compilation cannot serve two sizes, is said by
`fusejit_testing.liberties` and proved on NumPy's own values; anything else fails.

For a campaign by hand, run
``python -m fusejit_testing.programs.program_check FIRST COUNT [two | edges | many] [jit]``.
"""

from __future__ import annotations

import re
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from fusejit.api import FuseWarning
from fusejit.errors import UnsupportedError
from fusejit.ir.interpreter.interpret import host_environment
from fusejit_testing.compare import EXACT, Bound
from fusejit_testing.graphs.written_sums import numpy_as_written
from fusejit_testing.liberties import allowed_decline, unexplained_guards
from fusejit_testing.oracle import (
    Outcome,
    compare_outcomes,
    decorate,
    interpreted,
    named_arguments,
    paths_of,
    run,
    without_late_text,
)
from fusejit_testing.programs.program_facts import Facts, observe
from fusejit_testing.programs.program_shrink import shrink
from fusejit_testing.programs.programs_random import (
    EDGE_SIZES,
    SIZES,
    RandomProgram,
    Sizes,
    load,
    many_sizes,
    random_program,
)

FUNCTION_BOUND = Bound(ulps=8)  # 4 ulp of ours and 4 ulp of NumPy's
CALLS: dict[str, Callable[[int], Sequence[Sizes]]] = {
    "two": lambda seed: SIZES,
    "edges": lambda seed: EDGE_SIZES,
    "many": many_sizes,
}
"""The calls of one decorated function: two of one kind, with short axes, and many in a row."""

_RUNS_AS_NUMPY = "program runs as plain NumPy for this call: "


@dataclass(slots=True)
class Tally:
    """What became of the calls of programs."""

    programs: int = 0
    served: int = 0
    raised: int = 0
    second_variants: int = 0
    declined: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        declined = "".join(f"\n    {n:6} {cause}" for cause, n in self.declined.most_common())
        return (
            f"{self.programs} programs: {self.served} calls served, {self.raised} raise in NumPy, "
            f"{self.second_variants} second variants, "
            f"{sum(self.declined.values())} calls declined by a rule{declined}"
        )


def check_program(
    program: RandomProgram, *, jit: bool, calls: str = "two", tally: Tally | None = None
) -> bool:
    """All calls of a program, at the sizes of a row of `CALLS`.

    Returns
    -------
    bool
        False if some call was refused or declined by a row of `liberties.DECLINES`.

    Raises
    ------
    AssertionError
        If anything differs, or is refused without a rule, or is compiled once more than the
        decisions of NumPy's rules ask for.
    """
    tally = Tally() if tally is None else tally
    tally.programs += 1
    with tempfile.TemporaryDirectory(prefix="fusejit-programs-") as name:
        checked = _Checked(program, Path(name), calls, tally)
        unjitted = decorate(checked.function, jit=False)
        served = checked.calls_of(unjitted, "unjitted")
        if jit:
            jitted = decorate(checked.function, jit=True)
            served &= checked.calls_of(jitted, "jitted", against=unjitted)
    return served


class _Checked:
    """One program under check."""

    def __init__(self, program: RandomProgram, folder: Path, calls: str, tally: Tally) -> None:
        self.function = load(program, folder)
        self.reference = load(program, folder, numpy_as_written)
        self.bound = FUNCTION_BOUND if program.inexact else EXACT
        self.are_two, self.tally = calls == "two", tally
        self.calls = [program.call(s, at) for at, s in enumerate(CALLS[calls](program.seed))]
        self.facts = [observe(program.source, args) for args in self.calls]

    def calls_of(self, decorated: Any, how: str, against: Any = None) -> bool:
        """Every call; False if one was declined by a rule."""
        served, patterns = True, set()
        known_reasons: set[str] = set()  # why Python runs statements, since an earlier call
        for at, (args, facts) in enumerate(zip(self.calls, self.facts, strict=True)):
            where = f"call {at}, {how}"
            has_empty = any(isinstance(a, np.ndarray) and not a.size for a in args)
            bound = replace(self.bound, order=not has_empty)
            expected = run(self.function, args)
            if expected.error is None:
                expected = run(self.reference, args)
                assert expected.error is None, f"the reference fails: {expected.error!r}"
            known, before = decorated.variants.compiled, decorated.variants.fallbacks.copy()
            with warnings.catch_warnings():
                warnings.simplefilter("error", FuseWarning)
                actual = run(decorated, args)
            expected = without_late_text(expected, actual)
            counted = decorated.variants.fallbacks - before
            reasons = _reasons_of_python(decorated)
            cause = _declined(actual, counted)
            new = [r for r in reasons if r not in known_reasons]
            known_reasons.update(new)
            for reason in [*new, *([] if cause is None else [cause])]:
                self._require_allowed(reason, facts, actual, where)
            if reasons or cause is not None:
                self._count(cause or reasons[0])
            if reasons and cause is None:  # it ran in segments, which give the bits of kernels
                compare_outcomes(expected, actual, bound, where)
                if against is not None:
                    compare_outcomes(run(against, args), actual, bound, f"{where}/unjitted")
                served = False
                continue
            if cause is not None:
                if actual.error is None:  # NumPy has run it
                    compare_outcomes(run(self.function, args), actual, EXACT, where)
                served = False
                continue
            compare_outcomes(expected, actual, bound, where)
            patterns.add(str(facts.pattern))
            self.tally.served += expected.error is None
            self.tally.raised += expected.error is not None
            if expected.error is None:
                self._check_stages(decorated, known, args, actual, where)
            if against is not None:
                compare_outcomes(run(against, args), actual, bound, f"{where}/unjitted")
            if known and len(decorated.variants) > len(known):
                self.tally.second_variants += 1
                self._require_new_decisions(known, args, where)
        assert len(decorated.variants) <= len(patterns), (
            f"{decorated.variants} for {len(patterns)} pattern(s) of decisions"
        )
        return served

    def _require_allowed(self, cause: str, facts: Facts, actual: Outcome, where: str) -> None:
        row = allowed_decline(cause, facts)
        if row is None:
            raise AssertionError(f"{where}: no rule allows: {cause}") from actual.error

    def _count(self, cause: str) -> None:
        """One more call that was declined by a rule."""
        self.tally.declined[re.sub(r"^.*, in program: |run-time float .* into", "", cause)] += 1

    def _check_stages(
        self, decorated: Any, known: tuple[Any, ...], args: Any, actual: Outcome, where: str
    ) -> None:
        """The interpreted graphs of the variant, if it is known which one served the call."""
        variant = decorated.variants[0] if len(decorated.variants) else None
        is_known = variant not in known or (
            len(known) == 1 and not decorated.variants.all_segmented
        )
        if variant is None or not is_known:
            return
        traced = variant.traced
        for stage, graph in (("traced", traced.graph), ("fused", variant.schedule.graph)):
            outcome = run(interpreted(traced, graph, self.function), args)
            compare_outcomes(outcome, actual, self.bound, f"{where} against the {stage} graph")

    def _require_new_decisions(self, known: tuple[Any, ...], args: Any, where: str) -> None:
        """Each older variant has a guard that NumPy's rules ask for and that fails."""
        if not self.are_two:
            return  # lengths 0, 1 and 2 also decide where slices begin and end
        for variant in known:
            paths = paths_of(variant.traced, named_arguments(self.function, args), self.function)
            environment = host_environment(variant.traced.graph, paths)
            failing, wrong = unexplained_guards(variant.traced, paths, environment)
            assert failing, f"{where}: a second variant although all guards hold"
            assert not wrong, f"{where}: a second variant because of {wrong}"


def _reasons_of_python(decorated: Any) -> list[str]:
    """Why Python runs statements of the function, if that is how it runs."""
    segmented = decorated.variants.newest_segmented
    if segmented is None or decorated.variants.compiled:
        return []
    return list(dict.fromkeys(b.reason for b in segmented.boundaries))


def _declined(actual: Outcome, counted: Counter[str]) -> str | None:
    """Why fusejit did not take a call, or None; where it expects NumPy to raise, NumPy must."""
    if isinstance(actual.error, UnsupportedError):
        return str(actual.error)
    if isinstance(actual.error, FuseWarning):
        return str(actual.error).removeprefix(_RUNS_AS_NUMPY)
    return next(iter(counted), None)


def failure_of(
    program: RandomProgram, *, jit: bool, calls: str = "two", tally: Tally | None = None
) -> BaseException | None:
    """What goes wrong, or None."""
    try:
        with np.errstate(all="ignore"):
            check_program(program, jit=jit, calls=calls, tally=tally)
    except (Exception, AssertionError) as failure:
        return failure
    return None


def _cause(failure: BaseException | None) -> str:
    """The kind of a failure: its text without names and numbers."""
    text = re.sub(r"call \d, (un)?jitted", "", f"{type(failure).__name__} {failure}")
    return re.sub(r"[^A-Za-z ]", "", re.sub(r"\w*\d\w*", "", text))[:40]


def _runs(program: RandomProgram, calls: str) -> bool:
    """Whether NumPy runs the program (a shrunk one may use a name that is gone)."""
    with tempfile.TemporaryDirectory(prefix="fusejit-programs-") as folder:
        function = load(program, Path(folder))
        outcomes = [
            run(function, program.call(sizes, at))
            for at, sizes in enumerate(CALLS[calls](program.seed))
        ]
    errors = [o.error for o in outcomes if o.error is not None]
    return not any(isinstance(e, NameError) for e in errors) and (calls != "two" or not errors)


def check_seed(seed: int, *, jit: bool, calls: str = "two", tally: Tally | None = None) -> bool:
    """Check the program of a seed; on failure raise with its minimal form.

    Returns
    -------
    bool
        False if fusejit refuses the program, or a call of it, and may.
    """
    program, tally = random_program(seed), Tally() if tally is None else tally
    try:
        with np.errstate(all="ignore"):
            return check_program(program, jit=jit, calls=calls, tally=tally)
    except Exception as error:
        failure: Exception = error

    def same(shorter: RandomProgram) -> bool:
        return _runs(shorter, calls) and _cause(
            failure_of(shorter, jit=jit, calls=calls)
        ) == _cause(failure)

    small = shrink(program, same)
    raise AssertionError(f"{small}\n{failure_of(small, jit=jit, calls=calls)}") from failure


def campaign(
    seeds: Iterable[int], *, jit: bool, calls: str, log: Callable[[str], None]
) -> tuple[Tally, int]:
    """Check many programs and log each failure; the tally and how many failed."""
    tally, failures = Tally(), 0
    for seed in seeds:
        try:
            check_seed(seed, jit=jit, calls=calls, tally=tally)
        except Exception as failure:
            failures += 1
            log(f"{'=' * 100}\n{failure}")
        if tally.programs % 1000 == 0:
            log(f"seed {seed}: {failures} failures, {tally}")
    return tally, failures


def main(first: int, count: int, calls: str = "two", jit: str = "") -> int:
    """Run a campaign and print it."""
    tally, failures = campaign(
        range(first, first + count),
        jit=jit == "jit",
        calls=calls,
        log=lambda text: print(text, flush=True),
    )
    print(f"seeds {first} to {first + count - 1}, {calls} {jit}: {failures} failures\n{tally}")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]))
