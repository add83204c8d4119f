"""What fusejit itself raises.

Whatever NumPy would raise, NumPy raises: see Declining in docs/design.md.
"""

from __future__ import annotations

from typing import Any


class FusejitError(Exception):
    """Base class of the errors that only fusejit raises.

    Attributes
    ----------
    location : fusejit.ir.source.Location or None
        The user's line that ran, where there is one.
    position : tuple of (int, int) or None
        Line and column in the traced function itself of the expression that was evaluated.
    """

    location: Any = None
    position: tuple[int, int] | None = None


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
    """The function does what Python itself has to do: it calls what cannot be followed, say.

    Under ``fullgraph=True`` this is an error. Otherwise Python runs the statement, and what stands
    around it is compiled in segments; with a warning if ``is_loop``, as that can be slower than
    NumPy. ``called`` is a function that Python calls wherever it is called: a recursive one. If
    ``may_change``, the cause is an object from outside that may be another one in a later call:
    where no statement is left to compile, that is asked again.
    """

    is_loop = False
    may_change = False
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


class OutOfTime(FusejitError):
    """A compile took longer than it may: the call runs as plain NumPy (see `fusejit.budget`)."""


class VerificationError(FusejitError):
    """The IR breaks one of the rules of `fusejit.ir.verifier.verify`: an internal error."""


class ParseError(FusejitError):
    """A text is not valid IR; the message gives line and column."""


class InternalError(FusejitError):
    """A pass failed; the message says where the IR in front of it was saved."""


class NumpyRaises(str):
    """Why a call is left to NumPy: an exception that Python or NumPy is expected to raise.

    Attributes
    ----------
    otherwise : str
        What was the case if the call succeeds: our own fault, unless said otherwise.
    """

    otherwise: str

    def __new__(cls, text: str, otherwise: str = "") -> NumpyRaises:
        """The cause; without ``otherwise`` a call that succeeds is a fault of fusejit."""
        cause = super().__new__(cls, text)
        cause.otherwise = otherwise or f"{FAULT}: it was not seen that this is no case of: {text}"
        return cause


FAULT = "an internal error of fusejit, please report it"
