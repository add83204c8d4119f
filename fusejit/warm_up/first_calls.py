"""Calls that Python runs because it isn't known yet whether their function is worth a trace.

A function that deals with arrays is traced when it is first called. Of others most never are worth
it: a trace takes as long as a thousand calls of a small function, and loading the compiler as long
as a million. So what decides is the time that Python takes for its calls:

- what has no loops, and is given no arrays, has nothing to compile: after `SETTLED` calls its own
  statements serve calls, of which some are looked at in case arrays come;
- what has loops is traced once its calls have taken `WORTH_SECONDS`, and the process can afford it
  (`fusejit.budget.speculation`);
- a call whose loops run long is not waited for: where the arguments tell that, it is traced at
  once; where they do not, Python counts the passes and the call begins anew, compiled, if nothing
  can tell that it had begun (`counted_loops`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from types import FunctionType
from typing import Any

from fusejit.budget import compiler_is_loaded, speculation
from fusejit.codegen.launcher.call_guard import CONTAINERS, NEVER, CallGuard, Expected, last_look
from fusejit.entry_stubs.entry_stub import MAX_AT_ONCE, EntryStub
from fusejit.entry_stubs.stub_code import FunctionBody
from fusejit.ir.raw_reads import has_asking_class
from fusejit.outcome import MISS
from fusejit.tracer.capture.source_text import as_definition, find_source
from fusejit.warm_up.counted_loops import LoopsTooLong, counting, is_immutable
from fusejit.warm_up.loop_trips import loop_trips
from fusejit.warm_up.reachable_code import DEPTH, ReachableCode, holds_array, reachable_code

SETTLED = 64  # calls of a function without loops, before most of them are not looked at
WORTH_SECONDS = 1e-3  # of calls, from which on a trace may pay
FEW = 64  # items or passes, of which no loops in each other run long
MAX_DEPTH = 4  # calls in each other; a recursion that is deeper has one frame a call
LOOK_SECONDS = 1e-2  # that calls may take together, between two that are looked at
FIRST_UNWATCHED = 16  # calls that pass at once, at first
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
        What calls have taken.
    is_guess : bool
        Of a call that is to be traced: whether it may not be worth it.
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
        self.seconds = 0.0
        self.is_guess = False

    def call(self, args: tuple[Any, ...]) -> Any:
        """Run a call in Python; an `Outcome` if it is to be traced."""
        if any(map(has_asking_class, args)):
            return MISS
        if self._is_settled:
            return self._looked_at(args)
        is_looked_into = not self._calls & (self._calls - 1)  # the first, second, fourth ..
        self._calls += 1
        if self._are_of_arrays(args, 0):
            return MISS
        if is_looked_into:
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
            return self._timed(counted, args)
        if self._calls >= SETTLED or self._depth >= MAX_DEPTH:
            self._settle(args, FIRST_UNWATCHED)
        return self._timed(self._run, args)

    def told(self) -> str:
        """Why Python runs calls, for users."""
        if not self._code.has_loops:
            return ": it has neither arrays nor loops"
        return f" so far: its calls have taken {self.seconds * 1e3:.2g} ms"

    def _looked_at(self, args: tuple[Any, ...]) -> Any:
        """One of many calls by the function's own statements, to see whether others are alike."""
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
        most = int(LOOK_SECONDS * self._calls / max(self.seconds, 1e-9))
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
        self.is_guess = self.seconds > WORTH_SECONDS and speculation.affords()
        return self.is_guess

    def _settle(self, args: tuple[Any, ...], unwatched: int) -> None:
        """Have the function's own statements serve calls."""
        self._is_settled = True
        anything = [Expected(no_array=True) for _ in args]
        guard = CallGuard(anything, function=self._function, unwatched=unwatched)
        self._entry_stub.install_body(FunctionBody.of(self._function, self._run), guard)

    def _runs_long(self, args: tuple[Any, ...]) -> bool:
        """Whether the arguments tell that the loops of a call run often."""
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
        """The function with loops that are counted; None if a call could not begin anew."""
        if not all(map(is_immutable, args)):
            return None
        if not self._is_counted:
            self._is_counted = True
            self._counted = counting(self._function, LOADING_PASSES)
        return self._counted

    def _timed(self, run: Callable[..., Any], args: tuple[Any, ...], passed: int = 0) -> Any:
        """A call that takes some time, as those did that have passed before it."""
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
    """How often loops may run for an argument; infinity for objects that may hold anything."""
    kind = type(value)
    if kind is int:
        return float(min(abs(value), NEVER))
    if kind in CONTAINERS:
        return len(value)
    return 0 if is_immutable(value) else math.inf
