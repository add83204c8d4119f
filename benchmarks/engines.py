"""The table of engines. Each turns a workload into a callable; it lives in a worker process.

A new engine (numba, jax, torch) is a class with the four members of `Engine` and a line in
`ENGINES`. Its library is imported in `__init__`, because only one engine may be loaded per process.
"""

import importlib
import importlib.metadata
import inspect
import re
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from benchmarks.workload import Workload

_FLOAT_LITERAL = re.compile(r"(?<![\w.])\d+\.\d*(?:[eE][-+]?\d+)?")


class Engine(Protocol):
    """Something that can run a workload."""

    name: str

    def versions(self) -> dict[str, str]:
        """Versions of the libraries that do the work."""

    def supports(self, workload: Workload, with_out: bool) -> bool:
        """Whether the workload can be said in this engine."""

    def load(self, workload: Workload, dtype: str, with_out: bool) -> Callable[..., Any]:
        """A callable with the parameters of the workload, and ``out`` last if `with_out`."""


def plain_function(workload: Workload, with_out: bool) -> Callable[..., Any]:
    """The NumPy function of a workload, in the form asked for."""
    if not with_out:
        return workload.function
    if workload.out_function is None:
        raise ValueError(f"workload {workload.name!r} has no out= form")
    return workload.out_function


class NumpyEngine:
    """The function as it is: the yardstick."""

    name = "numpy"

    def versions(self) -> dict[str, str]:
        return {"numpy": np.__version__}

    def supports(self, workload: Workload, with_out: bool) -> bool:
        return workload.out_function is not None or not with_out

    def load(self, workload: Workload, dtype: str, with_out: bool) -> Callable[..., Any]:
        return plain_function(workload, with_out)


class NumexprEngine:
    """``numexpr.evaluate`` with explicit dictionaries, as its documentation recommends."""

    name = "numexpr"

    def __init__(self) -> None:
        self.library: Any = importlib.import_module("numexpr")

    def versions(self) -> dict[str, str]:
        return {"numexpr": str(self.library.__version__)}

    def supports(self, workload: Workload, with_out: bool) -> bool:
        return workload.numexpr is not None and (workload.out_function is not None or not with_out)

    def load(self, workload: Workload, dtype: str, with_out: bool) -> Callable[..., Any]:
        assert workload.numexpr is not None
        expression, constants = workload.numexpr, dict[str, Any]()
        if dtype == "f32":
            expression, constants = with_float32_literals(expression)
        names = tuple(inspect.signature(workload.function).parameters)
        evaluate = self.library.evaluate

        def fresh(*arguments: Any) -> Any:
            names_to_values = dict(zip(names, arguments, strict=True)) | constants
            return evaluate(expression, names_to_values, {})

        def in_place(*arguments: Any) -> Any:
            names_to_values = dict(zip(names, arguments[:-1], strict=True)) | constants
            evaluate(expression, names_to_values, {}, out=arguments[-1])

        return in_place if with_out else fresh


def with_float32_literals(expression: str) -> tuple[str, dict[str, np.float32]]:
    """Name the float literals of a numexpr expression, which would make its result float64.

    >>> with_float32_literals("0.5*x + 2*y - 0.5")
    ('k0*x + 2*y - k0', {'k0': np.float32(0.5)})
    """
    names: dict[str, str] = {}

    def name_of(match: re.Match[str]) -> str:
        return names.setdefault(match.group(), f"k{len(names)}")

    renamed = _FLOAT_LITERAL.sub(name_of, expression)
    return renamed, {name: np.float32(literal) for literal, name in names.items()}


class FusejitEngine:
    """``fuse_jit`` on the very function that NumPy runs."""

    name = "fusejit"

    def __init__(self) -> None:
        self.library: Any = importlib.import_module("fusejit")
        self.fuse_jit: Any = self.library.fuse_jit

    def versions(self) -> dict[str, str]:
        own = getattr(self.library, "__version__", "from source")
        others = {name: importlib.metadata.version(name) for name in ("numba", "llvmlite")}
        return {"fusejit": str(own), **others}

    def supports(self, workload: Workload, with_out: bool) -> bool:
        return workload.out_function is not None or not with_out

    def load(self, workload: Workload, dtype: str, with_out: bool) -> Callable[..., Any]:
        fused: Callable[..., Any] = self.fuse_jit(plain_function(workload, with_out))
        return fused


ENGINES: dict[str, Callable[[], Engine]] = {
    engine.name: engine for engine in (NumpyEngine, NumexprEngine, FusejitEngine)
}

DEFAULT_ENGINES = ("numpy", "numexpr", "fusejit")


def create(name: str) -> Engine:
    """The engine called `name`; ``package.module:Class`` names one outside the table."""
    if name in ENGINES:
        return ENGINES[name]()
    if ":" not in name:
        known = ", ".join(ENGINES)
        raise ValueError(f"unknown engine {name!r}; known: {known}, or 'package.module:Class'")
    module_name, class_name = name.split(":", 1)
    engine: Engine = getattr(importlib.import_module(module_name), class_name)()
    return engine
