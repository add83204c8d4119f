"""Interpret the first calls of a function until a trace is likely to pay.

A function that uses arrays is traced at its first call. Most others are never worth a trace: it
takes as long as a thousand calls of a small function, and loading the compiler as long as a
million. The time that the calls take in Python decides:

- A function without loops and arrays has nothing to compile. After `SETTLED` calls its own
  statements serve calls, and only some calls are checked for arrays.
- A function with loops is traced once its calls have taken `WORTH_SECONDS`, or `LOADING_SECONDS`
  if the compiler is not loaded, and the process can afford it (`speculation`).
- A call whose loops run long is compiled at once: where the arguments give the number of passes,
  before it starts; otherwise Python counts the passes of a restartable call, abandons it and
  starts it again, compiled (`counted_loops`). Counting costs a tenth of short passes, so after
  `SETTLED` calls only those with larger arguments are counted.
"""

from __future__ import annotations

import math
import operator
import time
from collections.abc import Callable
from types import FunctionType
from typing import Any

from fusejit.codegen.launcher.call_guard import (
    CONTAINERS,
    NEVER,
    SAMPLE,
    CallGuard,
    Expected,
    last_look,
)
from fusejit.entry_stubs.entry_stub import MAX_AT_ONCE, EntryStub
from fusejit.entry_stubs.stub_code import FunctionBody
from fusejit.ir.raw_reads import has_asking_class
from fusejit.outcome import MISS
from fusejit.support.budget import calls_until_a_look, compiler_is_loaded, speculation
from fusejit.tracer.source.source_text import as_definition, find_source
from fusejit.warm_up.counted_loops import LoopsTooLong, counting, is_immutable
from fusejit.warm_up.loop_trips import loop_trips
from fusejit.warm_up.reachable_code import DEPTH, ReachableCode, holds_array, reachable_code

SETTLED = 64  # calls of a function without loops, before most calls pass unchecked
WORTH_SECONDS = 5e-3  # of calls, from which on a trace may pay
LOADING_SECONDS = 2e-2  # the same, where the compiler has to be loaded first
FEW = 64  # items or passes; nested loops over fewer do not run long
LONG_SECONDS = 5e-5  # of a call, for which a check in Python takes no time
GROWTH = 2  # times as large as those of counted calls, up to which arguments are alike
LEAST_LIMIT = 16  # up to which all sizes are alike
MAX_DEPTH = 4  # nested calls; a deeper recursion uses one frame a call
FIRST_UNWATCHED = 16  # calls that pass unchecked at first
MANY_PASSES = 200_000  # through the loops of a call: about ten milliseconds of Python
LOADING_PASSES = 2_000_000  # the same, where the compiler has to be loaded first


class FirstCalls:
    """The first calls of one function.

    Parameters
    ----------
    function : FunctionType
        The user's.
    entry_stub : EntryStub
    run : callable
        Runs the undecorated function; takes all parameters by position.

    Attributes
    ----------
    seconds : float
        Time that interpreted calls have taken.
    is_speculative : bool
        Whether a call that is to be traced may not be worth it.
    """

    def __init__(
        self,
        function: FunctionType,
        entry_stub: EntryStub,
        run: Callable[..., Any],
    ) -> None:
        self._function = function
        self._entry_stub = entry_stub
        self._run = run
        self._code = ReachableCode(has_arrays=False, has_loops=False)
        self._counted: Callable[..., Any] | None = None
        self._calls = self._depth = 0
        self._is_counted = self._is_settled = False
        self._limits: list[int] = []  # up to which arguments are no larger than those of calls
        self.seconds = 0.0
        self.is_speculative = False

    def call(self, args: tuple[Any, ...]) -> Any:
        """Run a call in Python; an `Outcome` if it is to be traced."""
        if any(map(has_asking_class, args)):
            return MISS
        if self._is_settled:
            return self._checked(args)
        is_examined = not self._calls & (self._calls - 1)  # the first, second, fourth ..
        self._calls += 1
        if self._are_of_arrays(args, 0):
            return MISS
        if is_examined:
            with speculation.spending():
                if self._calls == 1:
                    self._code = reachable_code(self._function, args)
                if self._code.has_arrays or self._are_of_arrays(args, DEPTH):
                    return MISS
                if self._code.has_loops and self._runs_long(args):
                    return MISS
        if self._is_worth_it():
            return MISS
        counted = self._counting(args) if self._code.has_loops else None
        if counted is not None:
            return self._timed_as_seen(counted, args)
        if self._calls >= SETTLED or self._depth >= MAX_DEPTH:
            self._settle(args, FIRST_UNWATCHED)
        return self._timed(self._run, args)

    def reason(self) -> str:
        """Say why Python runs calls, for users."""
        if not self._code.has_loops:
            return ": it has neither arrays nor loops"
        return f" so far: its calls have taken {self.seconds * 1e3:.2g} ms"

    def _checked(self, args: tuple[Any, ...]) -> Any:
        """Run one call of many, and check whether the others may pass unchecked."""
        if self._are_of_arrays(args, 1) or self._is_worth_it():
            return MISS
        if not self._code.has_loops:
            guard = self._entry_stub.guard
            if guard is not None and last_look(args) < guard.calls:
                self._settle(args, NEVER)
            elif not self._entry_stub.resume(args):
                return MISS
            return self._run(*args)
        passed = self._entry_stub.at_once
        most = calls_until_a_look(self.seconds / self._calls, self.seconds)
        if not self._entry_stub.resume(args, min(most, MAX_AT_ONCE)):
            return MISS
        return self._timed(self._run, args, passed)

    def _are_of_arrays(self, args: tuple[Any, ...], depth: int) -> bool:
        """Whether arguments are arrays, or hold some."""
        return any(holds_array(arg, self._code.names, depth) for arg in args)

    def _is_worth_it(self) -> bool:
        """Whether the calls so far have taken so long that a trace may pay."""
        if not self._code.has_loops:
            return False
        least = WORTH_SECONDS if compiler_is_loaded() else LOADING_SECONDS
        self.is_speculative = self.seconds > least and speculation.affords()
        return self.is_speculative

    def _settle(self, args: tuple[Any, ...], unwatched: int) -> None:
        """Have the function's own statements serve calls."""
        self._is_settled = True
        anything = [Expected(no_array=True) for _ in args]
        guard = CallGuard(anything, function=self._function, unwatched=unwatched)
        self._entry_stub.install_body(FunctionBody.of(self._function, self._run), guard)

    def _runs_long(self, args: tuple[Any, ...]) -> bool:
        """Whether the loops of a call run long, as far as the arguments give it."""
        if max(map(_size_of, args), default=0) < FEW:
            return False
        source = find_source(self._function)
        definition = None if isinstance(source, str) else as_definition(source.node)
        if definition is None:
            return False
        names = self._entry_stub.signature.parameters
        passes = loop_trips(definition.body, dict(zip(names, args, strict=True)))
        return passes > (MANY_PASSES if compiler_is_loaded() else LOADING_PASSES)

    def _counting(self, args: tuple[Any, ...]) -> Callable[..., Any] | None:
        """The function with counted loops; None if the call is not restartable."""
        if not all(map(is_immutable, args)):
            return None
        if not self._is_counted:
            self._is_counted = True
            self._counted = counting(self._function, LOADING_PASSES)
        return self._counted

    def _timed_as_seen(self, counted: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Time a call: with counted loops, unless many calls with such arguments were counted.

        Then the function's own statements serve such calls, until one is to be timed again.
        """
        sizes = [int(_size_of(arg)) for arg in args]
        seen, self._limits = self._limits, [max(LEAST_LIMIT, GROWTH * size) for size in sizes]
        if seen:
            self._limits = [*map(max, seen, self._limits)]
        is_as_seen = len(seen) == len(args) and all(map(operator.le, sizes, seen))
        is_loaded = compiler_is_loaded()
        is_long = self.seconds > LONG_SECONDS * self._calls
        if self._calls < SETTLED or not is_as_seen or tuple in map(type, args):
            return self._timed(counted, args)
        if not is_loaded and not is_long:
            return self._timed(counted, args)
        guard = self._entry_stub.guard
        passed = 0 if guard is None else max(0, guard.calls - 1)
        most = calls_until_a_look(self.seconds / self._calls, self.seconds)
        expected = [Expected(limit=limit, no_array=True) for limit in self._limits]
        guard = CallGuard(expected, 1 + min(most, SAMPLE), self._function, may_load=is_loaded)
        self._entry_stub.install_body(FunctionBody.of(self._function, self._run), guard)
        return self._timed(self._run, args, passed)

    def _timed(self, run: Callable[..., Any], args: tuple[Any, ...], passed: int = 0) -> Any:
        """Time a call, which stands for those that passed unchecked before it."""
        self._depth += 1
        start = time.perf_counter()
        try:
            return run(*args)
        except LoopsTooLong:
            return MISS
        finally:
            self._depth -= 1
            self.seconds += (time.perf_counter() - start) * (1 + passed)
            self._calls += passed


def _size_of(value: Any) -> float:
    """The number of passes that an argument may cause; infinity for unknown objects."""
    kind = type(value)
    if kind is int:
        return float(min(abs(value), NEVER))
    if kind in CONTAINERS:
        return len(value)
    return 0 if is_immutable(value) else math.inf
