"""A trace that does nothing: stand-ins are the objects themselves, reads are written down."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fusejit.ir.host import Path
from fusejit.ir.traced import CheckKind, PathCheck
from fusejit.tracer.capture.front_end import run_traced
from fusejit.tracer.program.callables import is_named_tuple
from fusejit.tracer.program.guards import guards_of


class FakeTraced:
    """What a traced value looks like to the front end: an object of the package fusejit."""

    __module__ = "fusejit.tracer.stand_in"

    def __init__(self, value: Any) -> None:
        self.value = value

    def __add__(self, other: Any) -> FakeTraced:
        return FakeTraced(self.value + getattr(other, "value", other))

    __radd__ = __add__

    def __iadd__(self, other: Any) -> FakeTraced:
        if not isinstance(self.value, np.ndarray):
            return self + other
        self.value += getattr(other, "value", other)
        return self

    def __mul__(self, other: Any) -> FakeTraced:
        return FakeTraced(self.value * getattr(other, "value", other))

    __rmul__ = __mul__

    def __getitem__(self, key: Any) -> FakeTraced:
        return FakeTraced(self.value[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.value[key] = getattr(value, "value", value)

    def total(self) -> FakeTraced:
        return FakeTraced(np.sum(self.value))


for _method in vars(FakeTraced).values():  # the front end knows the code of fusejit by its file
    if inspect.isfunction(_method):
        _method.__code__ = _method.__code__.replace(co_filename=run_traced.__code__.co_filename)


class FakeTrace:
    """Records checks. Arrays, ints and floats become `FakeTraced` if ``fakes`` is set."""

    def __init__(self, fakes: bool = False, handlers: dict[Any, Any] | None = None) -> None:
        self.fakes = fakes
        self.handlers = handlers or {}
        self.checks: list[PathCheck] = []
        self.notes: list[str] = []
        self.constants: list[np.ndarray] = []
        self.captured_reads = self  # an object of its own, elsewhere
        self.errstate: dict[str, str] = {}
        self.untraced: dict[Any, str] = {}
        self.given: frozenset[str] | None = None

    def read(self, path: Path, obj: Any) -> Any:
        if type(obj) in (list, tuple) or is_named_tuple(obj):
            kind = CheckKind.TYPE if is_named_tuple(obj) else CheckKind.KEYS
            expected = type(obj) if is_named_tuple(obj) else len(obj)
            self.checks.append(PathCheck(path, kind, expected))
            items = (self.read(path.item(i), v) for i, v in enumerate(obj))
            return type(obj)._make(items) if is_named_tuple(obj) else type(obj)(items)
        if type(obj) is dict:
            self.checks.append(PathCheck(path, CheckKind.KEYS, tuple(obj)))
            return {k: self.read(path.item(k), v) for k, v in obj.items()}
        if self.fakes and type(obj) in (int, float, np.ndarray, np.float64):
            self.checks.append(PathCheck(path, CheckKind.TYPE, type(obj)))
            return FakeTraced(obj)
        if type(obj) in (int, float):
            self.checks.append(PathCheck(path, CheckKind.EQUAL, obj))
        else:
            self.checks += guards_of(path, obj)
        return obj

    def check(self, check: PathCheck) -> None:
        self.checks.append(check)

    def is_traced(self, obj: Any) -> bool:
        return isinstance(obj, FakeTraced)

    def handler(self, fn: Any) -> Callable[..., Any] | None:
        try:
            return self.handlers.get(fn)
        except TypeError:
            return None

    def constant(self, array: np.ndarray) -> Any:
        self.constants.append(array)
        return FakeTraced(array) if self.fakes else array

    def paths(self) -> list[str]:
        """The paths that were read, in order."""
        return [str(check.path) for check in self.checks]


def run(trace: FakeTrace, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Trace a call of ``fn``: arguments are read, then the staged function runs.

    Every check that was recorded must hold for the very call that was traced.
    """
    bound = inspect.signature(fn, follow_wrapped=False).bind(*args, **kwargs)
    bound.apply_defaults()
    arguments = {
        name: trace.read(Path("arg", name), value) for name, value in bound.arguments.items()
    }
    try:
        return run_traced(fn, trace, arguments)
    finally:
        for check in trace.checks:
            assert holds(check, fn, bound.arguments), check


def holds(check: PathCheck, fn: Any, arguments: dict[str, Any]) -> bool:
    """What the launcher does with a check."""
    try:
        found = resolve(check.path, fn, arguments)
    except (AttributeError, LookupError):
        return check.kind is CheckKind.ABSENT
    expected = check.expected
    if check.kind is CheckKind.KEYS:
        return expected == (tuple(found) if isinstance(found, dict) else len(found))
    if check.kind is CheckKind.MEMBERS:
        return len(vars(found)) == int(expected)
    if check.kind is CheckKind.TYPE:
        return type(found) is expected
    if check.kind is CheckKind.EQUAL:
        return type(found) is type(expected) and found == expected
    if check.kind is CheckKind.CODE:
        return not expected.differs(found)
    if check.kind is CheckKind.SAME:
        return found is resolve(expected, fn, arguments)
    return check.kind is CheckKind.IS and found is expected


def resolve(path: Path, fn: Any, arguments: dict[str, Any]) -> Any:
    """The object at a path, for a call of ``fn``."""
    if path.root == "arg":
        found = arguments[path.name]
    elif path.root == "global":
        found = fn.__globals__[path.name]
    else:
        found = fn.__closure__[fn.__code__.co_freevars.index(path.name)].cell_contents
    for kind, key in path.steps:
        found = getattr(found, key) if kind == "." else found[key]
    return found


@pytest.fixture
def front() -> SimpleNamespace:
    """The fake trace, its stand-ins, and how to run a function on them."""
    return SimpleNamespace(FakeTrace=FakeTrace, FakeTraced=FakeTraced, run=run, resolve=resolve)
