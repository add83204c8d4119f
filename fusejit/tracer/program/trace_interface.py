"""What the front end needs of a trace: it can run without one, as its tests do."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, Protocol

import numpy as np

from fusejit.ir.host import Path
from fusejit.ir.traced import LibraryRead, PathCheck


class CapturedReadsInterface(Protocol):
    """What the front end needs of what a trace reads."""

    library_reads: dict[tuple[int, str], LibraryRead]
    entry_stubs: list[FunctionType]

    def outside(self, obj: Any) -> Path:
        """Where calls find an object that is the same one in all of them."""

    def read(self, path: Path, obj: object) -> object:
        """The traced value of a captured object; records its checks."""

    def check(self, check: PathCheck) -> None:
        """Record one check without a traced value."""

    def constant(self, array: np.ndarray) -> Any:
        """The traced value of an array that was made statically."""


class TraceInterface(Protocol):
    """A trace.

    Attributes
    ----------
    errstate : dict
        What the program has set with `numpy.errstate`.
    handler : callable
        The entry of the dispatch table, with the parameters of a function; None if there is none.
    is_traced : callable
        Whether an object is a traced value.
    """

    notes: list[str]
    untraced: dict[CodeType, str]
    errstate: dict[str, str]
    has_untraced_callee: bool
    given: frozenset[str] | None
    inlined: Callable[[FunctionType, tuple[Any, ...]], Any]
    handler: Callable[[Any], Callable[..., Any] | None]
    is_traced: Callable[[object], bool]

    @property
    def captured_reads(self) -> CapturedReadsInterface:
        """What the trace has read."""
