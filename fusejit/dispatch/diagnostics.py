"""`Diagnostics`: the warnings about one function, and the counts of its fallbacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fusejit.errors import FusejitError, InternalError
from fusejit.failures import fault
from fusejit.notices import warn
from fusejit.options import Options
from fusejit.outcome import Outcome, OutcomeKind
from fusejit.support.interrupts import is_from_handler
from fusejit.variants import Variants


class Diagnostics:
    """Warnings and reports of one function.

    Parameters
    ----------
    function : callable
    options : Options
    variants : Variants
        Counts what fell back.
    shown : set of str
        Warnings that were shown already; shared with the segments of the function.
    """

    def __init__(
        self, function: Callable[..., Any], options: Options, variants: Variants, shown: set[str]
    ) -> None:
        self._function = function
        self._options = options
        self._variants = variants
        self._shown = shown

    def count(self, outcome: Outcome) -> None:
        """Count a fallback call; the first one of an outcome warns at the user's line.

        A segment may get an array and a view of it because a statement was split between them:
        only `explain` reports this, because the user's own arguments need not share memory.
        """
        cause = str(outcome)
        self._variants.fallbacks[cause] += 1
        if self._options.is_segment and outcome.kind is OutcomeKind.OVERLAP:
            return
        if self._variants.fallbacks[cause] == 1:
            self.warn_once(f"{self._function.__name__} runs as plain NumPy for this call: {cause}")

    def warn_once(self, text: str) -> None:
        """Warn once at the user's line if warnings are enabled."""
        if self._options.warn and text not in self._shown:
            self._shown.add(text)
            warn(text)

    @contextmanager
    def failing(self, stage: str) -> Iterator[None]:
        """Turn an exception in a stage without IR into an internal error."""
        try:
            yield
        except Exception as error:
            if is_from_handler(error) or isinstance(error, Warning | FusejitError):
                raise  # a warning may have been made an error
            raise self.fault(error, stage) from error

    def fault(self, error: Exception, stage: str) -> InternalError:
        """A fault of fusejit in a stage that has no IR, with a report."""
        return fault(self._function.__name__, self._options, error, [stage])
