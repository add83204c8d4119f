"""The only dynamic variable of fusejit: the active trace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from fusejit.errors import UnsupportedError

if TYPE_CHECKING:
    from fusejit.tracer.runtime.trace import Trace

ACTIVE: ContextVar[Trace | None] = ContextVar("fusejit_active_trace", default=None)


def active_trace() -> Trace | None:
    """The trace that runs in this context, if any."""
    return ACTIVE.get()


def makes_text(trace: Trace) -> bool:
    """Whether text of a traced value is text of the program, which runs on traced values.

    Behind the trace, and in messages (`outside_program`), it is text about the traced value.
    """
    return ACTIVE.get() is trace


@contextmanager
def outside_program() -> Iterator[None]:
    """For texts of ours about objects of the program: they decide nothing."""
    token = ACTIVE.set(None)
    try:
        yield
    finally:
        ACTIVE.reset(token)


def current_trace() -> Trace:
    """The trace that runs in this context."""
    trace = ACTIVE.get()
    if trace is None:
        raise UnsupportedError(
            "a traced array was used after its trace had ended: the decorated function kept it "
            "somewhere; return it instead"
        )
    return trace
