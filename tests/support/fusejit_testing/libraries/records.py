"""What the judge finds, as data that goes through JSON."""

from __future__ import annotations

import enum
from collections import Counter
from dataclasses import asdict, dataclass, field, fields
from typing import Any


class Kind(enum.StrEnum):
    """What is wrong with a call."""

    WRONG = "wrong"  # another value, dtype, shape, exception, aliasing
    REFUSED = "refused"  # an error of fusejit's that names a limit
    ERROR = "error"  # an error of fusejit's own: internal, or a wrong forecast
    HANG = "hang"


@dataclass(frozen=True, slots=True)
class Finding:
    """A call that went wrong.

    Attributes
    ----------
    kind : Kind
    function : str
        Module and qualified name.
    what : str
        How the fused call differs.
    arguments : str
        Types, dtypes and shapes.
    test : str
        The test in which it was met first.
    pickle : str
        File of the arguments; empty if they could not be pickled.
    """

    kind: Kind
    function: str
    what: str
    arguments: str = ""
    test: str = ""
    pickle: str = ""


@dataclass(slots=True)
class FunctionTally:
    """The calls of one function."""

    calls: int = 0
    compared: int = 0
    once: int = 0  # run fused only: they have effects outside
    plain: int = 0  # run undecorated only: the test's time was up
    alike: int = 0  # run undecorated only: many calls of their kind were compared
    alone: int = 0  # run undecorated only: they drew on figures, where nobody had seen them draw
    copies: int = 0  # as the undecorated function on copies, if not as on the caller's arguments
    near: int = 0  # compared, floats equal but for the last bits
    wrong: int = 0
    refused: int = 0
    errors: int = 0
    traces: int = 0
    plain_ns: int = 0  # of calls in which nothing was compiled
    fused_ns: int = 0
    timed: int = 0
    compile_ns: int = 0  # of the other calls
    warned: Counter[str] = field(default_factory=Counter)
    uncopied: Counter[str] = field(default_factory=Counter)

    def add(self, other: FunctionTally) -> None:
        """Add the calls of another one."""
        for name, value in asdict_of(other).items():
            if isinstance(value, dict):
                getattr(self, name).update(value)
            else:
                setattr(self, name, getattr(self, name) + value)


def asdict_of(tally: FunctionTally) -> dict[str, Any]:
    """As JSON."""
    values = ((each.name, getattr(tally, each.name)) for each in fields(tally))
    return {name: dict(v) if isinstance(v, Counter) else v for name, v in values}


def tally_from(data: dict[str, Any]) -> FunctionTally:
    """From JSON."""
    counters = {name: Counter(data[name]) for name in ("warned", "uncopied")}
    return FunctionTally(**{**data, **counters})


def finding_from(data: dict[str, Any]) -> Finding:
    """From JSON."""
    return Finding(**{**data, "kind": Kind(data["kind"])})


@dataclass(slots=True)
class TestRecord:
    """One test of the library's: its outcome, the functions it called, and what was found."""

    __test__ = False  # no test of pytest's

    test: str
    outcome: str
    seconds: float
    tallies: dict[str, FunctionTally] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    message: str = ""

    def as_json(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "test": self.test,
            "outcome": self.outcome,
            "seconds": self.seconds,
            "tallies": {name: asdict_of(tally) for name, tally in self.tallies.items()},
            "findings": [asdict(finding) for finding in self.findings],
            "message": self.message,
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> TestRecord:
        """From JSON."""
        return TestRecord(
            data["test"],
            data["outcome"],
            data["seconds"],
            {name: tally_from(t) for name, t in data["tallies"].items()},
            [finding_from(f) for f in data["findings"]],
            data["message"],
        )
