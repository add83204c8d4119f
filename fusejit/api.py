"""`fuse_jit`: from a call to the variant that serves it.

A decorated function is a plain function with the user's own parameter list. A call goes to the
newest variant's launcher; if that does not serve it, the other variants are asked, and then the
call is traced, fused and compiled into a new one. What cannot be compiled runs as plain NumPy on
the caller's own arguments, before anything was modified (see Declining in docs/design.md).
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ParamSpec, Protocol, TypeVar, cast, overload

from fusejit.check import check_text
from fusejit.codegen.launch_runtime import (
    ERRSTATE,
    LEFT_TO_NUMPY,
    MISS,
    OVERLAP,
    Miss,
)
from fusejit.declined_calls import DeclinedCalls
from fusejit.errors import (
    FusejitError,
    InternalError,
    NeedsPython,
    UnsupportedError,
    VerificationError,
)
from fusejit.explain import explain_text, segments_text, sizes_of_call
from fusejit.fuse.policy import FusionPolicyFn, policy
from fusejit.locks import ForkSafeLock
from fusejit.options import Options, options_from_environment
from fusejit.pipeline import Compiled, Lowered, Traced, trace
from fusejit.segments import (
    FusedFunctions,
    Openable,
    SegmentedFunction,
    can_be_opened,
    contents_that_differ,
    of_python,
    opened,
    opened_for_contents,
    opened_singly,
)
from fusejit.tracer.declined import NUMPY_RAISES, Declined
from fusejit.tracer.locations import strip_frames
from fusejit.tracer.raises import may_raise_late

P = ParamSpec("P")
R = TypeVar("R", covariant=True)


MOST_OF_A_PART = 4  # variants, before lists and texts it is given are left to Python


class FuseWarning(UserWarning):
    """A call ran as plain NumPy; the message says why. Shown once per function and cause."""


class Fused(Protocol[P, R]):
    """A function decorated with `fuse_jit`."""

    __name__: str
    __wrapped__: Callable[..., Any]
    variants: Variants

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the function; same results as the undecorated one."""

    def explain(self, *args: P.args, **kwargs: P.kwargs) -> str:
        """What is fused for these arguments, what is not, and why. Runs nothing."""

    def trace(self, *args: P.args, **kwargs: P.kwargs) -> Traced:
        """The traced graph; ``.fuse().lower().source`` goes on step by step. Runs nothing."""

    def mlir(self, *args: Any, fused: bool = False, **kwargs: Any) -> str:
        """The traced (or the fused) graph as text that ``mlir-opt`` accepts. Runs nothing."""

    def check(self, *args: P.args, **kwargs: P.kwargs) -> str:
        """Run both forms on copies of the arguments and tell how the results differ."""


class Variants:
    """The variants of a decorated function, newest first, and its declined calls.

    A function that runs in segments has none itself: each segment has its own.
    """

    def __init__(self) -> None:
        self.compiled: tuple[Compiled, ...] = ()
        self.segmented: SegmentedFunction | None = None
        self.declined: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self.compiled)

    def __getitem__(self, index: int) -> Compiled:
        return self.compiled[index]

    def __repr__(self) -> str:
        lines = [f"{len(self)} variant(s)"]
        for at, variant in enumerate(self.compiled):
            arrays = ", ".join(
                f"{c.path.user_text()}: {c.expected.dtype}[{c.expected.ndim}] "
                f"{c.expected.layout.value}"
                for c in variant.traced.checks
                if hasattr(c.expected, "layout")
            )
            where = "from cache" if variant.from_cache else "compiled"
            lines.append(f"  {at}: {arrays} ({where})")
        lines += [f"  declined {n}x: {cause}" for cause, n in self.declined.items()]
        if self.segmented is not None:
            places = ", ".join(str(b.line) for b in self.segmented.boundaries)
            lines.append(f"  runs in segments: Python runs lines {places}")
        return "\n".join(lines)


class _State:
    """What a decorated function knows: its options, variants, and the slow way of a call."""

    def __init__(
        self,
        function: Callable[..., Any],
        options: Options,
        fused: FusedFunctions | None = None,
    ) -> None:
        # of a part: its newest variant, and the sizes of the call that it was made for
        self.newest: tuple[Lowered, dict[str, int]] | None = None
        self.function = function
        self.options = options
        self.variants = Variants()
        self.declined = DeclinedCalls()
        self.lock = ForkSafeLock()
        self.namespace: dict[str, Any] = {}
        self.signature = inspect.signature(function, follow_wrapped=False)
        self.carrier: Callable[..., Any] | None = None
        self.fused = FusedFunctions() if fused is None else fused

    def slow(self, args: tuple[Any, ...], missed: Miss) -> Any:
        """A call that the newest variant does not serve; ``args`` are in parameter order."""
        while True:
            seen = self.variants.compiled
            for variant in seen:
                result = variant.launch(*args)
                if not isinstance(result, Miss):
                    self.namespace["k0"] = variant.launch
                    return result
                missed = missed if result is MISS else result
            if self.variants.segmented is not None:
                return self.variants.segmented.run(*args)
            positional, keywords = self.split(args)
            if missed in (ERRSTATE, OVERLAP, *LEFT_TO_NUMPY):
                return self.decline(missed.reason, positional, keywords)
            known = self.declined.cause(args)
            if known is not None:
                return self.decline(known, positional, keywords)
            with self.lock:
                if self.variants.compiled is seen and self.variants.segmented is None:
                    # no other thread made one meanwhile
                    made = self.compiled(positional, keywords)
                    break
        if isinstance(made, str):
            self.declined.add(args, made)
            return self.decline(made, positional, keywords)
        if isinstance(made, SegmentedFunction):
            return made.run(*args)
        result = made.launch(*args)
        if isinstance(result, Miss) and result in LEFT_TO_NUMPY:
            return self.decline(result.reason, positional, keywords)
        if isinstance(result, Miss):
            with self.lock:
                kept = tuple(v for v in self.variants.compiled if v is not made)
                self.variants.compiled = kept
            return self.decline(result.reason, positional, keywords)
        self.namespace["k0"] = made.launch
        return result

    def compiled(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Compiled | SegmentedFunction | str:
        """A new variant for a call, entered into the table, or why there is none.

        A function in which Python has to run a statement is opened instead, once and for all calls
        that no earlier variant serves.
        """
        if self.options.is_part and len(self.variants) >= MOST_OF_A_PART:
            self.variants.segmented = self.without_contents(args, kwargs)
            if self.variants.segmented is not None:
                self.namespace["k0"] = self.variants.segmented.run
                return self.variants.segmented
        if len(self.variants) >= self.options.max_variants:
            return f"more than {self.options.max_variants} variants"
        try:
            traced = trace(self.function, args, kwargs, self.options)
            if self.options.on_error and may_raise_late(traced.graph):
                self.variants.segmented = self.apart(traced, args, kwargs)
                return self.variants.segmented
            lowered = traced.fuse().lower()
            variant = lowered.compile()
            self.variants.compiled = (variant, *self.variants.compiled)
            if self.options.is_part:  # nobody but us has its arguments
                self.newest = lowered, sizes_of_call(lowered, self.bound(args, kwargs))
            return variant
        except Declined as declined:
            return declined.cause
        except FusejitError as error:
            if self.may_open(error):
                self.variants.segmented = self.opened(error, args, kwargs)
                if self.variants.segmented is None:  # there is no source, say
                    self.variants.segmented = self.of_python(error)
                    if not self.options.is_part:
                        self.note(str(error))
                elif isinstance(error, NeedsPython) and error.is_loop:
                    text = f"Python runs a loop of {self.function.__name__}: {error}"
                    warnings.warn(text, FuseWarning, stacklevel=4)
            if self.variants.segmented is not None:
                if not self.variants.compiled:  # what is whole for other types stays so
                    self.namespace["k0"] = self.variants.segmented.run
                return self.variants.segmented
            if self.options.is_part and not isinstance(error, InternalError | VerificationError):
                return str(error)  # what stands in front of it has run already
            raise strip_frames(error) from error.__cause__

    def may_open(self, error: FusejitError) -> bool:
        """Whether Python may run the statement at which the trace ended."""
        return not self.options.fullgraph and can_be_opened(error)

    def opened(
        self, error: FusejitError, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> SegmentedFunction | None:
        """The function as segments with Python between them."""
        return opened(self.openable(), self.bound(args, kwargs), error)

    def openable(self) -> Openable:
        """The function, and how its segments are compiled."""
        on_error = self.options.on_error
        return Openable(cast(Any, self.function), self.decorate_part, self.fused, on_error)

    def apart(
        self, traced: Traced, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> SegmentedFunction:
        """Each statement by itself of a segment that may raise behind a store: names are read."""
        made = opened_singly(self.openable(), self.bound(args, kwargs))
        at = traced.traced.location
        text = (
            f"{at.file}:{at.line}, in {at.function}: may raise behind a store, in a `try` or `with`"
        )
        return self.of_python(UnsupportedError(text)) if made is None else made

    def of_python(self, error: FusejitError) -> SegmentedFunction:
        """A part as Python runs it."""
        return of_python(cast(Any, self.function), lambda *args: _plain(self, args), error)

    def without_contents(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> SegmentedFunction | None:
        """A part for which the contents of lists or texts make variants: Python reads those."""
        differing = contents_that_differ(v.traced.checks for v in self.variants.compiled)
        return opened_for_contents(self.openable(), self.bound(args, kwargs), differing)

    def bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """All arguments of a call by parameter, in order."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments

    def decorate_part(self, function: Callable[..., Any], on_error: str) -> Callable[..., Any]:
        """A segment, or a function that Python calls between segments, in its fused form."""
        options = replace(self.options, is_part=True, on_error=on_error)
        return _carrier_of(function, _State(function, options, self.fused))

    def split(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Values in parameter order as positional and keyword arguments of the function."""
        bound = inspect.BoundArguments(
            self.signature,
            cast(Any, dict(zip(self.signature.parameters, args, strict=True))),
        )
        return bound.args, bound.kwargs

    def decline(
        self,
        cause: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Run the undecorated function; warn once per cause unless NumPy raises."""
        if cause.startswith(NUMPY_RAISES):
            result = self.function(*args, **kwargs)
            self.note(f"it was expected to fail ({cause})")
            return result
        if self.options.fullgraph:
            self.variants.declined[cause] += 1
            raise UnsupportedError(
                f"{self.function.__name__}: this call cannot be compiled: {cause}. Without "
                "fullgraph=True it runs as plain NumPy."
            )
        self.note(cause)
        return self.function(*args, **kwargs)

    def note(self, cause: str) -> None:
        """Count a declined call; the first one of a cause warns at the user's line."""
        self.variants.declined[cause] += 1
        if self.variants.declined[cause] == 1:
            name = self.function.__name__
            text = f"{name} runs as plain NumPy for this call: {cause}"
            warnings.warn(text, FuseWarning, stacklevel=5)


@overload
def fuse_jit(function: Callable[P, R], /) -> Fused[P, R]: ...


@overload
def fuse_jit(
    *, enabled: bool = True, fullgraph: bool = False, fusion: str | FusionPolicyFn | None = None
) -> Callable[[Callable[P, R]], Fused[P, R]]: ...


def fuse_jit(
    function: Callable[..., Any] | None = None,
    /,
    *,
    enabled: bool = True,
    fullgraph: bool = False,
    fusion: str | FusionPolicyFn | None = None,
) -> Any:
    """Compile the NumPy code of a function, fused, for each kind of arguments it is called with.

    Parameters
    ----------
    function : callable
        A plain Python function over NumPy arrays, written as usual.
    enabled : bool
        False runs plain NumPy (as FUSEJIT_DISABLE=1 does for all functions).
    fullgraph : bool
        True makes a call that cannot be compiled whole an error that names the line: one that would
        run as plain NumPy (otherwise with a `FuseWarning` once per cause), and one with a host call
        or an effect (`np.sort`, `print`, a draw), which Python would run between kernels.
    fusion : {"auto", "none", "aggressive"} or callable, optional
        Which legal fusions are done: those that pay (the default, unless FUSEJIT_FUSION names
        another policy), none, or all. A function gets a `FusionCandidate` for each legal fold,
        merge and step of a group, and returns True or None to do it, False or a reason (shown by
        ``explain``) to refuse, or the candidate's ``default``. Results have the same bits under
        every policy.

    Returns
    -------
    callable
        A function with the same signature, plus ``explain``, ``trace``, ``check``, ``variants``.

    Raises
    ------
    TypeError
        If ``function`` is a class, a generator function or a coroutine function, or ``fusion`` is
        neither a name nor callable.
    ValueError
        If there is no policy named ``fusion``.

    Examples
    --------
    >>> import numpy as np
    >>> @fuse_jit
    ... def f(a, b):
    ...     return (a + b) * 2
    >>> f(np.arange(3), np.arange(3))
    array([0, 4, 8])
    """
    if function is None:
        return functools.partial(_decorate, enabled=enabled, fullgraph=fullgraph, fusion=fusion)
    return _decorate(function, enabled=enabled, fullgraph=fullgraph, fusion=fusion)


def _decorate(
    function: Callable[..., Any],
    *,
    enabled: bool,
    fullgraph: bool,
    fusion: str | FusionPolicyFn | None,
) -> Any:
    if isinstance(function, type) or not inspect.isfunction(function):
        raise TypeError(f"fuse_jit takes a Python function, not {type(function).__name__}")
    for test, kind in (
        (inspect.iscoroutinefunction, "a coroutine function"),
        (inspect.isasyncgenfunction, "an asynchronous generator"),
        (inspect.isgeneratorfunction, "a generator function"),
    ):
        if test(function):
            raise TypeError(f"fuse_jit cannot compile {function.__name__!r}: it is {kind}")
    known = getattr(function, "__fusejit_state__", None)
    if known is not None and known.carrier is function:  # not a wrapper that copied our attributes
        function = known.function
    options = options_from_environment(enabled=enabled, fullgraph=fullgraph, fusion=fusion)
    try:
        policy(options.fusion)  # a wrong name is told at once
    except ValueError as error:
        if fusion is None:
            error.add_note("the environment variable FUSEJIT_FUSION names it")
        raise
    state = _State(function, options)
    carrier = _carrier_of(function, state)
    result = cast(Any, carrier)
    result.variants = state.variants
    result.trace = functools.wraps(function)(
        lambda *args, **kwargs: _trace_only(state, args, kwargs)
    )
    result.explain = functools.wraps(function)(
        lambda *args, **kwargs: _explain(state, args, kwargs)
    )
    result.mlir = functools.wraps(function)(
        lambda *args, fused=False, **kwargs: _mlir(state, args, kwargs, fused)
    )
    result.check = functools.wraps(function)(
        lambda *args, **kwargs: check_text(function, carrier, args, kwargs)
    )
    return result


def _carrier_of(function: Callable[..., Any], state: _State) -> Callable[..., Any]:
    """The function that stands for the decorated one."""
    carrier = cast(Any, _carrier(state))
    functools.update_wrapper(carrier, function)
    carrier.__defaults__ = cast(Any, function).__defaults__
    carrier.__kwdefaults__ = cast(Any, function).__kwdefaults__
    carrier.__fusejit_state__ = state
    state.carrier = carrier
    return cast(Callable[..., Any], carrier)


def _carrier(state: _State) -> Callable[..., Any]:
    """A plain function with the user's own parameters that asks the newest variant first."""
    names = list(state.signature.parameters)
    parameters = []
    previous = None
    for name, parameter in state.signature.parameters.items():
        kind = parameter.kind
        if previous is inspect.Parameter.POSITIONAL_ONLY and kind is not previous:
            parameters.append("/")
        if kind is inspect.Parameter.KEYWORD_ONLY and previous not in (
            inspect.Parameter.VAR_POSITIONAL,
            inspect.Parameter.KEYWORD_ONLY,
        ):
            parameters.append("*")
        stars = "*" if kind is inspect.Parameter.VAR_POSITIONAL else ""
        stars = "**" if kind is inspect.Parameter.VAR_KEYWORD else stars
        default = "" if parameter.default is inspect.Parameter.empty else "=None"
        parameters.append(f"{stars}{name}{default}")
        previous = kind
    if previous is inspect.Parameter.POSITIONAL_ONLY:
        parameters.append("/")
    taken = {*names}

    def fresh(name: str) -> str:
        while name in taken:
            name = f"_{name}"
        taken.add(name)
        return name

    k0, miss, slow, result = fresh("k0"), fresh("Miss"), fresh("slow"), fresh("result")
    given = ", ".join(names)
    whole = f"({given}{',' if len(names) == 1 else ''})"
    name = state.function.__name__ if state.function.__name__.isidentifier() else "function"
    text = (
        f"def {name}({', '.join(parameters)}):\n"
        f"    {result} = {k0}({given})\n"
        f"    if {result}.__class__ is {miss}:\n"
        f"        return {slow}({whole}, {result})\n"
        f"    return {result}\n"
    )
    first: Callable[..., Any] = lambda *args: MISS  # noqa: E731
    namespace: dict[str, Any] = {k0: first, miss: Miss, slow: state.slow}
    if not state.options.enabled:
        namespace[k0] = lambda *args: _plain(state, args)
    state.namespace = _Renamed(namespace, k0)
    exec(compile(text, f"<fusejit carrier of {name}>", "exec"), namespace)
    function: Callable[..., Any] = namespace[name]
    return function


class _Renamed(dict[str, Any]):
    """Writes ``k0`` into the carrier's globals under the name it has there."""

    def __init__(self, target: dict[str, Any], k0: str) -> None:
        super().__init__()
        self.target = target
        self.k0 = k0

    def __setitem__(self, key: str, value: Any) -> None:
        self.target[self.k0 if key == "k0" else key] = value


def _plain(state: _State, args: tuple[Any, ...]) -> Any:
    positional, keywords = state.split(args)
    return state.function(*positional, **keywords)


def _trace_only(state: _State, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Traced:
    try:
        return trace(state.function, args, kwargs, state.options)
    except Declined as declined:
        raise UnsupportedError(
            f"{state.function.__name__} runs as plain NumPy for this call, there is no graph: "
            f"{declined.cause}"
        ) from None
    except FusejitError as error:
        raise strip_frames(error) from error.__cause__


def _mlir(state: _State, args: tuple[Any, ...], kwargs: dict[str, Any], fused: bool) -> str:
    stage = _trace_only(state, args, kwargs)
    return stage.fuse().mlir() if fused else stage.mlir()


def _explain(state: _State, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    try:
        stage = trace(state.function, args, kwargs, state.options)
    except Declined as declined:
        return f"{state.function.__name__} runs as plain NumPy for this call: {declined.cause}\n"
    except FusejitError as error:
        if state.may_open(error):
            shown = state.variants.segmented or state.opened(error, args, kwargs)
            return segments_text(shown or state.of_python(error), state.function.__name__)
        raise strip_frames(error) from error.__cause__
    lowered = stage.fuse().lower()
    return explain_text(lowered, sizes_of_call(lowered, state.bound(args, kwargs)), state.variants)
