"""What fusejit itself raises.

Whatever NumPy would raise, NumPy raises: see Declining in docs/design.md.
"""

from __future__ import annotations


class FusejitError(Exception):
    """Base class of the errors that only fusejit raises."""


class UnsupportedError(FusejitError):
    """The function uses something that fusejit does not trace.

    The message names the function that was called, the user's line and what to write instead::

        @fuse_jit
        def f(x):
            return np.linalg.eigvals(x)      # ... numpy.linalg.eigvals ... line 3 ...

        def f(x):                     # remedy: keep the call outside the decorated function
            return np.linalg.eigvals(g(x))
    """


class ConcretizationError(FusejitError):
    """Python asked for the value of something that is known only when the kernel runs.

    ``if``, ``while``, ``int()`` and ``float()`` need a value; an element of an array has none
    while the function is traced::

        @fuse_jit
        def f(x):
            if x.sum() > 0:           # ConcretizationError: line 3 ...
                return x
            return -x

        def f(x):                     # remedy: choose element by element
            return np.where(x.sum() > 0, x, -x)
    """


class VerificationError(FusejitError):
    """The IR breaks one of the rules of `fusejit.ir.verifier`: an internal error."""


class ParseError(FusejitError):
    """A text is not valid IR; the message gives line and column."""


class InternalError(FusejitError):
    """A pass failed; the message says where the IR in front of it was saved."""
