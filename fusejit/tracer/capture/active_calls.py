"""The user's functions that are active in a trace, and what becomes of recursions."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from fusejit.errors import NeedsPython, UnsupportedError
from fusejit.tracer.builder.trace import running_trace
from fusejit.tracer.program.fallback import Retrace
from fusejit.tracer.program.locations import for_program, needs_python

MAX_DEPTH = 100
MAX_RECURSIONS = 16  # calls that functions make of themselves, in one trace

_LOOPS = ("recursions", "loops")
"""The decision to trace functions that call themselves as loops: for the sake of which one."""


class ActiveCalls:
    """The calls that one trace is in."""

    def __init__(self) -> None:
        self._depth = 0
        self._active: Counter[CodeType] = Counter()
        self._recursions = 0

    @property
    def has_loops(self) -> bool:
        """Whether functions that call themselves are traced as loops."""
        trace = running_trace()
        return trace is not None and _LOOPS in trace.table

    def make(
        self,
        function: FunctionType,
        bind: Callable[[], Callable[..., Any]],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Make a call; a trace with more recursions than a few starts again, with loops."""
        code = function.__code__
        self._recursions += self._active[code] > 0
        if self._depth >= MAX_DEPTH or self._recursions > MAX_RECURSIONS:
            self._refuse(function)
        self._depth += 1
        self._active[code] += 1
        try:
            return native_call(bind(), args, kwargs)
        except UnsupportedError as error:
            if self._recursions and self._active[code] == 1:
                self._start_again(function)
            self.name_recursion(function, error)
            raise
        finally:
            self._depth -= 1
            self._active[code] -= 1

    def _start_again(self, function: FunctionType) -> None:
        """Trace again with loops, if that was not tried."""
        trace = running_trace()
        if trace is not None and _LOOPS not in trace.table:
            trace.table[_LOOPS] = function.__qualname__
            raise Retrace from None

    def name_recursion(self, function: FunctionType, error: Exception) -> None:
        """Have an error say that it has ended the trace of a recursion."""
        trace = running_trace()
        is_loop = trace is not None and trace.table.get(_LOOPS) == function.__qualname__
        if is_loop and isinstance(error, NeedsPython):
            error.called = function.__name__

    def _refuse(self, function: FunctionType) -> None:
        what = f"calls of {function.__qualname__} are nested more than {MAX_DEPTH} deep"
        if self._active[function.__code__]:
            self._start_again(function)
            what = f"{function.__qualname__} calls itself more than {MAX_RECURSIONS} times"
        error = needs_python(what, "write the recursion as a loop")
        error.called = function.__name__
        raise error


@functools.partial(for_program, depth=5)
def native_call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call without callbacks; user code that it reaches is noticed by the watch."""
    return function(*args, **kwargs)
