"""Everything that a function consists of may be replaced between two calls, and each call sees it.

Its own code and default values, those of helpers and methods, cells, globals, attributes of classes
and objects, attributes of NumPy's and Python's modules, builtins.

Regression: Replaced ``__defaults__``, ``__code__`` and ``np.sin`` were not noticed: launchers
checked helpers only. The checks cost 25 to 90 ns in Python, so the first kernel's entry now
compares the words in memory.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import math
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy import exp as imported

from fusejit.codegen.launcher import launcher_namespace as launcher_names
from fusejit.codegen.launcher import library_state
from fusejit_testing.oracle import decorate

Change = Callable[[pytest.MonkeyPatch, Any], None]
X = np.arange(1.0, 5.0)
HERE = sys.modules[__name__]


# ------------------------------------------------------------------------------- what is replaced
def helper(v: Any, k: float = 3.0) -> Any:
    return v * k


def another(v: Any, k: float = 3.0) -> Any:
    return v - k


@functools.wraps(helper)
def wrapper(v: Any) -> Any:
    return helper(v)


applied = functools.partial(helper, k=2.0)
alias = types.SimpleNamespace(exp=np.exp)


class Model:
    weight = 3.0

    def scaled(self, x: Any) -> Any:
        return x * self.weight

    @property
    def offset(self) -> float:
        return 5.0

    @staticmethod
    def moved(x: Any) -> Any:
        return x + 1

    @classmethod
    def weighted(cls, x: Any) -> Any:
        return x * cls.weight

    def __call__(self, x: Any) -> Any:
        return x - 1


class Other(Model):
    def scaled(self, x: Any) -> Any:
        return x - 50


MODEL = Model()


# ------------------------------------------------------------------------------------ the programs
def own() -> Any:
    def f(x: Any, k: float = 2.0, *, w: float = 1.0) -> Any:
        return np.sin(x) * k + w

    return f


def in_segments() -> Any:
    def f(x: Any, k: float = 2.0, *, w: float = 1.0) -> Any:
        y = np.sin(x)
        text = repr(y)
        return y * k + w + len(text)

    return f


def by_numpy() -> Any:
    def f(x: Any, k: float = 2.0, *, w: float = 1.0) -> Any:
        return x.astype(np.longdouble) * k + w

    return f


def without_source() -> Any:
    namespace: dict[str, Any] = {"np": np}
    exec("def f(x):\n    return np.sin(x) * 2", namespace)
    return namespace["f"]


def with_a_cell() -> Any:
    k = 2.0

    def f(x: Any) -> Any:
        return x * k

    return f


def program(text: Callable[[Any], Any]) -> Callable[[], Any]:
    """A new function with the same code each time."""
    return lambda: types.FunctionType(text.__code__, text.__globals__, "f", None, text.__closure__)


def replacement(x: Any, k: float = 2.0, *, w: float = 1.0) -> Any:
    return np.cos(x) - k


def with_more(x: Any, k: float = 2.0, *, w: float = 1.0, z: float = 4.0) -> Any:
    return x * k + z


uses_model = program(
    lambda x: MODEL.scaled(x) + MODEL.offset + MODEL.moved(x) + Model.weighted(x) + MODEL(x)
)
uses_pi = program(lambda x: x * np.pi)
uses_math = program(lambda x: x * math.sqrt(x.shape[0]) + math.pi)
uses_norm = program(lambda x: np.linalg.norm(x) * x)
uses_reduce = program(lambda x: np.add.reduce(x) * x)
uses_sort = program(lambda x: np.sort(x) + np.linalg.solve(np.eye(4), x))
uses_abs = program(lambda x: abs(x) + 1)
uses_many_builtins = program(lambda x: abs(x) + divmod(7, 2)[0] + pow(2, 3) + round(2.5))
uses_helper = program(lambda x: helper(x))
uses_wrapper = program(lambda x: wrapper(x))
uses_partial = program(lambda x: applied(x))
uses_alias = program(lambda x: alias.exp(x))
uses_imported = program(lambda x: imported(x))


# ------------------------------------------------------------------------------------- the changes
def attribute(owner: Any, name: str, value: Any) -> Change:
    return lambda patch, f: patch.setattr(owner, name, value)


def its(name: str, value: Any) -> Change:
    return lambda patch, f: setattr(f, name, value)


def more_parameters(patch: pytest.MonkeyPatch, f: Any) -> None:
    f.__code__, f.__kwdefaults__ = with_more.__code__, {"w": 1.0, "z": 4.0}


def new_cell(patch: pytest.MonkeyPatch, f: Any) -> None:
    f.__closure__[0].cell_contents = 11.0


TENFOLD = lambda v: v * 10  # noqa: E731

_ABS = abs


def tenfold_of_arrays(v: Any) -> Any:
    """Of arrays; what else runs in the process needs numbers as they are."""
    return v * 10 if isinstance(v, np.ndarray) else _ABS(v)


CASES: dict[str, tuple[Callable[[], Any], Change]] = {
    "own defaults": (own, its("__defaults__", (5.0,))),
    "own keyword defaults": (own, its("__kwdefaults__", {"w": 7.0})),
    "own keyword default": (own, lambda patch, f: f.__kwdefaults__.update(w=7.0)),
    "own code": (own, its("__code__", replacement.__code__)),
    "own code, more parameters": (own, more_parameters),
    "own defaults, in segments": (in_segments, its("__defaults__", (5.0,))),
    "own code, in segments": (in_segments, its("__code__", replacement.__code__)),
    "own defaults, by NumPy": (by_numpy, its("__defaults__", (5.0,))),
    "own code, by NumPy": (by_numpy, its("__code__", replacement.__code__)),
    "a cell": (with_a_cell, new_cell),
    "a ufunc": (own, attribute(np, "sin", np.cos)),
    "a ufunc by Python": (own, attribute(np, "sin", TENFOLD)),
    "a ufunc in segments": (in_segments, attribute(np, "sin", np.cos)),
    "a ufunc without source": (without_source, attribute(np, "sin", np.cos)),
    "a method of a ufunc": (uses_reduce, attribute(np, "add", np.multiply)),
    "a constant": (uses_pi, attribute(np, "pi", 3.0)),
    "a function of math": (uses_math, attribute(math, "sqrt", lambda v: 100.0)),
    "a constant of math": (uses_math, attribute(math, "pi", 3.0)),
    "a function of linalg": (uses_norm, attribute(np.linalg, "norm", lambda v: 3.0)),
    "a host function": (uses_sort, attribute(np, "sort", TENFOLD)),
    "another host function": (uses_sort, attribute(np.linalg, "solve", lambda a, b: b * 2)),
    "a builtin": (uses_abs, attribute(builtins, "abs", tenfold_of_arrays)),
    "one of many builtins": (uses_many_builtins, attribute(builtins, "abs", tenfold_of_arrays)),
    "a global hides a builtin": (
        uses_abs,
        lambda patch, f: patch.setattr(HERE, "abs", TENFOLD, raising=False),
    ),
    "a helper": (uses_helper, attribute(HERE, "helper", another)),
    "code of a helper": (uses_helper, attribute(helper, "__code__", another.__code__)),
    "defaults of a helper": (uses_helper, attribute(helper, "__defaults__", (8.0,))),
    "code after a wrapper": (uses_wrapper, attribute(helper, "__code__", another.__code__)),
    "a partial": (uses_partial, attribute(HERE, "applied", functools.partial(helper, k=9.0))),
    "a keyword of a partial": (
        uses_partial,
        lambda patch, f: patch.setitem(applied.keywords, "k", 6.0),
    ),
    "a namespace": (uses_alias, attribute(alias, "exp", np.sqrt)),
    "an imported name": (uses_imported, attribute(HERE, "imported", np.sqrt)),
    "an attribute of a class": (uses_model, attribute(Model, "weight", 4.0)),
    "a method": (uses_model, attribute(Model, "scaled", lambda self, x: x * 100)),
    "a property": (uses_model, attribute(Model, "offset", property(lambda self: 50.0))),
    "a static method": (uses_model, attribute(Model, "moved", staticmethod(TENFOLD))),
    "a class method": (uses_model, attribute(Model, "weighted", classmethod(lambda c, x: x * 7))),
    "a call of an object": (uses_model, attribute(Model, "__call__", lambda self, x: x * 9)),
    "an attribute of an object": (
        uses_model,
        lambda patch, f: patch.setattr(MODEL, "weight", 99.0, raising=False),
    ),
    "a function in an object": (
        uses_model,
        lambda patch, f: patch.setitem(vars(MODEL), "scaled", TENFOLD),
    ),
    "the class of an object": (uses_model, attribute(MODEL, "__class__", Other)),
}


@pytest.mark.parametrize("case", CASES)
def test_each_call_sees_the_code_as_it_is(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make, change = CASES[case]
    function = make()
    fused = decorate(function, jit=False)
    outcomes: list[list[str]] = [[], []]

    def call() -> None:
        for each, seen in zip((function, fused, fused), (0, 1, 1), strict=True):
            result = each(X)
            outcomes[seen].append(repr(result))
        assert outcomes[1] == [outcomes[0][-1]] * 2
        outcomes[1].clear()

    with pytest.warns() if make is by_numpy else contextlib.nullcontext():
        call()
        with monkeypatch.context() as patch:
            change(patch, function)
            call()
        call()  # and as it was before, where that is put back
    assert outcomes[0][0] != outcomes[0][1]


def test_arguments_in_the_call_that_notices() -> None:
    """Default values that the call has filled in are the new ones, what it gives is given."""
    function = own()
    fused = decorate(function, jit=False)
    fused(X)
    function.__defaults__ = (5.0,)
    np.testing.assert_array_equal(fused(X, 3.0, w=4.0), function(X, 3.0, w=4.0))
    function.__kwdefaults__ = {"w": 8.0}
    np.testing.assert_array_equal(fused(X, w=4.0), function(X, w=4.0))
    np.testing.assert_array_equal(fused(X, 3.0), function(X, 3.0))
    assert fused.__defaults__ == (5.0,)


def test_what_is_set_beside_costs_no_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    fused = decorate(own(), jit=False)
    before = fused(X)
    monkeypatch.setattr(np, "made_up_by_this_test", 1, raising=False)
    np.testing.assert_array_equal(fused(X), before)
    monkeypatch.setattr(np, "sin", np.cos)
    assert not np.array_equal(fused(X), before)
    monkeypatch.undo()
    np.testing.assert_array_equal(fused(X), before)
    assert len(fused.variants) == 2


def test_without_versions_of_dictionaries(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (library_state, launcher_names):
        monkeypatch.setattr(module, "HAVE_VERSIONS", False)
    function = own()
    fused = decorate(function, jit=False)
    fused(X)
    assert "version" not in fused.variants[0].launcher.text
    monkeypatch.setattr(np, "sin", np.cos)
    np.testing.assert_array_equal(fused(X), function(X))


def test_a_disabled_function_has_the_new_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSEJIT_DISABLE", "1")
    function = own()
    fused = decorate(function, jit=False)
    function.__defaults__ = (5.0,)
    for _ in range(2):
        np.testing.assert_array_equal(fused(X), function(X))
    assert not len(fused.variants)


# ------------------------------------------------------------------------------- machine code asks
@pytest.mark.parametrize("again", [False, True])
def test_machine_code_sees_what_was_replaced(monkeypatch: pytest.MonkeyPatch, again: bool) -> None:
    """The first kernel compares words of memory: code, default values, versions of namespaces."""

    def program(x: Any, factor: Any = 2.0, *, step: Any = 1.0) -> Any:
        return np.sin(x) * factor + step

    def other(x: Any, factor: Any = 2.0, *, step: Any = 1.0) -> Any:
        return np.sin(x) - factor * step

    fused = decorate(program, jit=True)
    before = fused(X)
    assert "changed" not in fused.variants[0].launcher.text

    def agrees() -> None:
        for _ in range(1 + again):
            np.testing.assert_allclose(fused(X), program(X))

    monkeypatch.setattr(np, "made_up_by_this_test", 1, raising=False)
    agrees()
    assert len(fused.variants) == 1
    launch = fused.variants[0].launch
    assert launch(X, 2.0, 1.0).__class__ is np.ndarray, "the new version is known"
    monkeypatch.setattr(np, "sin", np.cos)
    agrees()
    assert not np.array_equal(fused(X), before)
    monkeypatch.undo()
    agrees()
    program.__defaults__ = (5.0,)
    agrees()
    program.__kwdefaults__ = {"step": 7.0}
    agrees()
    program.__code__ = other.__code__
    agrees()
    program.__defaults__ = program.__kwdefaults__ = None
    with pytest.raises(TypeError):
        fused(X)
    np.testing.assert_allclose(fused(X, 2.0, step=1.0), program(X, 2.0, step=1.0))
