"""The only dynamic variable of fusejit: the active trace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import CodeType
from typing import Any, Protocol

from fusejit.ir.source import Location


class ActiveTrace(Protocol):
    """The part of the active `Trace` that messages and refusals use."""

    location: Location
    untraced: dict[CodeType, str]
    regions: list[Any]
    assumes_sizes: bool


ACTIVE: ContextVar[ActiveTrace | None] = ContextVar("fusejit_active_trace", default=None)


def active_trace() -> ActiveTrace | None:
    """The trace that runs in this context, if any."""
    return ACTIVE.get()


def makes_text(trace: ActiveTrace) -> bool:
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
