"""`Decorated`: a decorated function before its first call.

Decorating loads no compiler. The first call that the entry stub does not serve does, and hands over
to a `Dispatcher`, which has the entry stub's slow calls from then on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakSet

from fusejit.codegen.launcher.call_guard import CallGuard, Expected
from fusejit.codegen.launcher.debuggers import is_debugged, tracer_of_main_thread
from fusejit.entry_stubs.entry_stub import EntryStub, no_variant
from fusejit.entry_stubs.stub_code import FunctionBody
from fusejit.errors import CutShort, UnsupportedError
from fusejit.notices import warn
from fusejit.options import Options
from fusejit.outcome import INTERPRET, MISS, Outcome
from fusejit.support.budget import Allowance
from fusejit.support.frame_readers import why_direct
from fusejit.support.identity import FunctionIdentity, own_signature
from fusejit.support.interrupts import (
    CALLED_BY_NUMBA,
    compiler_is_taken,
    is_from_handler,
    run_uninterruptible,
)
from fusejit.support.locks import WorkLock, cut_short
from fusejit.variants import Variants
from fusejit.warm_up.redefined_code import reached_code, watch_cells

if TYPE_CHECKING:
    from fusejit.dispatch.dispatcher import Dispatcher
    from fusejit.segments.fused_functions import FusedFunctions
    from fusejit.warm_up.carried_sources import CarriedSources
    from fusejit.warm_up.first_calls import FirstCalls


class Decorated:
    """A function, its options, the entry stub that users call, and what serves it.

    Parameters
    ----------
    function : callable
        The user's function.
    options : Options
    fused : FusedFunctions, optional
        For a part of another function: the fused forms that they share.
    allowance : Allowance, optional
        For a part: the processor time that all parts have.
    shown_warnings : set of str, optional
        Warnings that were shown already.

    Attributes
    ----------
    warms_up : bool
        Whether Python may run the first calls, as it is not known yet whether a trace pays.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        options: Options,
        fused: FusedFunctions | None = None,
        allowance: Allowance | None = None,
        shown_warnings: set[str] | None = None,
    ) -> None:
        self.function = function
        self.options = options
        self.fused = fused
        self.allowance = allowance or Allowance(options.compile_seconds)
        self.variants = Variants()
        self.shown_warnings = set() if shown_warnings is None else shown_warnings
        self._sources: CarriedSources | None = None
        self.signature = own_signature(function)
        direct = "" if options.fullgraph else why_direct(cast(Any, function))
        self.entry_stub = EntryStub(
            function, self.signature, self.dispatch_miss, self.recover, bool(direct)
        )
        self.identity = FunctionIdentity(cast(Any, function))
        if direct:
            self.variants.interpreted = direct
            text = f"{function.__name__} runs as plain NumPy: {direct}"
            if options.warn and text not in self.shown_warnings:
                self.shown_warnings.add(text)
                warn(text)
        if not options.enabled:
            self.entry_stub.install_launcher(self.disabled)
        self._lock = WorkLock()
        self._dispatcher: Dispatcher | None = None
        self._warm_up: FirstCalls | None = None
        is_on = options.enabled and options.tiering
        self.warms_up = is_on and not (options.fullgraph or options.is_segment)
        self._is_warm = False  # whether its first calls have told that it is to be traced
        self._for_debugger: Any = None  # the guard of calls that a debugger follows
        self._reached: frozenset[Any] | None = None  # the code that it reached when it was traced
        self._looks = 0  # of calls that got no variant, whether it reaches other code
        cast(Any, self.entry_stub.function).__fusejit_state__ = self
        if options.enabled and not options.is_segment:
            _ALL.add(self)
            watch_cells(_look_for_redefinitions)
            if is_debugged():
                self.install_for_debugger()

    def _first_calls(self) -> FirstCalls:
        """The policy of first calls, made when needed."""
        if self._warm_up is None:
            with self._lock:
                from fusejit.dispatch.call_arguments import CallArguments
                from fusejit.warm_up.first_calls import FirstCalls

                run = CallArguments(self.function, self.signature).run
                of_user = cast(Any, self.function)
                self._warm_up = FirstCalls(of_user, self.entry_stub, run)
                self.variants.untraced = self._warm_up
        return self._warm_up

    def __reduce__(self) -> tuple[Any, ...]:
        """As function and options: what was compiled stays in its process.

        Pickling by value (cloudpickle) comes here before it reads the cells of the entry stub.
        """
        if self.options.enabled:
            self.entry_stub.disconnect(self.dispatch_miss, self.recover)
        else:
            self.entry_stub.connect(self.dispatch_miss, self.recover)
        if self._sources is None:
            from fusejit.warm_up.carried_sources import CarriedSources

            self._sources = CarriedSources(cast(Any, self.function))
        state = {
            "entry_stub": self.entry_stub,
            "variants": self.variants,
            "sources": self._sources.sources(),
        }
        return _decorated_elsewhere, (self.function, self.options), state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if sources := state.pop("sources"):
            from fusejit.warm_up.carried_sources import receive

            receive(sources)
        self.__dict__.update(state)
        self.identity = FunctionIdentity(cast(Any, self.function))
        self._warm_up = None

    @property
    def dispatcher(self) -> Dispatcher:
        """What finds or makes a variant for a call; made, and its modules loaded, when needed."""
        if self._dispatcher is None:
            with self._lock:
                if self._dispatcher is None:
                    if self.warms_up and not self._is_warm:  # asked for by a function that calls it
                        self.allowance.is_speculative = True
                    self._dispatcher = _dispatcher_class()(self)
                    self.variants.untraced = None
                    if not self.options.is_segment:
                        self._reached = reached_code(cast(Any, self.function))
        return self._dispatcher

    def dispatch_miss(self, args: tuple[Any, ...], missed: Outcome = MISS) -> Any:
        """The first call that the entry stub does not serve by itself."""
        if is_debugged() and self.identity.holds():
            return self.interpret_for_debugger()
        if self._dispatcher is None and self.warms_up and not cut_short():
            if not self.identity.holds():
                return self._restarted(args)
            first_calls = self._first_calls()
            result = first_calls.call(args)
            if not isinstance(result, Outcome):
                return result
            self._is_warm, self.allowance.is_speculative = True, first_calls.is_speculative
            self.entry_stub.install_launcher(no_variant)
        if self._dispatcher is None and not self.options.fullgraph and compiler_is_taken():
            # the modules of the dispatcher cannot be loaded now; the next call finds them
            return self._plain(args, f" for this call: {CALLED_BY_NUMBA}")
        try:
            with self.allowance.spending():
                dispatcher = self.dispatcher
        except CutShort as error:
            return self._cut_short(args, error)
        except Exception as error:  # too deep a recursion in a thread, no memory, a broken install
            if self.options.fullgraph or is_from_handler(error):
                raise
            kind = type(error).__name__
            return self._plain(args, f": fusejit cannot be loaded ({kind}: {error})")
        return dispatcher.dispatch_miss(args, missed)

    def interpret_for_debugger(self) -> Any:
        """Have Python run this call and those to come, while a debugger follows the program.

        The same goes for all decorated functions: a step into one of them is to end in its own
        statements, not in the launcher that would notice the debugger.
        """
        for decorated in _all_decorated():
            decorated.install_for_debugger()
        return INTERPRET

    def install_for_debugger(self) -> None:
        """Have the function's own statements serve calls while a debugger follows the program."""
        tracer, stub = tracer_of_main_thread(), self.entry_stub
        is_installed = stub.guard is not None and stub.guard is self._for_debugger
        if tracer is None or stub.is_passthrough:
            return
        if is_installed and self._for_debugger.tracer is tracer:
            return
        from fusejit.dispatch.call_arguments import CallArguments

        anything = [Expected() for _ in self.signature.parameters]
        of_user = cast(Any, self.function)
        run = CallArguments(of_user, self.signature).run
        self._for_debugger = CallGuard(anything, function=of_user, tracer=tracer)
        stub.install_body(FunctionBody.of(of_user, run), self._for_debugger)

    def part(
        self, function: Callable[..., Any], options: Options, fused: FusedFunctions
    ) -> Callable[..., Any]:
        """A part of the function, or one that Python calls between its parts, decorated too."""
        return Decorated(function, options, fused, self.allowance).entry_stub.function

    def _restarted(self, args: tuple[Any, ...]) -> Any:
        """A call of a function whose code or default values were replaced before it was traced."""
        stub = self.entry_stub
        with self._lock:
            positional, keywords = self.identity.given(stub.signature_of_calls(), args)
            stub.adopt()
            for served in self.identity.served:
                if served.is_replaced:
                    served.adopt()
            self.signature = own_signature(self.function)
            self.identity = FunctionIdentity(cast(Any, self.function))
            self._warm_up = None
            stub.renew()
        return stub.function(*positional, **keywords)

    def look_for_redefinitions(self) -> bool:
        """Start again if it reaches other code than when it was traced, or outdated classes."""
        if self._reached is None and self._warm_up is None:
            return False
        before, self._reached = self._reached, reached_code(cast(Any, self.function))
        is_same = before is None or before == self._reached
        if is_same and not self.variants.has_outdated_classes():
            return False
        if self._dispatcher is not None:
            self._dispatcher.renew()
        else:
            with self._lock:
                self._warm_up = self.variants.untraced = None
                self.entry_stub.renew()
        return True

    def looks_again(self) -> bool:
        """Whether the function starts again at a call that gets no variant; only some calls look.

        A program may give it other code in each call.
        """
        self._looks += 1
        return self._looks <= _MAX_LOOKS and self.look_for_redefinitions()

    def _cut_short(self, args: tuple[Any, ...], error: CutShort) -> Any:
        """Run a call in a forked child in which fusejit's modules may be incomplete."""
        if self.options.fullgraph:
            name = self.function.__name__
            raise UnsupportedError(f"{name}: this call cannot be compiled: {error}") from None
        cause = str(error)
        self.variants.fallbacks[cause] += 1
        if self.variants.fallbacks[cause] > 1:
            return self._plain(args)
        return self._plain(args, f" for this call: {cause}")

    def told_of_cut_short(self) -> str:
        """What ``explain`` says in a forked child that compiles nothing."""
        name, num = self.function.__name__, len(self.variants)
        served = f"; calls that the {num} variants serve are compiled" if num else ""
        return f"{name} runs as plain NumPy: {cut_short()}{served}"

    def _plain(self, args: tuple[Any, ...], why: str = "") -> Any:
        """The call as plain NumPy, with a warning that says why."""
        if why and self.options.warn:
            warn(f"{self.function.__name__} runs as plain NumPy{why}")
        positional, keywords = self.identity.given(self.entry_stub.signature, args)
        return self.function(*positional, **keywords)

    def recover(self, error: Exception) -> Outcome | None:
        """As `Dispatcher.recover`."""
        try:
            dispatcher = self.dispatcher
        except CutShort:
            return None
        return dispatcher.recover(error)

    def disabled(self, *args: Any) -> Any:
        """A call of a function that is not to be compiled."""
        try:
            dispatcher = self.dispatcher
        except CutShort:
            return self._plain(args)
        return dispatcher.disabled(*args)


_MAX_LOOKS = 64  # of calls that get no variant

_ALL: WeakSet[Decorated] = WeakSet()
"""The decorated functions of this process."""


def _all_decorated() -> list[Decorated]:
    """List the decorated functions, while other threads may decorate more."""
    while True:
        try:
            return [*_ALL]
        except RuntimeError:  # the set has changed meanwhile
            continue


def _look_for_redefinitions() -> None:
    for decorated in _all_decorated():
        decorated.look_for_redefinitions()


_SHOWN: dict[tuple[str, int, str], set[str]] = {}


def _decorated_elsewhere(function: Callable[..., Any], options: Options) -> Decorated:
    """A function that was decorated in another process.

    A pool of processes makes it again for each task, and it warns like one function.
    """
    code = cast(Any, function).__code__
    place = code.co_filename, code.co_firstlineno, code.co_qualname
    return Decorated(function, options, shown_warnings=_SHOWN.setdefault(place, set()))


def _dispatcher_class() -> type[Dispatcher]:
    """`Dispatcher`, whose modules no signal may leave half loaded."""

    def load() -> type[Dispatcher]:
        from fusejit.dispatch.dispatcher import Dispatcher

        return Dispatcher

    return run_uninterruptible(load)
