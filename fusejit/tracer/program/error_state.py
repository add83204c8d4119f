"""``with np.errstate`` in the traced program, in force for host calls and host numbers.

Kernels give no floating-point warnings. NumPy itself gives some where it runs between kernels, and
where the launcher computes a number of NumPy's: these run under what the program has set around
them, on top of what the caller of the program has set.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python
from fusejit.tracer.program.trace_interface import TraceInterface

_CONDITIONS = ("divide", "over", "under", "invalid")
_NATIVE = ("ignore", "warn", None)


class TracedErrstate(np.errstate):
    """``np.errstate(..)``, in force for the trace as well."""

    def __init__(self, trace: TraceInterface, kwargs: dict[str, Any]) -> None:
        if any(value not in _NATIVE for value in kwargs.values()):
            raise needs_python("np.errstate asks for exceptions or callbacks", MOVE_OUTSIDE)
        super().__init__(**kwargs)
        self._trace = trace
        self._kwargs = kwargs
        self._before = trace.errstate

    def __enter__(self) -> None:
        super().__enter__()
        self._before = self._trace.errstate
        everywhere = self._kwargs.get("all")
        given = {name: self._kwargs.get(name, everywhere) for name in _CONDITIONS}
        now = self._before | {k: v for k, v in given.items() if v is not None}
        self._trace.errstate = {name: now[name] for name in _CONDITIONS if name in now}

    def __exit__(self, *exc_info: Any) -> None:
        self._trace.errstate = self._before
        super().__exit__(*exc_info)
