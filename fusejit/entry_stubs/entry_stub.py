"""`EntryStub`: the plain function that users call, whose code object fusejit replaces.

Compiled calls go to one launcher first::

    def f(x, *, scale=None):
        try:
            result = own.first
            try:
                result = result(x, scale)
            except own.Exception as error:
                result = own.recover(error)
                if result is None:
                    raise
            if result.__class__ is own.Outcome:
                result = own.dispatch_miss((x, scale), result)
                if result is own.INTERPRET:
                    return own.function(x, scale=scale)
            return result
        except own.BaseException as error:
            own.strip_frames(error)
            raise

A ``try`` costs nothing as long as nothing is raised. Calls that run in Python use the user's own
statements after a guard, so that a call is one frame, as undecorated::

    def f(x, *, scale=None):
        rejects = own.guard
        if rejects(x, scale):
            ...  # as above
        ...

or ``return own.run(x, scale)``, if the function has no source or yields. Where few calls need a
check, ``for call in own.calls`` replaces the guard and counts the others, or nothing replaces it.

``own`` is a free variable with a cell of the entry stub, beside the cells of the user's function. A
function's cells cannot be replaced, so all its codes have the same ones, in order of their names.
Each cell costs a call some time, so the stub has one. No two codes use an attribute of ``own`` for
different purposes: another thread may be about to run the code that is replaced.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from itertools import repeat
from operator import length_hint
from types import CellType, CodeType, FunctionType
from typing import Any, cast

from fusejit.codegen.launcher.call_guard import NEVER, CallGuard
from fusejit.dataclass import dataclass
from fusejit.entry_stubs.stub_code import (
    LAUNCHING,
    FunctionBody,
    StubLayout,
    calling,
    code_of_body,
    code_of_text,
    guard_text,
)
from fusejit.outcome import INTERPRET, MISS, Outcome
from fusejit.support.identity import HoldsServed, ServedCode, code_of_user, own_signature, parts_of
from fusejit.support.tracebacks import strip_frames

Launch = Callable[..., Any]

MAX_AT_ONCE = 4096  # calls that are only counted, between two checked ones
MAX_CODES = 16  # that are kept, of statements after guards


def no_variant(*args: Any) -> Outcome:
    """Launch nothing: the launcher before there is a variant."""
    return MISS


def never(*args: Any) -> bool:
    """Reject each call: the guard before there is one."""
    return True


@dataclass(slots=True)
class _Own(HoldsServed):
    """The state that the codes of an entry stub share."""

    dispatch_miss: Callable[..., Any]
    recover: Callable[[Exception], Outcome | None]
    function: FunctionType
    entry_stub: EntryStub
    first: Launch = no_variant
    guard: Callable[..., bool] = never
    calls: Any = repeat(None, 0)  # one for each that passes
    run: Callable[..., Any] = no_variant
    helper: Any = None
    Outcome: type[Outcome] = Outcome
    Exception: type[Exception] = Exception
    BaseException: type[BaseException] = BaseException
    INTERPRET: Any = INTERPRET
    type: Any = type
    list: Any = list
    dict: Any = dict
    set: Any = set
    strip_frames: Callable[[Any], Any] = strip_frames

    @property
    def served(self) -> ServedCode | None:
        """That of the entry stub."""
        return self.entry_stub.served


class EntryStub:
    """The plain function that users call.

    Parameters
    ----------
    function : callable
        The decorated function.
    signature : inspect.Signature
        Its own: not that of what it wraps.
    dispatch_miss : callable
        Serves what is not served here, given all arguments in order, and the `Outcome` if there is
        one.
    recover : callable
        Given an exception, an `Outcome` if it is a fault of a launcher and NumPy can run the call.
    is_passthrough : bool, optional
        Whether it stays a copy of the function and never launches compiled code.

    Attributes
    ----------
    guard : CallGuard or None
        The guard of calls that Python serves.
    bodies : set of CodeType
        The code of all statements that have served calls.
    at_once : int
        The number of calls that pass between two checked ones.
    is_passthrough : bool
        Whether it is a copy of the function, which calls run directly.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        signature: inspect.Signature,
        dispatch_miss: Callable[..., Any],
        recover: Callable[[Exception], Outcome | None],
        is_passthrough: bool = False,
    ) -> None:
        self._function = of_user = cast(FunctionType, function)
        self.guard: CallGuard | None = None
        self.bodies: set[CodeType] = set()
        self._codes: dict[tuple[Launch, str], CodeType] = {}
        self.at_once = 0
        self._code = of_user.__code__
        self.signature = signature
        self._layout = StubLayout.of(of_user.__code__, signature)
        self._cell = CellType(_Own(dispatch_miss, recover, of_user, self))
        self.is_passthrough = is_passthrough
        if is_passthrough:
            self._launching, closure = self._code, of_user.__closure__
        else:
            self._launching = self._code_of_text(LAUNCHING)
            cells = dict(zip(self._code.co_freevars, of_user.__closure__ or (), strict=True))
            cells[self._layout.own] = self._cell
            closure = tuple(cells[name] for name in self._layout.free)
        made = FunctionType(self._launching, of_user.__globals__, function.__name__, None, closure)
        functools.update_wrapper(made, function)
        made.__defaults__ = of_user.__defaults__
        made.__kwdefaults__ = of_user.__kwdefaults__
        self._defaults = parts_of(of_user)[1:]
        self.function = made
        self.served: ServedCode | None = None
        if not is_passthrough:
            self.served = ServedCode(made, of_user, self.adopt)

    def __reduce__(self) -> tuple[Any, ...]:
        known = (self.function, self._function, self._code, self.signature, self._layout)
        return _found_again, (*known, self.is_passthrough)

    @property
    def _own(self) -> _Own:
        """What the codes use."""
        return cast(_Own, self._cell.cell_contents)

    def connect(
        self, dispatch_miss: Callable[..., Any], recover: Callable[[Exception], Outcome | None]
    ) -> None:
        """Replace the functions that serve misses and faults."""
        self._own.dispatch_miss, self._own.recover = dispatch_miss, recover

    def disconnect(
        self, dispatch_miss: Callable[..., Any], recover: Callable[[Exception], Outcome | None]
    ) -> None:
        """Start again: compiled variants stay in their process."""
        self._cell.cell_contents = _Own(dispatch_miss, recover, self._function, self)
        self.install_launcher(no_variant)

    def renew(self) -> None:
        """Take on the parameters and default values of the function as it is now."""
        of_user = self._function
        if self._code is not of_user.__code__:
            self._layout = self._layout.for_code(self._code, of_user.__code__)
            self._code = of_user.__code__
        self.signature = own_signature(of_user)
        self._launching = self._code_of_text(LAUNCHING)
        self._codes.clear()
        if self.served is not None:
            self.served.give(self._launching)
        self.install_launcher(no_variant)
        self.function.__defaults__ = of_user.__defaults__
        self.function.__kwdefaults__ = of_user.__kwdefaults__
        self._defaults = parts_of(of_user)[1:]

    @property
    def is_replaced(self) -> bool:
        """Whether somebody has assigned other code to the function that users call."""
        return self.served is not None and self.served.is_replaced

    @property
    def is_instrumented(self) -> bool:
        """Whether its code stays, as a profiler finds calls by it."""
        served = self.served
        return served is not None and not served.is_replaced and served.is_instrumented

    def signature_of_calls(self) -> inspect.Signature:
        """The parameters of a call now, with the default values that are filled in."""
        made, of_user = self.function, self._function
        code = code_of_user(made.__code__) or self._code
        name, defaults = made.__name__, made.__defaults__
        bare = FunctionType(code, {}, name, defaults, of_user.__closure__)
        bare.__kwdefaults__ = made.__kwdefaults__
        return own_signature(bare)

    def adopt(self) -> None:
        """Make the user's function what was assigned to the one that users call."""
        made, of_user = self.function, self._function
        if self.served is None:
            return
        if self.served.is_replaced:
            code = code_of_user(made.__code__)
            if code is not None:
                of_user.__code__ = code
        defaults, of_keywords = self._defaults
        if made.__defaults__ is not defaults:
            of_user.__defaults__ = made.__defaults__
        if made.__kwdefaults__ is not of_keywords:
            of_user.__kwdefaults__ = made.__kwdefaults__
        self._defaults = made.__defaults__, made.__kwdefaults__
        if self.served.is_replaced:
            self.renew()

    @property
    def first(self) -> Launch:
        """The launcher of calls."""
        return self._own.first

    def install_launcher(self, launch: Launch) -> None:
        """Send calls to ``launch`` from now on; it takes the parameters by position."""
        self._own.first = launch
        self.guard = None
        self._serve(self._launching)

    def install_body(self, body: FunctionBody, guard: CallGuard) -> None:
        """Have Python run statements from now on, while ``guard`` agrees."""
        own = self._own
        if self.is_instrumented:
            rejects, run = guard.rejects, body.run
            own.first = lambda *args: MISS if rejects(*args) else run(*args)
            self.guard = guard
            return
        self.at_once = guard.unwatched
        own.calls = repeat(None, self.at_once)
        code = self._code_after(guard, body)
        own.first, own.guard, own.run = no_variant, guard.rejects, body.run
        if body.helper is not None:
            own.helper = body.value
        self.guard = guard
        self.bodies.add(code)
        self._serve(code)

    def run(self, *args: Any) -> Any:
        """A call by the statements that serve calls."""
        return self._own.run(*args)

    def resume(self, args: tuple[Any, ...], most: int = MAX_AT_ONCE) -> bool:
        """Whether the statements that serve calls unwatched go on to do so, after this call.

        Twice as many pass each time, up to ``most``.
        """
        guard, own = self.guard, self._own
        if guard is None or not guard.unwatched or self.function.__code__ not in self.bodies:
            return False
        if guard.would_reject(args):
            return False
        if guard.unwatched == NEVER or length_hint(own.calls):  # by another thread, just now
            return True
        guard.count(self.at_once)
        self.at_once = max(1, min(2 * self.at_once, most))
        own.calls = repeat(None, self.at_once)
        return True

    def _code_after(self, guard: CallGuard, body: FunctionBody) -> CodeType:
        """The code of statements after a guard; guards that ask alike share it."""
        asked = guard_text(guard, self._layout, self.signature)
        code = self._codes.get((body.run, asked))
        if code is None:
            about = self._layout, self.signature, self._code
            code = code_of_body(body, asked, *about) or code_of_text(calling(guard), *about, guard)
            if len(self._codes) == MAX_CODES:
                self._codes.clear()
            self._codes[body.run, asked] = code
        return code

    def _code_of_text(self, text: str) -> CodeType:
        return code_of_text(text, self._layout, self.signature, self._code)

    def _serve(self, code: CodeType) -> None:
        served = self.served
        if served is None or served.is_replaced:  # the next call takes on what was assigned
            return
        if self.function.__code__ is not code and not served.is_instrumented:
            served.give(code)


def _found_again(
    function: FunctionType,
    of_user: FunctionType,
    code: CodeType,
    signature: inspect.Signature,
    layout: StubLayout,
    is_passthrough: bool,
) -> EntryStub:
    """The entry stub of a function that was pickled by value, with its cell if it has one."""
    made = EntryStub.__new__(EntryStub)
    made.function, made._function = function, of_user
    made.guard, made.bodies, made.at_once, made._codes = None, set(), 0, {}
    made.is_passthrough = is_passthrough
    made._cell = (
        CellType(_Own(no_variant, no_variant, of_user, made))
        if is_passthrough
        else cast(Any, function.__closure__)[layout.free.index(layout.own)]
    )
    made._code, made.signature, made._layout = code, signature, layout
    made._launching = function.__code__
    made._defaults = function.__defaults__, function.__kwdefaults__
    made.served = None
    if not made.is_passthrough:
        made.served = ServedCode(function, of_user, made.adopt)
    return made
