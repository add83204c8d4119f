"""The differential check: NumPy against the traced graph, run by the reference interpreter."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit.ir.host import Path
from fusejit.ir.interpreter.interpret import check_guards, host_environment, interpret
from fusejit.ir.results import (
    HostLeaf,
    PathLeaf,
    ResultLeaf,
    ResultMapping,
    ResultSequence,
    StaticLeaf,
)
from fusejit.ir.traced import CheckKind, TracedFunction
from fusejit.tracer.builder.layout import classify
from fusejit.tracer.capture.entry import trace_function


def paths_of(traced: TracedFunction, arguments: dict[str, Any], fn: Callable[..., Any]) -> Any:
    """Finds objects for the interpreter: arguments, globals, constants."""
    closure = inspect.getclosurevars(fn).nonlocals

    def find(path: Path) -> Any:
        root = {
            "arg": arguments,
            "global": fn.__globals__,
            "closure": closure,
            "const": traced.constants,
        }[path.root]
        found = root[path.name]
        for kind, key in path.steps:
            found = getattr(found, key) if kind == "." else found[key]
        return found

    return find


def assemble(structure: Any, results: list[Any], paths: Any, names: Any) -> Any:
    """Put results together as the launcher will."""
    if isinstance(structure, ResultLeaf):
        return results[structure.index]
    if isinstance(structure, PathLeaf):
        return paths(structure.path)
    if isinstance(structure, HostLeaf):
        return structure.expr.evaluate(paths, names)
    if isinstance(structure, StaticLeaf):
        return structure.value
    items = [assemble(i, results, paths, names) for i in structure.items]
    if isinstance(structure, ResultSequence):
        return structure.type(items)
    assert isinstance(structure, ResultMapping)
    return dict(zip(structure.keys, items, strict=True))


def relevant_strides(array: np.ndarray) -> list[int]:
    """Strides of the axes that are longer than 1; nothing for an empty array."""
    if not array.size:
        return []
    return [s for s, n in zip(array.strides, array.shape, strict=True) if n != 1]


def assert_same(ours: Any, theirs: Any, tolerance: float) -> None:
    """Same type, dtype, shape, strides and values."""
    assert type(ours) is type(theirs), (ours, theirs)
    if isinstance(theirs, np.ndarray | np.generic):
        assert ours.dtype == theirs.dtype
        assert ours.shape == theirs.shape
        if isinstance(theirs, np.ndarray):
            assert relevant_strides(ours) == relevant_strides(theirs)
        if theirs.dtype.kind == "f":
            np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
            if not tolerance:
                np.testing.assert_array_equal(np.signbit(ours), np.signbit(theirs))
        else:
            np.testing.assert_array_equal(ours, theirs)
    elif isinstance(theirs, list | tuple):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            assert_same(a, b, tolerance)
    elif isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        for key in theirs:
            assert_same(ours[key], theirs[key], tolerance)
    else:
        assert ours == theirs or (ours != ours and theirs != theirs)


def arrays_in(obj: Any) -> list[np.ndarray]:
    """The arrays of nested containers, in order."""
    if isinstance(obj, np.ndarray):
        return [obj]
    if isinstance(obj, dict):
        return [a for v in obj.values() for a in arrays_in(v)]
    if isinstance(obj, list | tuple):
        return [a for v in obj for a in arrays_in(v)]
    return []


def aliasing(arrays: list[np.ndarray]) -> list[tuple[bool, bool]]:
    """Which pairs are one object, and which share memory."""
    return [(a is b, np.shares_memory(a, b)) for i, a in enumerate(arrays) for b in arrays[i + 1 :]]


def keep(array: Any) -> Any:
    """A copy with the same strides, for nested arguments too."""
    if isinstance(array, np.ndarray):
        base = array
        while isinstance(base.base, np.ndarray):
            base = base.base
        memory = np.array(base, copy=True, order="K")
        offset = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        if base.nbytes == 0 or memory.strides != base.strides:
            return np.array(array, copy=True, order="K")
        return np.ndarray(array.shape, array.dtype, memory, offset, array.strides)
    if isinstance(array, list | tuple):
        return type(array)(map(keep, array))
    if isinstance(array, dict):
        return {k: keep(v) for k, v in array.items()}
    return copy.copy(array)


def run_graph(traced: TracedFunction, fn: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The function's result as the graph computes it on ``args``."""
    arguments = inspect.signature(fn).bind(*args)
    arguments.apply_defaults()
    paths = paths_of(traced, arguments.arguments, fn)
    broken = check_guards(traced.graph, paths)
    assert broken is None, broken
    names = host_environment(traced.graph, paths)
    with np.errstate(all="ignore"):
        results = interpret(traced.graph, paths)
    return assemble(traced.structure, results, paths, names)


class Checker:
    """``check(fn, *args)`` traces ``fn`` and compares; ``also`` are further calls it serves."""

    def __call__(
        self,
        fn: Callable[..., Any],
        *args: Any,
        also: list[tuple[Any, ...]] | None = None,
        tolerance: float = 0.0,
    ) -> TracedFunction:
        before = keep(args)
        traced = trace_function(fn, args, {})
        assert not any(self.refuses(traced, fn, *call) for call in [args, *(also or [])])
        for a, b in zip(arrays_in(args), arrays_in(before), strict=True):
            np.testing.assert_array_equal(a, b)  # tracing modifies nothing
        for call in [args, *(also or [])]:
            ours, theirs = keep(call), keep(call)
            with np.errstate(all="ignore"):
                expected = fn(*theirs)
            got = run_graph(traced, fn, ours)
            assert_same(got, expected, tolerance)
            assert_same(ours, theirs, tolerance)
            one = aliasing([*arrays_in(got), *arrays_in(ours)])
            other = aliasing([*arrays_in(expected), *arrays_in(theirs)])
            for (same, shared), (as_numpy, shared_in_numpy) in zip(one, other, strict=True):
                assert shared == shared_in_numpy
                assert same or not as_numpy
        return traced

    @staticmethod
    def run(traced: TracedFunction, fn: Callable[..., Any], *args: Any) -> Any:
        """What the graph computes for a call whose guards hold."""
        return run_graph(traced, fn, args)

    @staticmethod
    def refuses(traced: TracedFunction, fn: Callable[..., Any], *args: Any) -> bool:
        """Whether some guard, or the class of some array, does not hold for a call."""
        arguments = inspect.signature(fn).bind(*args)
        arguments.apply_defaults()
        paths = paths_of(traced, arguments.arguments, fn)
        for check in traced.checks:
            if check.kind is CheckKind.ARRAY:
                array = paths(check.path)
                found = (array.dtype, array.ndim, *classify(array))
                wanted = check.expected
                if found != (wanted.dtype, wanted.ndim, wanted.order, wanted.layout):
                    return True
        return check_guards(traced.graph, paths) is not None


@pytest.fixture(scope="session")
def check() -> Checker:
    """The differential check."""
    return Checker()
