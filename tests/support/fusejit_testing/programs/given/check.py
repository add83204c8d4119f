"""Programs whose arguments the caller keeps, against plain Python: every call both ways.

Each way has a module of its own, with its own classes and global objects, and arguments of its own.
After each call both describe the same: the arguments, the result or the error, what global names
stand for and what the classes hold. A call may take the objects of the call before it, longer ones.
"""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fusejit.api import FuseWarning
from fusejit.codegen.lower.deferred_errors import DEFERRED_TEXTS
from fusejit.outcome import FAULT
from fusejit_testing.against_python import LONGEST_IN_PYTHON
from fusejit_testing.oracle import decorate, no_faults
from fusejit_testing.programs.everyday.check import way_of
from fusejit_testing.programs.everyday.grammar import Grammar, made_program
from fusejit_testing.programs.given.descriptions import Describer, class_values
from fusejit_testing.programs.given.dictionaries import DICTIONARIES
from fusejit_testing.programs.given.lists import given_list_program
from fusejit_testing.programs.given.objects import OBJECTS
from fusejit_testing.programs.given.values import FLAVOURS, Giver
from fusejit_testing.programs.list_programs import report_of
from fusejit_testing.programs.mutation_programs import MutationProgram, deadline

_GRAMMARS: Mapping[str, Grammar] = {"objects": OBJECTS, "dictionaries": DICTIONARIES}
GIVEN = (*_GRAMMARS, "given_lists")
NUM_CALLS = 7
LONGEST = 40  # items of an argument that another call is given again
_FAULTS = (FAULT, "a fault", "internal error", "VerificationError")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def given_program(family: str, seed: int) -> MutationProgram:
    """The program of a seed, with the calls of this check."""
    if family in _GRAMMARS:
        program = made_program(family, _GRAMMARS[family], seed)
    else:
        program = given_list_program(seed)
    rng = random.Random(f"calls {family} {seed}")
    usual = rng.randrange(len(FLAVOURS))
    calls = []
    for at in range(NUM_CALLS):
        flavour = usual if rng.random() < 0.5 else rng.randrange(len(FLAVOURS))
        calls.append({"at": at, "flavour": flavour, "again": int(rng.random() < 0.25)})
    return replace(program, calls=(*calls, *calls[1:3]))


class Way:
    """One of two ways to run a program: its module and the arguments of its last call."""

    def __init__(self, program: MutationProgram, folder: Path) -> None:
        self.program = program
        self.function = program.load(folder)
        self.names = self.function.__globals__
        self.last: list[Any] | None = None

    def arguments(self, call: dict[str, int]) -> list[Any]:
        """The arguments of a call: new ones, or the last ones with more items."""
        rng = random.Random(f"{self.program.seed} {call['at']}")
        give = Giver(rng, FLAVOURS[call["flavour"]], self.names)
        made = [give.argument(parameter.dtype) for parameter in self.program.parameters]
        if self.last is None or not call["again"] or _is_long(self.last):
            self.last = made
            return made
        for old, new in zip(self.last, made, strict=True):
            if isinstance(old, list):
                old.extend(new[:3])
            elif isinstance(old, dict):
                old.update(list(new.items())[:3])
        return self.last

    def run(self, function: Callable[..., Any], call: dict[str, int]) -> tuple[str, str]:
        """The error of a call, or nothing, and what the caller can see afterwards."""
        arguments = self.arguments(call)
        result, error = None, ""
        try:
            with np.errstate(all="ignore"):
                result = function(*arguments)
        except (TimeoutError, MemoryError, RecursionError):
            raise
        except Exception as raised:
            error = f"{type(raised).__name__}: {_ADDRESS.sub('', str(raised))}"
        describer = Describer()
        seen = [describer.of(each) for each in (*arguments, result)]
        seen += [f"{n} = {describer.of(self.names[n])}" for n in _state_of(self.names)]
        seen.append(repr(class_values(self.names)))
        return error, "\n  ".join(seen)


def _is_long(arguments: list[Any]) -> bool:
    return any(len(each) > LONGEST for each in arguments if isinstance(each, list | dict))


def _state_of(names: Mapping[str, Any]) -> list[str]:
    every = (name for each in _GRAMMARS.values() for name in each.state)
    return [name for name in every if name in names]


def check_given(program: MutationProgram, folder: Path, *, jit: bool = False) -> str:
    """Run every call and raise what differs from Python; how it ran: whole, segments, declined."""
    with warnings.catch_warnings(record=True) as warned, no_faults() as reports:
        warnings.simplefilter("ignore", RuntimeWarning)
        warnings.simplefilter("always", FuseWarning)
        plain, traced = (Way(program, folder) for _ in range(2))
        fused = decorate(traced.function, jit=jit, reports=reports)
        for at, call in enumerate(program.calls):
            try:
                with deadline(LONGEST_IN_PYTHON):
                    expected = plain.run(plain.function, call)
            except (TimeoutError, MemoryError, RecursionError):
                return "skipped"
            actual = traced.run(fused, call)
            assert_equal(expected, actual, f"call {at}")
        texts = [str(fused.variants), *(str(each.message) for each in warned)]
        found = [text for text in texts if any(fault in text for fault in _FAULTS)]
        assert not found, f"{FAULT}: {found[0]}"
    return way_of(fused)


def assert_equal(expected: tuple[str, str], actual: tuple[str, str], where: str) -> None:
    """Raise unless both ways gave the same."""
    errors = expected[0], actual[0]
    if errors[1].partition(": ")[2] in DEFERRED_TEXTS:  # the general text of a late error
        errors = expected[0].partition(":")[0], actual[0].partition(":")[0]
    assert errors[0] == errors[1], f"{where}: raised {actual[0]!r} instead of {expected[0]!r}"
    assert expected[1] == actual[1], f"{where}:\n  {actual[1]}\ninstead of\n  {expected[1]}"


def report_given(program: MutationProgram, folder: Path, *, jit: bool) -> str:
    """A failing program, shrunk, with its arguments and its failure."""

    def arguments(small: MutationProgram, call: int) -> object:
        describer = Describer()
        made = Way(small, folder).arguments(small.calls[call])
        return [describer.of(each) for each in made]

    return report_of(program, partial(check_given, folder=folder, jit=jit), arguments)
