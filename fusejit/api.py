"""`fuse_jit`: the decorator, and what a decorated function can be asked.

A decorated function is a plain function with the user's own parameter list (`fusejit.entry_stubs`);
what a call does is in `fusejit.dispatch.dispatcher`.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from numbers import Real
from os import PathLike
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

from fusejit.decorated import Decorated
from fusejit.decorated_objects import decorated, why_it_stays
from fusejit.entry_stubs.bound_methods import with_object
from fusejit.errors import UnsupportedError
from fusejit.notices import FuseWarning, warn
from fusejit.options import Options, check_fusion, options_from_environment
from fusejit.reports.answer import Answer
from fusejit.reports.check import checked
from fusejit.reports.function import fused_doc, shown_function
from fusejit.support.locks import cut_short
from fusejit.variants import Variants

if TYPE_CHECKING:
    from fusejit.fuse.grouping.policy import FusionPolicyFn
    from fusejit.stages import Traced

__all__ = ["FuseWarning", "FusedFunction", "Variants", "fuse_jit"]

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R", covariant=True)


class _Introspection(Protocol):
    """What a decorated function says of itself. A bound method passes its object, as in a call."""

    __name__: str
    __wrapped__: Callable[..., Any]
    variants: Variants

    def explain(
        self, *args: Any, detail: bool = False, passes: bool = False, **kwargs: Any
    ) -> Answer:
        """What runs compiled for these arguments, how fast, and what holds it back. Runs nothing.

        With ``detail`` each fusion, each refused one, and the guards; with ``passes`` also what
        each pass did, and how long it took.
        """

    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """The traced graph; ``.fuse().lower().source`` goes on step by step. Runs nothing."""

    def mlir(self, *args: Any, fused: bool = False, **kwargs: Any) -> str:
        """The traced (or the fused) graph as text that ``mlir-opt`` accepts. Runs nothing."""

    def check(self, *args: Any, **kwargs: Any) -> Answer:
        """Run both forms on copies of the arguments and tell how the results differ."""


class FusedFunction(_Introspection, Protocol[P, R]):
    """A function decorated with `fuse_jit`."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the function; same results as the undecorated one."""

    @overload
    def __get__(
        self: FusedFunction[Concatenate[Any, Q], R], obj: None, owner: type, /
    ) -> _OfClass[P, Q, R]: ...
    @overload
    def __get__(
        self: FusedFunction[Concatenate[Any, Q], R], obj: object, owner: type | None = None, /
    ) -> _OfObject[Q, R]: ...
    @overload
    def __get__(self, obj: Any, owner: type | None = None, /) -> FusedFunction[P, R]: ...


class _OfClass(_Introspection, Protocol[P, Q, R]):
    """An attribute of a class: a method that takes the object, or a bound `classmethod`."""

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, *args: Q.args, **kwargs: Q.kwargs) -> R: ...


class _OfObject(_Introspection, Protocol[Q, R]):
    """An attribute of an object: a bound method, or a `staticmethod`."""

    @overload
    def __call__(self, *args: Q.args, **kwargs: Q.kwargs) -> R: ...
    @overload
    def __call__(self, first: Any, /, *args: Q.args, **kwargs: Q.kwargs) -> R: ...


@overload
def fuse_jit(function: Callable[P, R], /) -> FusedFunction[P, R]: ...


@overload
def fuse_jit(
    *,
    enabled: bool = True,
    fullgraph: bool = False,
    warn: bool = True,
    fusion: str | FusionPolicyFn | None = None,
    compile_seconds: float | None = None,
    schedule: Callable[[Any], Any] | str | PathLike[str] | None = None,
) -> Callable[[Callable[P, R]], FusedFunction[P, R]]: ...


def fuse_jit(
    function: Callable[..., Any] | None = None,
    /,
    *,
    enabled: bool = True,
    fullgraph: bool = False,
    warn: bool = True,
    fusion: str | FusionPolicyFn | None = None,
    compile_seconds: float | None = None,
    schedule: Callable[[Any], Any] | str | PathLike[str] | None = None,
) -> Any:
    """Fuse and compile a NumPy function, once per signature of its arguments.

    Parameters
    ----------
    function : callable
        A plain Python function over NumPy arrays, written as usual. Of a method of a class
        (`staticmethod`, `classmethod`, `property`) and of a `functools.partial` the function inside
        is compiled. Generator functions, coroutines, classes and other callable objects are
        returned as they are, with a `FuseWarning`.
    enabled : bool
        False runs plain NumPy (as FUSEJIT_DISABLE=1 does for all functions).
    fullgraph : bool
        True makes a call that cannot be compiled whole an error that names the line: one that would
        run as plain NumPy (otherwise with a `FuseWarning` once per cause), and one with a host call
        or an effect (`np.sort`, `print`, a draw), which Python would run between kernels.
    warn : bool
        False shows no `FuseWarning` (as FUSEJIT_WARN=0 does for all functions); ``explain`` and
        ``variants`` tell the same.
    fusion : {"auto", "none", "aggressive"} or callable, optional
        Which legal fusions are done: those with a predicted gain (the default, unless
        FUSEJIT_FUSION names another policy), none, or all. A function gets a `FusionCandidate` for
        each legal fold, merge and step of a group, and returns True or None to do it, False or a
        reason (shown by ``explain``) to refuse, or the candidate's ``default``. Results have the
        same bits under every policy.
    compile_seconds : float, optional
        Processor time that one compile may take: 10, unless FUSEJIT_COMPILE_SECONDS says otherwise.
        A call whose compile takes longer runs as plain NumPy, with a `FuseWarning` that says where
        the time went, and so do later calls of its kind. ``math.inf`` waits for ever.
    schedule : callable or path, optional
        A recipe: it gets a `fusejit.transform.Schedule` of each variant and returns it, or one of
        its ops, after some steps. Where a step is not legal the automatic passes alone run, with a
        `FuseWarning`; with ``fullgraph=True`` that is an error. A path is that of a file that
        `fusejit.transform.TuneResult.save` has written.

    Returns
    -------
    callable
        A function with the same signature, plus ``explain``, ``trace``, ``check``, ``variants``.

    Raises
    ------
    TypeError
        If ``function`` is not callable, or ``fullgraph=True`` and it is of a kind that cannot be
        compiled; if ``fusion`` is neither a name nor callable, or ``schedule`` neither a path nor
        callable.
    ValueError
        If there is no policy named ``fusion``, or ``compile_seconds`` is below 0.
    OSError
        If ``schedule`` is a path that cannot be read.

    Examples
    --------
    >>> import numpy as np
    >>> @fuse_jit
    ... def f(a, b):
    ...     return (a + b) * 2
    >>> f(np.arange(3), np.arange(3))
    array([0, 4, 8])
    """
    if compile_seconds is not None:
        what = f"compile_seconds={compile_seconds!r} is not a number of seconds"
        if not isinstance(compile_seconds, Real):
            raise TypeError(what)
        if not compile_seconds >= 0:
            raise ValueError(what)
    if isinstance(schedule, str | PathLike):
        with open(schedule, "rb"):  # a wrong path is an error at once
            pass
    elif schedule is not None and not callable(schedule):
        what = f"schedule={schedule!r} is neither a recipe nor the path of one"
        raise TypeError(f"{what}: a recipe is a function that gets a schedule and returns it")
    options = options_from_environment(
        enabled=enabled,
        fullgraph=fullgraph,
        warn=warn,
        fusion=fusion,
        compile_seconds=compile_seconds,
        schedule=None if schedule is None else functools.partial(_scheduled, schedule),
    )
    try:
        check_fusion(options.fusion)  # a wrong name is told at once
    except ValueError as error:
        if fusion is None:
            error.add_note("the environment variable FUSEJIT_FUSION names it")
        raise
    if function is None:
        return functools.partial(_decorate, options=options)
    return _decorate(function, options)


def _check_that_modules_load() -> None:
    if cut_short():
        raise UnsupportedError(f"nothing can be traced in this process: {cut_short()}")


def _scheduled(recipe: Callable[[Any], Any] | str | PathLike[str], stage: Any) -> Any:
    from fusejit.transform.schedules import scheduled  # not needed without a recipe

    return scheduled(stage, recipe)


def why_in_python(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Why a call of a decorated function would run in Python now; empty if it would not."""
    state = function.__fusejit_state__
    if not state.options.enabled:
        return "fusejit is disabled"
    if cut_short():
        return str(cut_short())
    from fusejit import introspection

    return introspection.why_in_python(state.dispatcher, args, kwargs)


def _decorate(obj: Any, options: Options) -> Any:
    kind = why_it_stays(obj)
    if kind is None:
        return decorated(obj, functools.partial(decorated_function, options=options))
    what = f"fuse_jit cannot compile {getattr(obj, '__name__', obj)!r}: it is {kind}"
    if options.fullgraph:
        raise TypeError(what)
    if options.enabled and options.warn:
        warn(f"{what}, and stays as it is")
    return obj


def decorated_function(function: Callable[..., Any], options: Options) -> Any:
    """A plain function, decorated with given options."""
    known = getattr(function, "__fusejit_state__", None)
    if known and known.entry_stub.function is function:  # no wrapper with our attributes
        function = known.function
    state = Decorated(function, options)
    stub = state.entry_stub.function
    result = cast(Any, stub)
    result.variants = state.variants

    called_with = functools.partial(with_object, (function, stub))

    # what is told of a function loads a compiler
    def trace(*args: Any, **kwargs: Any) -> Traced:
        args = called_with("trace", args, kwargs, sys._getframe(1))
        _check_that_modules_load()
        from fusejit import introspection

        return introspection.traced(state.dispatcher, args, kwargs)

    def explain(*args: Any, detail: bool = False, passes: bool = False, **kwargs: Any) -> Answer:
        args = called_with("explain", args, kwargs, sys._getframe(1))
        if cut_short():  # even loading what explains could hang
            return Answer.of([state.told_of_cut_short()])
        from fusejit import introspection

        return introspection.explained(state.dispatcher, args, kwargs, passes, detail)

    def mlir(*args: Any, fused: bool = False, **kwargs: Any) -> str:
        args = called_with("mlir", args, kwargs, sys._getframe(1))
        _check_that_modules_load()
        from fusejit import introspection

        return introspection.mlir(state.dispatcher, args, kwargs, fused)

    def check(*args: Any, **kwargs: Any) -> Answer:
        args = called_with("check", args, kwargs, sys._getframe(1))
        return checked(function, stub, args, kwargs, state.variants.timing())

    for method in (trace, explain, mlir, check):
        setattr(result, method.__name__, functools.wraps(function)(method))
    if options.enabled:
        result.__doc__ = fused_doc(function.__doc__)
        result._repr_mimebundle_ = functools.partial(shown_function, stub)
    return result
