"""The two ways in which tracing stops without an error of its own."""

from __future__ import annotations

NUMPY_RAISES = "NumPy raises"
"""How the cause begins when the call is declined so that NumPy raises its own error."""

NUMPY_WARNS = "NumPy warns"
"""How the cause begins when it is declined so that NumPy gives its own warning."""


class Declined(Exception):
    """fusejit does not take this call; plain NumPy runs it on the caller's own arguments.

    Raised for arguments outside the machinery and wherever NumPy would raise: NumPy then raises
    its own error at the user's line.
    """

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause

    @property
    def is_numpys(self) -> bool:
        """Whether NumPy has something to tell at the user's line: an error or a warning."""
        return self.cause.startswith((NUMPY_RAISES, NUMPY_WARNS))


def numpy_raises(error: BaseException | str) -> Declined:
    """The `Declined` for an operation for which NumPy (or Python) raises ``error``."""
    text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    return Declined(f"{NUMPY_RAISES} {text}")


class Restart(Exception):
    """Start the trace again; the decision table has been changed."""
