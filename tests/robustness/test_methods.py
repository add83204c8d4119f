"""Decorated methods: ``explain`` and ``check`` know the object, type checkers know the type.

Regression: ``a.m.explain(x)`` was "missing a required argument", and ``a.m.check(x)`` reported
"same error", because the ``explain`` of a bound method is found on its function. mypy rejected
each call of a decorated method, because the protocol had no ``__get__``.
"""

from __future__ import annotations

import functools
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.compare import assert_same

pytestmark = pytest.mark.usefixtures("unjitted")

X = np.arange(4.0)


class Model:
    scale = 2.0

    def __init__(self, weights: Any) -> None:
        self.weights = weights
        self.calls = 0
        self.parent: Any = self

    @fuse_jit
    def m(self, x: Any, n: int = 1) -> Any:
        return x * self.weights * n

    @fuse_jit
    def update(self, x: Any) -> None:
        self.weights += x

    @fuse_jit
    def broken(self, x: Any) -> Any:
        return x + self.weights[:2]

    @fuse_jit
    @classmethod
    def of_class(cls, x: Any) -> Any:
        return x * cls.scale

    @staticmethod
    @fuse_jit
    def static(x: Any) -> Any:
        return x * 2

    def explained_inside(self, x: Any) -> Any:
        return self.m.explain(x)


def model() -> Any:
    return Model(np.ones(4))


def test_bound_methods_pass_their_object() -> None:
    a = model()
    expected = Model.m.explain(a, X)
    assert_same(expected, a.m.explain(X))
    assert_same(expected, a.m.explain(X, n=1))
    assert_same(expected, a.explained_inside(X))
    models = {"first": [a]}
    assert_same(expected, models["first"][0].m.explain(X))
    method = a.m
    texts = [method.explain(X), a.parent.m.explain(
        X,
    )]  # fmt: skip
    assert_same([expected, expected], texts)
    assert_same(str(Model.m.trace(a, X)), str(a.m.trace(X)))
    assert_same(Model.m.mlir(a, X), a.m.mlir(X))
    assert "of_class" in Model.of_class.explain(X)
    assert "of_class" in a.of_class.explain(X)
    assert "static" in a.static.explain(X)
    assert "static" in Model.static.explain(X)


def test_two_objects_on_one_line() -> None:
    a, b = Model(np.ones(4)), Model(np.ones(4, np.float32))
    texts = [a.m.trace(X), b.m.trace(X)]
    assert ["x f32" in str(text) for text in texts] == [False, True]


def test_bound_methods_made_by_the_decorator() -> None:
    def double(self: Any, x: Any) -> Any:
        return x * self.weights * 2

    bound = fuse_jit(functools.partial(double).func.__get__(model()))
    assert "double" in bound.explain(X)
    assert "result: same bits" in bound.check(X)


def test_missing_arguments_are_an_error() -> None:
    a = model()
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        a.m.check()
    with pytest.raises(TypeError, match="too many"):
        a.m.check(X, 1, 2)
    with pytest.raises(TypeError, match="the object of the method is unknown") as error:
        model().m.explain(X)
    assert error.value.__notes__ == [
        "give the object a name, as in a = Model(...); a.m.explain(...), or pass it as in "
        "Model.m.explain(object, ...)"
    ]
    with pytest.raises(TypeError, match="missing") as error:
        fuse_jit(lambda x: x).check()
    assert not hasattr(error.value, "__notes__")


class Derived(Model):
    @fuse_jit
    def m(self, x: Any, n: int = 1) -> Any:
        return super().m(x, n) + 1

    @property
    def method(self) -> Any:
        return self.m

    def of_base(self, x: Any) -> Any:
        return super().m.trace(x), super().m.trace(x)


def test_objects_that_are_read_in_other_ways() -> None:
    """`super().m.check(x)` and `getattr(a, "m").check(x)` were "missing a required argument"."""
    a: Any = Derived(np.ones(4))
    expected = [str(Model.m.trace(a, X))] * 2
    assert_same(expected, [str(text) for text in a.of_base(X)])
    own = str(Derived.m.trace(a, X))
    partial = functools.partial(a.m, X)
    read = [
        a.m.trace(X),
        a.method.trace(X),
        (made := Derived(np.ones(4))).m.trace(X),
        partial.func.trace(X),
        type(a).m.trace(made, X),
    ]
    assert_same([own] * len(read), [str(text) for text in read])
    assert "of_class" in type(a).of_class.explain(X)
    assert "result: same bits" in a.m.check(X)


def test_methods_in_code_without_source() -> None:
    """`a.m.explain(x)` at Python's prompt or in `python -c` was "missing a required argument"."""
    a = model()
    names: dict[str, Any] = {"a": a, "x": X, "Model": Model, "made": lambda: a}
    exec("text = a.m.check(x); other = a.parent.parent.m.check(\n  x, n=2)", names)
    assert "result: same bits" in names["text"]
    assert "result: same bits" in names["other"]
    exec("def inner(b):\n  return b.m.check(x), [c.m.check(x) for c in [b]]", names)
    assert_same([names["text"]] * 2, [names["inner"](a)[0], *names["inner"](a)[1]])
    exec("text = Model.m.check(made(), x)", names)
    assert "result: same bits" in names["text"]
    for wrong in ("made().m.check(x)", "[a][0].m.check(x)"):
        with pytest.raises(TypeError, match="missing a required argument: 'x'"):
            exec(wrong, names)


def test_arguments_are_not_taken_for_the_object() -> None:
    """`A().m.check(x, 1)` called the method on the array, as the parameters allow it."""
    calls: list[Any] = []

    def made() -> Any:
        calls.append(1)
        return model()

    for wrong in (
        lambda: made().m.check(X, 1),
        lambda: made().m.explain(X, 1),
        lambda: made().of_class.check(X),
        lambda: [made()][0].m.check(X, 1),
    ):
        with pytest.raises(TypeError, match="the object of the method is unknown"):
            wrong()
    assert len(calls) == 4  # what made the object runs once
    assert "result: same bits" in type(made()).m.check(made(), X)
    assert "result: same bits" in made().static.check(X)


def test_check_compares_objects_by_their_attributes() -> None:
    a = model()
    text = a.m.check(X)
    assert_same(text, Model.m.check(a, X))
    assert text.splitlines() == [
        "result: same bits",
        "argument self.weights: same bits",
        "argument x: same bits",
    ]
    assert "argument self.weights: same bits" in a.update.check(X)
    assert_same(a.weights, np.ones(4))
    text = a.broken.check(X)
    assert text.startswith("result: both raise ValueError('operands could not be broadcast")


@dataclass
class Slotted:
    __slots__ = ("x", "y")
    x: Any
    y: Any


@dataclass
class State:
    x: Any
    rng: Any = field(default_factory=lambda: np.random.default_rng(3))
    names: Any = field(default_factory=lambda: {"a", "b"})
    inner: Any = field(default_factory=lambda: Slotted(np.ones(2), object))


def test_check_finds_what_differs_in_objects() -> None:
    """With a function that is not the same each time."""
    times = iter(range(100))

    def changing(state: Any) -> Any:
        n = next(times)
        state.inner.x[0] += n
        state.rng.random(n)
        return state

    lines = fuse_jit(changing).check(State(np.zeros(2))).splitlines()
    assert lines[0] == "result.x: same bits"
    assert lines[1].startswith("result.rng: Generator")
    assert lines[2].startswith("result.inner.x: 1 of 2 elements differ, at most by 1")
    text = fuse_jit(lambda state: state.x + 1).check(State(np.zeros(2)))
    assert "differ" not in text
    assert "!=" not in text


TYPED = textwrap.dedent(
    """
    from collections.abc import Callable
    from typing import Any, TypeAlias, assert_type

    import numpy as np

    from fusejit import fuse_jit

    Array: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]


    @fuse_jit
    def plain(x: Array, n: int = 1) -> Array:
        return x * n


    class A:
        k = 2.0

        @fuse_jit
        def m(self, x: Array, n: int = 1) -> Array:
            return x * self.k * n

        @fuse_jit(warn=False)
        def with_options(self, x: Array) -> Array:
            return x * self.k

        @classmethod
        @fuse_jit
        def c(cls, x: Array) -> Array:
            return x * cls.k

        @fuse_jit
        @classmethod
        def c2(cls, x: Array) -> Array:
            return x * cls.k

        @staticmethod
        @fuse_jit
        def s(x: Array) -> Array:
            return x * 2

        @fuse_jit
        @staticmethod
        def s2(x: Array) -> Array:
            return x * 2

        @property
        @fuse_jit
        def p(self) -> float:
            return self.k

        def user(self, x: Array) -> Array:
            return self.m(self.c(self.s(x)))


    class B(A):
        @fuse_jit
        def m(self, x: Array, n: int = 1) -> Array:
            return super().m(x, n)


    def apply(f: Callable[[Array], Array], x: Array) -> Array:
        return f(x)


    a = A()
    x: Array = np.ones(3)
    assert_type(plain(x), Array)
    assert_type(a.m(x), Array)
    assert_type(a.m(x, n=2), Array)
    assert_type(A.m(a, x), Array)
    assert_type(a.with_options(x), Array)
    assert_type(a.c(x), Array)
    assert_type(A.c(x), Array)
    assert_type(A.c2(x), Array)
    assert_type(a.s(x), Array)
    assert_type(A.s(x=x), Array)
    assert_type(A.s2(x), Array)
    assert_type(a.p, float)
    apply(plain, x)
    apply(a.m, x)
    apply(A.c, x)
    apply(a.s, x)
    apply(fuse_jit(a.user), x)
    a.m.explain(x)
    A.m.explain(a, x)
    A.m.check(a, x)
    a.m.trace(x)
    a.m.variants[0]
    a.m("no")  # wrong
    a.m(x, 1, 2)  # wrong
    A.m(a, "no")  # wrong
    A.c("no")  # wrong
    A.s("no")  # wrong
    plain("no")  # wrong
    """
)


def test_types_of_methods(tmp_path: Path) -> None:
    file = tmp_path / "typed.py"
    file.write_text(TYPED, "utf-8")
    command = ("mypy", "--strict", "--follow-imports=silent", "--cache-dir", tmp_path / "cache")
    done = subprocess.run(
        [sys.executable, "-m", *command, "--no-error-summary", "--hide-error-context", file],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert not done.stderr
    errors = [int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line]
    lines = TYPED.splitlines()
    assert errors == [at for at, line in enumerate(lines, 1) if "# wrong" in line], done.stdout
