"""A decorated function is still a function: calls, signature, pickling, nesting.

Regression: Recursion was an UnsupportedError; a function that calls itself more than 16 times in a
trace is now split at those calls. ``@fuse_jit`` above ``staticmethod``, ``property``, ``partial``,
generators and classes was refused.
"""

from __future__ import annotations

import copy
import functools
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import FuseWarning, fuse_jit
from fusejit.errors import UnsupportedError
from fusejit.reports.function import NOTE
from fusejit_testing.compare import assert_same

pytestmark = pytest.mark.usefixtures("unjitted")

X, Y = np.arange(3.0), np.array([2.0, 0.5, -1.0])


def mixed(a: Any, /, b: Any, c: Any = 2.0, *rest: Any, d: Any, e: Any = None, **named: Any) -> Any:
    """Every kind of parameter."""
    result = a * b + c - d
    for array in rest:
        result = result + array
    for name in named:
        result = result * named[name]
    return result if e is None else result + e


@fuse_jit
def module_level(x: Any, y: float = 1.5) -> Any:
    """Adds.

    >>> module_level(np.zeros(1))
    array([1.5])
    """
    return x + y


@fuse_jit
def factorial(x: Any, n: int) -> Any:
    return x if n <= 1 else factorial(x, n - 1) * n


@fuse_jit
def endless(x: Any) -> Any:
    return endless(x) + 1


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((X, Y), {"d": 1}),
        ((X,), {"b": Y, "d": 1.0}),
        ((X, Y, X), {"d": Y}),
        ((X, Y, 1, X, Y), {"d": 2, "e": X}),
        ((X, Y), {"c": 3, "d": 4, "u": X, "v": 2.0}),
        ((X, Y), {"d": 4, "v": 2.0, "u": X}),
    ],
)
def test_every_way_to_pass_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    fused = fuse_jit(mixed)
    for _ in range(2):
        assert_same(mixed(*args, **kwargs), fused(*args, **kwargs))
    assert len(fused.variants) + sum(fused.variants.fallbacks.values()) >= 1


def test_all_ways_with_one_function() -> None:
    fused = fuse_jit(mixed)
    for args, kwargs in (
        ((X, Y), {"d": 1}),
        ((X, Y, 3.0, X), {"d": 1}),
        ((X, Y), {"d": 1, "z": X}),
        ((X, Y), {"d": 1}),
        ((Y, X), {"d": X, "e": Y}),
    ):
        assert_same(mixed(*args, **kwargs), fused(*args, **kwargs))


def test_names_of_parameters_that_the_machinery_uses_itself() -> None:
    def function(k0: Any, Outcome: Any, slow: Any, result: Any, s0: Any, p_a0: Any) -> Any:
        return k0 + Outcome - slow * result + s0 - p_a0

    args = (X, Y, X + 1, Y + 1, 2.0, X)
    assert_same(function(*args), fuse_jit(function)(*args))

    def more(arg_x: Any, status: Any, np: Any, K0: Any, view: Any, error_state: Any) -> Any:
        return arg_x + status - np * K0 + view - error_state

    assert_same(more(*args), fuse_jit(more)(*args))


def test_mutable_and_array_defaults() -> None:
    def add(x: Any, weights: Any = Y, names: Any = ("a", "b")) -> Any:
        return x * weights + len(names)

    fused = fuse_jit(add)
    assert_same(add(X), fused(X))
    assert_same(add(X, names=()), fused(X, names=()))
    assert_same(add(X, X), fused(X, X))


def test_signature_doc_and_wrapped() -> None:
    plain = module_level.__wrapped__
    assert module_level.__name__ == "module_level"
    assert module_level.__qualname__ == plain.__qualname__  # type: ignore[attr-defined]
    assert module_level.__module__ == __name__
    doc = inspect.getdoc(plain)
    assert inspect.getdoc(module_level) == f"{doc}\n\n{NOTE}"  # a user reads it in `help`
    assert module_level.__annotations__ == plain.__annotations__
    assert inspect.signature(module_level) == inspect.signature(plain)
    assert inspect.signature(fuse_jit(mixed)) == inspect.signature(mixed)
    assert inspect.signature(fuse_jit(mixed), follow_wrapped=False).parameters.keys() == (
        inspect.signature(mixed).parameters.keys()
    )
    assert inspect.isfunction(module_level)
    assert inspect.getsource(module_level).startswith("@fuse_jit\ndef module_level")


def test_pickle_and_copy() -> None:
    again = pickle.loads(pickle.dumps(module_level))
    assert again is module_level
    assert copy.copy(module_level) is module_level
    assert copy.deepcopy(module_level) is module_level


def test_decorated_twice() -> None:
    once = fuse_jit(lambda x: x * 2)
    twice = fuse_jit(once)
    assert_same(X * 2, twice(X))


def test_other_decorators_around_and_inside() -> None:
    import functools

    def logged(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def inner(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs) + 1

        return inner

    def double(x: Any) -> Any:
        return x * 2

    assert_same(X * 2 + 1, logged(fuse_jit(double))(X))
    assert_same(X * 2 + 1, fuse_jit(logged(double))(X))
    assert_same(X * 2 + 3, fuse_jit(functools.wraps(double)(lambda x: x * 2 + 3))(X))


def test_a_call_from_another_decorated_function_is_traced_into_it() -> None:
    def outer(x: Any) -> Any:
        y = module_level(x, 2.0)
        return module_level(y) * y

    fused = fuse_jit(fullgraph=True)(outer)
    before = len(module_level.variants)
    assert_same((X + 2.0 + 1.5) * (X + 2.0), fused(X))
    assert len(module_level.variants) == before
    assert len(fused.variants) == 1


def test_recursion() -> None:
    for n in (1, 4, 6):
        expected = X * float(np.prod(range(2, n + 1)))
        assert_same(expected, factorial(X, n))
    with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
        endless(X)
    with pytest.raises(UnsupportedError, match=r"test_functions.*endless.*itself"):
        endless.trace(X)
    plain = factorial.__wrapped__
    assert_same(plain(X * 0, 500), factorial(X * 0, 500))
    with pytest.raises(UnsupportedError, match="factorial"):
        factorial.trace(X, 500)
    assert_same(X, factorial(X, 1))


def test_callbacks_as_arguments() -> None:
    def apply(function: Any, x: Any) -> Any:
        return function(x) * 2

    fused = fuse_jit(apply)
    for function in (np.sqrt, np.abs, lambda x: x + 1, lambda x: x + 2, module_level):
        assert_same(apply(function, Y * Y), fused(function, Y * Y))


class Callable_:
    def __call__(self, x: Any) -> Any:
        return x


def generator(x: Any) -> Any:
    yield x


async def coroutine(x: Any) -> Any:
    return x


async def async_generator(x: Any) -> Any:
    yield x


OTHERS = [
    (Callable_, "a class"),
    (Callable_(), "Callable_"),
    (generator, "a generator"),
    (coroutine, "a coroutine"),
    (async_generator, "an asynchronous generator"),
    (np.exp, "ufunc"),
    (len, "builtin"),
    (functools.lru_cache(len), "lru_cache"),
]


@pytest.mark.parametrize(("obj", "kind"), OTHERS)
def test_what_is_no_plain_function_stays_as_it_is(obj: Any, kind: str) -> None:
    with pytest.warns(FuseWarning, match=f"cannot compile.*it is .*{kind}.*stays as it is") as seen:
        assert fuse_jit(obj) is obj
    assert [w.filename for w in seen] == [__file__]
    assert fuse_jit(warn=False)(obj) is obj
    with pytest.raises(TypeError, match=kind):
        fuse_jit(fullgraph=True)(obj)


def test_what_cannot_be_called_is_refused_at_decoration() -> None:
    with pytest.raises(TypeError, match="int"):
        fuse_jit(3)  # type: ignore[call-overload]


class Grid:
    step = 0.5

    @fuse_jit
    @staticmethod
    def scaled(x: Any, by: Any = 2.0) -> Any:
        return x * by + 1

    @fuse_jit
    @classmethod
    def shifted(cls, x: Any) -> Any:
        return x * 3 + cls.step

    @fuse_jit
    @property
    def points(self) -> Any:
        """The points."""
        return np.arange(4) * self.step

    @points.setter
    def points(self, values: Any) -> None:
        self.step = values[1] - values[0]

    @fuse_jit
    @functools.cached_property
    def squares(self) -> Any:
        return self.points**2

    @fuse_jit
    def method(self, x: Any) -> Any:
        return x * self.step


def test_methods_of_classes() -> None:
    grid = Grid()
    for _ in range(2):
        assert_same(X * 2.0 + 1, Grid.scaled(X))
        assert_same(X * 3.0 + 1, grid.scaled(X, by=3.0))
        assert_same(X * 3 + 0.5, Grid.shifted(X))
        assert_same(np.arange(4) * grid.step, grid.points)
        assert_same((np.arange(4) * 0.5) ** 2, grid.squares)
        grid.points = np.array([1.0, 3.0])
    assert Grid.points.__doc__ == "The points."  # type: ignore[attr-defined]
    assert len(Grid.scaled.variants) == 1
    for fused in (Grid.shifted.__func__, Grid.points.fget):  # type: ignore[attr-defined]
        assert len(fused.variants) >= 1


def test_partial_calls_and_bound_methods() -> None:
    def scaled(x: Any, by: Any, plus: Any = 0.0) -> Any:
        return x * by + plus

    for made, arguments in (
        (functools.partial(scaled, plus=3.0), (X, 2.0)),
        (functools.partial(scaled, X), (2.0,)),
        (Grid().method, (X,)),
    ):
        fused = fuse_jit(made)
        assert type(fused) is type(made)
        assert_same(made(*arguments), fused(*arguments))
    inner = fuse_jit(functools.partial(scaled, plus=3.0))
    inner(X, 2.0)
    assert len(inner.func.variants) == 1  # type: ignore[attr-defined]
