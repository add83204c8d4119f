"""The families of random programs, each with its share of a campaign."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from fusejit.errors import ConcretizationError, InternalError, UnsupportedError, VerificationError
from fusejit.outcome import FAULT
from fusejit_testing import numpy_surface
from fusejit_testing.against_python import EndlessError, check_against_python
from fusejit_testing.programs.boundaries import check_boundaries, with_boundaries
from fusejit_testing.programs.everyday.check import (
    GRAMMARS,
    check_everyday,
    everyday_program,
    report_everyday,
)
from fusejit_testing.programs.failures import with_failures
from fusejit_testing.programs.fork_programs import check_forks, fork_program
from fusejit_testing.programs.given.check import GIVEN, check_given, given_program, report_given
from fusejit_testing.programs.grouped_check import check_grouped
from fusejit_testing.programs.held_programs import held_program, state_program
from fusejit_testing.programs.identities import identity_program, identity_program_by_python
from fusejit_testing.programs.list_programs import check_lists, list_program, report_of, set_program
from fusejit_testing.programs.mutation_fuzzer import (
    PROGRAMS,
    SLOWEST,
    How,
    Make,
    check_program,
    report,
)
from fusejit_testing.programs.mutation_maker import make_program
from fusejit_testing.programs.mutation_programs import MutationProgram, deadline
from fusejit_testing.programs.program_check import check_seed
from fusejit_testing.programs.rebinding_programs import check_rebinding
from fusejit_testing.programs.row_programs import row_program, rows_of
from fusejit_testing.programs.text_programs import text_program, texts_of

SHRINKING = 120.0  # seconds for making a failing program small
_WAYS = How(fusion="auto", strict=True, others=("aggressive", "none"))

Assert = Callable[[int, bool, Path], str | None]
"""Checks the program of a seed, jitted too or not, with a folder for files.

It may say how the program ran: whole, partly, in segments, or not compiled at all.
"""


class Failed(Exception):
    """A program failed; the text says how, its cause is what was raised."""


@dataclass(frozen=True, slots=True)
class Family:
    """Programs of one kind.

    Attributes
    ----------
    share : int
        Of all programs, in per cent.
    check : callable
        Raises for a program that fails: `Failed` if it could be made small.
    most : callable or None
        How many programs there are; None if there is no end of them.
    """

    share: int
    check: Assert
    most: Callable[[], int] | None = None


def kind_of(error: BaseException) -> str:
    """Which kind of failure an exception tells of."""
    chain: list[BaseException] = []
    while error is not None and error not in chain:
        chain.append(error)
        error = error.__cause__  # type: ignore[assignment]
    ours = (InternalError, VerificationError, TimeoutError, MemoryError, RecursionError)
    if any(isinstance(e, ours) or FAULT in str(e) or "a fault of fusejit" in str(e) for e in chain):
        return "faults"
    if any(isinstance(e, UnsupportedError | ConcretizationError) for e in chain):
        return "refusals"
    return "differences"


@contextmanager
def _made_small(program: MutationProgram, folder: Path, how: How) -> Iterator[None]:
    try:
        with deadline(SLOWEST):
            yield
    except Exception as error:
        try:
            with deadline(SHRINKING):
                text = report(program, folder, how)
        except Exception:
            text = f"{how}\n{program.source}\n{_text_of(error)}"
        raise Failed(text) from error


def _mutations(make: Make, seed: int, jit: bool, folder: Path) -> None:
    program = make(seed)
    for how in (_WAYS, replace(_WAYS, jit=True, others=()))[: 1 + jit]:
        with _made_small(program, folder, how):
            check_program(program, folder, how)


def _pythons(make: Make, seed: int, jit: bool, folder: Path) -> None:
    """Programs with statements that Python runs."""
    program = make(seed)
    try:
        for is_jitted in (False, True)[: 1 + jit]:
            with deadline(SLOWEST):
                way = check_boundaries(program, folder, jit=is_jitted)
            if way == "refused":
                raise UnsupportedError("refused")
    except Exception as error:
        raise Failed(f"{program.source}\n{_text_of(error)}") from error


def _identities(seed: int, jit: bool, folder: Path) -> None:
    if seed // 7 % 4:
        _mutations(identity_program, seed, jit, folder)
    else:
        _pythons(identity_program_by_python, seed, jit, folder)


def _rebinding(seed: int, jit: bool, folder: Path) -> None:
    for is_jitted in (False, True)[: 1 + jit]:
        with deadline(SLOWEST):
            if check_rebinding(seed, folder, jit=is_jitted) == "refused":
                raise UnsupportedError("refused")


def _forks(seed: int, jit: bool, folder: Path) -> None:
    for is_jitted in (False, True)[: 1 + jit]:
        try:
            with deadline(SLOWEST):
                check_forks(seed, folder, jit=is_jitted)
        except Exception as error:
            raise Failed(f"{fork_program(seed).source}\n{_text_of(error)}") from error


def _lists(seed: int, jit: bool, folder: Path) -> None:
    _check_containers(list_program(seed), jit, folder)


def _sets(seed: int, jit: bool, folder: Path) -> None:
    _check_containers(set_program(seed), jit, folder)


def _held(seed: int, jit: bool, folder: Path) -> None:
    _check_containers(held_program(seed), jit, folder)


def _states(seed: int, jit: bool, folder: Path) -> None:
    _check_containers(state_program(seed), jit, folder)


def _texts(seed: int, jit: bool, folder: Path) -> None:
    _by_calls(text_program(seed), texts_of, jit, folder)


def _rows(seed: int, jit: bool, folder: Path) -> None:
    _by_calls(row_program(seed), rows_of, jit, folder)


def _by_calls(
    program: MutationProgram,
    arguments_of: Callable[[MutationProgram, int], tuple[Any, ...]],
    jit: bool,
    folder: Path,
) -> None:
    """Programs with arguments of their own."""
    calls = [arguments_of(program, call) for call in range(len(program.calls))]
    try:
        for is_jitted in (False, True)[: 1 + jit]:
            with deadline(SLOWEST):
                check_against_python(program.load(folder), calls, jit=is_jitted)
    except EndlessError:
        return
    except Exception as error:
        raise Failed(f"{program.source}\n{calls}\n{_text_of(error)}") from error


def _check_containers(program: MutationProgram, jit: bool, folder: Path) -> None:
    def report(program: MutationProgram, folder: Path, *, jit: bool) -> str:
        return report_of(program, partial(check_lists, folder=folder, jit=jit))

    _by_objects(program, check_lists, report, jit, folder)


def _everyday(family: str, seed: int, jit: bool, folder: Path) -> str:
    program = everyday_program(family, seed)
    check, report = partial(check_everyday, family), partial(report_everyday, family)
    return _by_objects(program, check, report, jit, folder)


def _given(family: str, seed: int, jit: bool, folder: Path) -> str:
    program = given_program(family, seed)
    return _by_objects(program, check_given, report_given, jit, folder)


def _by_objects(
    program: MutationProgram,
    check: Callable[..., str],
    report: Callable[..., str],
    jit: bool,
    folder: Path,
) -> str:
    """Check a program with its kernels run by Python; compiled too if asked for, or if slow."""
    way, ways = "", [False, True] if jit else [False]
    for is_jitted in ways:
        try:
            with deadline(SLOWEST):
                way = check(program, folder, jit=is_jitted)
        except Exception as error:
            if not is_jitted and _is_late(error):
                ways += [True] if not jit else []
                continue
            try:
                with deadline(SHRINKING):
                    text = report(program, folder, jit=is_jitted)
            except Exception:
                text = f"{program.source}\n{_text_of(error)}"
            raise Failed(text) from error
    return way


def _is_late(error: Exception) -> bool:
    """Whether a check has ended because it took too long."""
    return isinstance(error, TimeoutError) or isinstance(error.__cause__, TimeoutError)


def _random(calls: str, seed: int, jit: bool, folder: Path) -> None:
    with deadline(SLOWEST + SHRINKING):
        check_seed(seed, jit=jit, calls=calls)


def _grouped(seed: int, jit: bool, folder: Path) -> None:
    with deadline(SLOWEST):
        for is_jitted in (False, True)[: 1 + jit]:
            check_grouped(seed, jit=is_jitted)


@cache
def _surface_calls() -> list[numpy_surface.Call]:
    found = numpy_surface.functions()
    return [call for name, function in found for call in numpy_surface.calls(name, function)]


def _surface(seed: int, jit: bool, folder: Path) -> None:
    call = _surface_calls()[seed]
    with deadline(SLOWEST):
        kind, text = numpy_surface.outcome(call)
    if kind == "wrong":
        raise Failed(f"{call}: {text}")


def _text_of(error: BaseException) -> str:
    return "".join(traceback.format_exception(error, limit=-5))


FAMILIES: dict[str, Family] = {
    "mutation": Family(14, partial(_mutations, PROGRAMS["mutation"])),
    "lists": Family(8, _lists),
    "sets": Family(8, _sets),
    "texts": Family(6, _texts),
    "rows": Family(4, _rows),
    "held": Family(4, _held),
    "states": Family(4, _states),
    **{name: Family(5, partial(_everyday, name)) for name in GRAMMARS},
    **{name: Family(5, partial(_given, name)) for name in GIVEN},
    "joins": Family(12, partial(_mutations, PROGRAMS["joins"])),
    "library": Family(12, partial(_mutations, PROGRAMS["library"])),
    "identities": Family(10, _identities),
    "rebinding": Family(8, _rebinding),
    "forks": Family(4, _forks),
    "boundaries": Family(6, partial(_pythons, lambda seed: with_boundaries(make_program(seed)))),
    "failures": Family(5, partial(_pythons, lambda seed: with_failures(make_program(seed)))),
    "two": Family(3, partial(_random, "two")),
    "edges": Family(3, partial(_random, "edges")),
    "many": Family(2, partial(_random, "many")),
    "grouped": Family(3, _grouped),
    "surface": Family(7, _surface, lambda: len(_surface_calls())),
}
"""Shares are of programs without end; calls of `surface` come on top, each once."""
