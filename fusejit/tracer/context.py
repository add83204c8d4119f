"""The only dynamic variable of fusejit: the active trace."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

from fusejit.errors import UnsupportedError

if TYPE_CHECKING:
    from fusejit.tracer.trace import Trace

ACTIVE: ContextVar[Trace | None] = ContextVar("fusejit_active_trace", default=None)


def active_trace() -> Trace | None:
    """The trace that runs in this context, if any."""
    return ACTIVE.get()


def current_trace() -> Trace:
    """The trace that runs in this context."""
    trace = ACTIVE.get()
    if trace is None:
        raise UnsupportedError(
            "a traced array was used after its trace had ended: the decorated function kept it "
            "somewhere; return it instead"
        )
    return trace
