"""What fusejit itself raises.

Whatever NumPy would raise, NumPy raises: see Fallback in docs/design.md.
"""

from __future__ import annotations

from typing import Any, Self, TypeVar

from fusejit.outcome import Outcome, OutcomeKind

E = TypeVar("E", bound="FusejitError")


class FusejitError(Exception):
    """Base class of the errors that only fusejit raises.

    Attributes
    ----------
    location : fusejit.ir.source.Location or None
        The user's line that ran, where there is one.
    position : tuple of (int, int) or None
        Line and column in the traced function itself of the expression that was evaluated.
    what, remedy : str
        What the message says of that line, and what to write instead.
    kind : OutcomeKind
        What happens next.
    """

    location: Any = None
    position: tuple[int, int] | None = None
    what = ""
    remedy = ""
    kind = OutcomeKind.REFUSED

    @classmethod
    def at(cls, location: Any, what: str, remedy: str = "") -> Self:
        """The error at a line of the user's."""
        error = cls(str(Outcome(cls.kind, what, location, remedy)))
        error.location, error.what, error.remedy = location, what, remedy
        return error

    def become(self, kind: type[E]) -> E:
        """The same of another class."""
        error = kind(str(self))
        error.location, error.position = self.location, self.position
        error.what, error.remedy = self.what, self.remedy
        return error

    @property
    def outcome(self) -> Outcome:
        """The error as an outcome of a call."""
        if not self.what:
            return Outcome(self.kind, str(self))
        return Outcome(self.kind, self.what, self.location, self.remedy)


class UnsupportedError(FusejitError):
    """The function uses something that fusejit does not compile.

    The message names the variable or function, the user's line and what to write instead::

        @fuse_jit
        def f(x):
            return np.var(x, where=x > 0)     # ... line 3 ... np.var with where=, ...

        def f(x):                             # remedy: what a mask selects
            return np.var(x[x > 0])
    """


class NeedsPython(UnsupportedError):
    """A statement that only Python can run, such as a call of a function that cannot be traced.

    Under ``fullgraph=True`` this is an error. Otherwise Python runs the statement, and what stands
    around it is compiled in segments; with a warning if ``is_loop``, as that can be slower than
    NumPy. ``called`` is a function that Python calls wherever it is called: a recursive one. If
    ``may_change``, the cause is an object from outside that may be another one in a later call:
    where no statement is left to compile, that is asked again. If ``is_whole``, Python runs the
    whole function: segments would hand on other objects than those that it asks for.
    """

    kind = OutcomeKind.GRAPH_BREAK
    is_loop = False
    may_change = False
    is_whole = False
    called = ""


class ConcretizationError(FusejitError):
    """Python asked for the value of something that is known only when the kernel runs.

    As `NeedsPython`, an error under ``fullgraph=True`` alone::

        @fuse_jit(fullgraph=True)
        def f(x):
            return x / x.max().item()     # ConcretizationError: line 3 ...

        def f(x):                         # remedy: an element is a number already
            return x / x.max()
    """

    kind = OutcomeKind.GRAPH_BREAK


class OutOfTime(FusejitError):
    """A compile took longer than it may, and NumPy runs the call: see `fusejit.support.budget`."""

    kind = OutcomeKind.OUT_OF_TIME


class CutShort(FusejitError):
    """This process was forked in the middle of a compile: it compiles nothing, or not this call.

    See `fusejit.support.locks`.
    """

    kind = OutcomeKind.FALLBACK


class VerificationError(FusejitError):
    """The IR breaks one of the rules of `fusejit.ir.verifier.verify`: an internal error."""

    kind = OutcomeKind.FAULT


class ParseError(FusejitError):
    """A text is not valid IR; the message gives line and column."""


class InternalError(FusejitError):
    """A pass failed; the message says where the IR before it was saved."""

    kind = OutcomeKind.FAULT


class ScheduleError(FusejitError):
    """A step cannot be applied: the message names step, op, dim, rule, and what would be legal."""
