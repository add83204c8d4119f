"""`Outcome`: why a call, or a statement of it, is not served by compiled code.

There is one type for all of these: what a launcher returns when its variant does not serve a call,
what ends a trace, what a function is refused for, and a fault of fusejit. The kind decides what
happens next, in `fusejit.dispatch.dispatcher`:

    guard failed    another variant is asked, or made
    NumPy raises    NumPy runs the call and raises its own exception; told if it does not
    NumPy warns     NumPy runs the call and gives its own warning
    fallback        NumPy runs the call
    graph break     Python runs the statement, what stands around it is compiled in segments
    refused         the same with a warning, or NumPy runs the call
    out of time     NumPy runs calls of this signature from now on
    fault           the same, with a report for us
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from fusejit.dataclass import dataclass


class OutcomeKind(Enum):
    """What happens next: see the module."""

    GUARD_FAILED = "guard failed"
    NUMPY_RAISES = "NumPy raises"
    NUMPY_WARNS = "NumPy warns"
    FALLBACK = "fallback"
    OVERLAP = "overlap"
    GRAPH_BREAK = "graph break"
    REFUSED = "refused"
    OUT_OF_TIME = "out of time"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Why compiled code does not serve a call, or a statement of it.

    Parameters
    ----------
    kind : OutcomeKind
    reason : str
        A clause.
    location : fusejit.ir.source.Location, optional
        The user's line.
    remedy : str
        What to write instead, where that is known.
    otherwise : str
        Where NumPy is expected to raise: what was the case if it does not.
    """

    kind: OutcomeKind
    reason: str
    location: Any = None
    remedy: str = ""
    otherwise: str = ""

    @property
    def is_fault(self) -> bool:
        """Whether fusejit has failed, before anything that the caller could see."""
        return self.kind is OutcomeKind.FAULT

    @property
    def is_raised_by_numpy(self) -> bool:
        """Whether NumPy has something to tell at the user's line: an exception or a warning."""
        return self.kind in (OutcomeKind.NUMPY_RAISES, OutcomeKind.NUMPY_WARNS)

    @property
    def is_final(self) -> bool:
        """Whether calls of this signature are never tried again."""
        return self.kind in (OutcomeKind.FAULT, OutcomeKind.OUT_OF_TIME)

    @property
    def advice(self) -> str:
        """The reason with the remedy, without the place."""
        return f"{self.reason}; {self.remedy}" if self.remedy else self.reason

    def __str__(self) -> str:
        at = self.location
        place = "" if at is None else f"{at.file}:{at.line}, in {at.function}: "
        return place + self.advice


FAULT = "an internal error of fusejit, please report it"


def fallback(reason: str) -> Outcome:
    """NumPy runs the call."""
    return Outcome(OutcomeKind.FALLBACK, reason)


def overlap(reason: str) -> Outcome:
    """NumPy runs the call, as an array that is written shares memory with another one."""
    return Outcome(OutcomeKind.OVERLAP, reason, remedy="pass a copy of one of them")


def guard_failed(reason: str) -> Outcome:
    """Another variant may serve the call."""
    return Outcome(OutcomeKind.GUARD_FAILED, reason)


def numpy_raising(error: str, otherwise: str = "") -> Outcome:
    """NumPy, or Python, is expected to raise; without ``otherwise`` it is our fault if not."""
    expected = f'{FAULT}: fusejit expected "{error}", but the call raised no exception'
    otherwise = otherwise or expected
    return Outcome(OutcomeKind.NUMPY_RAISES, error, otherwise=otherwise)


INTERPRET = object()
"""Returned for a call that the entry stub is to run in Python by itself."""

MISS = guard_failed("another variant")
"""The outcome of a launcher that says no more."""


def is_of_kind(outcome: object, kind: OutcomeKind) -> bool:
    """Whether an object is an outcome of some kind."""
    return isinstance(outcome, Outcome) and outcome.kind is kind
