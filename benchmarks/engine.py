"""What an engine is, and how it says that it is not there or that it cannot run a workload.

Fairness, the same for all: arguments are in the form the engine wants before the clock starts
(`Engine.put`), each call waits until its result is complete, the result is dropped before the next
call, and every engine keeps its own defaults for threads. An engine without in-place results takes
no part in ``out=`` forms. Compiling happens in the first call, which is timed apart.
"""

import importlib
import types
from collections.abc import Callable
from typing import Any, Protocol

from benchmarks.workload import Workload


class NotInstalledError(RuntimeError):
    """The library of an engine is missing; the message says how to install it."""


class Engine(Protocol):
    """Something that can run a workload; subclasses inherit what they do not need to say."""

    name: str

    refusals: tuple[type[BaseException], ...] = ()
    """Exceptions of loading and of the first call by which it says that it cannot do that."""

    def versions(self) -> dict[str, str]:
        """Versions of the libraries that do the work."""

    def supports(self, workload: Workload, with_out: bool) -> bool:
        """Whether the workload can be said in this engine."""
        return workload.out_function is not None or not with_out

    def load(self, workload: Workload, dtype: str, with_out: bool) -> Callable[..., Any]:
        """A callable with the parameters of the workload, and ``out`` last if `with_out`."""

    def put(self, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """NumPy arguments in the form that the callable takes; outside the timed calls."""
        return arguments

    def fetch(self, results: list[Any]) -> list[Any]:
        """Results as NumPy arrays and scalars, for the comparison."""
        return results

    def declined(self, function: Callable[..., Any]) -> str | None:
        """Why the engine ran plain NumPy instead of its own code; None if it did not."""
        return None


def import_library(name: str, install: str) -> Any:
    """The library of an engine.

    Raises
    ------
    NotInstalledError
        It is missing; `install` is the remedy. A library that is there and fails to import
        raises its own error.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0]:
            raise
        raise NotInstalledError(f"{name} is missing; to install it: {install}") from None


def plain_function(workload: Workload, with_out: bool) -> Callable[..., Any]:
    """The NumPy function of a workload, in the form asked for."""
    if not with_out:
        return workload.function
    if workload.out_function is None:
        raise ValueError(f"workload {workload.name!r} has no out= form")
    return workload.out_function


def with_namespace(function: Callable[..., Any], namespace: Any) -> Callable[..., Any]:
    """The same code with `namespace` where its module says ``np``, also in functions it calls."""
    assert isinstance(function, types.FunctionType)
    scope = dict(function.__globals__)
    for name, value in function.__globals__.items():
        if isinstance(value, types.FunctionType) and value.__module__ == function.__module__:
            scope[name] = types.FunctionType(
                value.__code__, scope, value.__name__, value.__defaults__, value.__closure__
            )
    scope["np"] = namespace
    return types.FunctionType(
        function.__code__, scope, function.__name__, function.__defaults__, function.__closure__
    )


def with_helpers(
    function: Callable[..., Any], decorate: Callable[[Callable[..., Any]], Callable[..., Any]]
) -> Callable[..., Any]:
    """`function` decorated, and in what it sees each function of its module decorated as well."""
    assert isinstance(function, types.FunctionType)
    scope = dict(function.__globals__)
    for name, value in function.__globals__.items():
        if isinstance(value, types.FunctionType) and value.__module__ == function.__module__:
            scope[name] = decorate(
                types.FunctionType(value.__code__, scope, name, value.__defaults__)
            )
    found: Callable[..., Any] = scope[function.__name__]
    return found
