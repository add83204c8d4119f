"""The table of engines. Each turns a workload into a callable; it lives in a worker process.

A new engine is a subclass of `Engine` and a line in `ENGINES`. Its library is imported in
`__init__`, because only one engine may be loaded per process.
"""

import importlib
import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.engine import Engine, import_library, plain_function
from benchmarks.own_engines import COPY, CopyEngine, FusejitEngine, UnfusedEngine
from benchmarks.rivals import JaxEngine, NjitEngine, NumbaEngine, TorchEngine
from benchmarks.workload import Workload

_FLOAT_LITERAL = re.compile(r"(?<![\w.])\d+\.\d*(?:[eE][-+]?\d+)?")


class NumpyEngine(Engine):
    """The function as it is: the yardstick."""

    name = "numpy"

    def versions(self) -> dict[str, str]:
        return {"numpy": np.__version__}

    def load(self, workload: Workload, dtype: str, with_out: bool) -> Callable[..., Any]:
        return plain_function(workload, with_out)


class NumexprEngine(Engine):
    """``numexpr.evaluate`` with explicit dictionaries, as its documentation recommends."""

    name = "numexpr"

    def __init__(self) -> None:
        self.library: Any = import_library("numexpr", "pip install numexpr")

    def versions(self) -> dict[str, str]:
        return {"numexpr": str(self.library.__version__)}

    def supports(self, workload: Workload, with_out: bool) -> bool:
        return workload.numexpr is not None and super().supports(workload, with_out)

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


ENGINES: dict[str, Callable[[], Engine]] = {
    engine.name: engine
    for engine in (
        NumpyEngine,
        NumexprEngine,
        NumbaEngine,
        NjitEngine,
        JaxEngine,
        TorchEngine,
        FusejitEngine,
        UnfusedEngine,
        CopyEngine,
    )
}

DEFAULT_ENGINES = ("numpy", "numexpr", "fusejit")
"""Without options: the others compile for minutes over all families and sizes."""

PROGRAM_ENGINES = ("numpy", "njit", "fusejit")

FUSION_ENGINES = ("numpy", "numba", "jax", "torch", "fusejit", "fusejit-nofuse", COPY)


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
