"""What a function reads from outside may change between calls: always NumPy's answer."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.compare import assert_same

pytestmark = pytest.mark.usefixtures("unjitted")

SCALE: Any = 2.0
TABLE: dict[str, Any] = {"weights": np.array([1.0, 2.0, 3.0]), "power": 2}
SETTINGS = SimpleNamespace(offset=1.0, inner=SimpleNamespace(names=["a", "b"]))
X = np.array([1.0, -2.0, 3.0])


def helper(x: Any) -> Any:
    return x + 1


def use_global(x: Any) -> Any:
    return x * SCALE


def use_table(x: Any) -> Any:
    return x * TABLE["weights"] + TABLE["power"]


def use_settings(x: Any) -> Any:
    return x + SETTINGS.offset + len(SETTINGS.inner.names)


def use_helper(x: Any) -> Any:
    return helper(x) * 2


def checked(function: Callable[..., Any], fused: Callable[..., Any], *args: Any) -> None:
    for _ in range(2):
        assert_same(function(*args), fused(*args))


def test_globals(monkeypatch: pytest.MonkeyPatch) -> None:
    fused = fuse_jit(fullgraph=True)(use_global)
    values = [2.0, 3.0, 3, True, np.float32(0.5), np.arange(3.0), np.int64(7), 2.0, -0.0]
    for value in values:
        monkeypatch.setitem(globals(), "SCALE", value)
        checked(use_global, fused, X)
    assert len(fused.variants) <= 7  # 2.0, 3.0 and -0.0 share one
    monkeypatch.delitem(globals(), "SCALE")
    with pytest.raises(NameError, match="SCALE"):
        fused(X)
    monkeypatch.setitem(globals(), "SCALE", 9.0)
    checked(use_global, fused, X)


def test_a_global_array_that_changes_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = np.array([1.0, 2.0, 3.0])
    monkeypatch.setitem(globals(), "SCALE", weights)
    fused = fuse_jit(fullgraph=True)(use_global)
    checked(use_global, fused, X)
    weights[:] = 5
    checked(use_global, fused, X)
    assert len(fused.variants) == 1


def test_a_global_hides_a_builtin(monkeypatch: pytest.MonkeyPatch) -> None:
    def largest(x: Any) -> Any:
        return x + max(1, 2)

    fused = fuse_jit(largest)
    checked(largest, fused, X)
    monkeypatch.setitem(globals(), "max", min)
    checked(largest, fused, X)
    monkeypatch.delitem(globals(), "max")
    checked(largest, fused, X)


def test_dict_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    fused = fuse_jit(fullgraph=True)(use_table)
    checked(use_table, fused, X)
    monkeypatch.setitem(TABLE, "power", 5)
    checked(use_table, fused, X)
    monkeypatch.setitem(TABLE, "weights", np.array([1, 2, 3]))
    checked(use_table, fused, X)
    monkeypatch.setitem(TABLE, "unused", object())
    checked(use_table, fused, X)
    monkeypatch.delitem(TABLE, "power")
    with pytest.raises(KeyError, match="power"):
        fused(X)
    monkeypatch.setitem(globals(), "TABLE", {"weights": 1.0, "power": 1.0})
    checked(use_table, fused, X)


def test_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    fused = fuse_jit(use_settings)
    checked(use_settings, fused, X)
    monkeypatch.setattr(SETTINGS, "offset", 4)
    checked(use_settings, fused, X)
    monkeypatch.setattr(SETTINGS, "inner", SimpleNamespace(names=["a", "b", "c"]))
    checked(use_settings, fused, X)
    SETTINGS.inner.names.append("d")
    checked(use_settings, fused, X)
    monkeypatch.delattr(SETTINGS, "offset")
    with pytest.raises(AttributeError, match="offset"):
        fused(X)


def test_closures() -> None:
    def make() -> tuple[Any, Any, Callable[[Any], None]]:
        factor: Any = 2.0

        def scale(x: Any) -> Any:
            return x * factor

        def change(value: Any) -> None:
            nonlocal factor
            factor = value

        return scale, fuse_jit(scale), change

    (scale, fused, change), (other_scale, other_fused, _) = make(), make()
    checked(scale, fused, X)
    for value in (3.0, 4, np.array([1.0, 0.0, 2.0]), np.float32(3), 5.0):
        change(value)
        checked(scale, fused, X)
        checked(other_scale, other_fused, X)


def test_helpers_that_are_redefined(monkeypatch: pytest.MonkeyPatch) -> None:
    fused = fuse_jit(use_helper)
    checked(use_helper, fused, X)

    def other(x: Any) -> Any:
        return x - 1

    monkeypatch.setitem(globals(), "helper", other)
    checked(use_helper, fused, X)
    monkeypatch.setitem(globals(), "helper", np.exp)
    assert_same(use_helper(np.zeros(2)), fused(np.zeros(2)))
    monkeypatch.setitem(globals(), "helper", lambda x: x * 10)
    checked(use_helper, fused, X)


def test_helpers_with_changing_defaults_and_closures(monkeypatch: pytest.MonkeyPatch) -> None:
    def adder(amount: Any) -> Any:
        def add(x: Any, twice: int = 2) -> Any:
            return x * twice + amount

        return add

    fused = fuse_jit(use_helper)
    for amount in (1.0, 2.0, 3):  # the same code each time, another closure
        monkeypatch.setitem(globals(), "helper", adder(amount))
        checked(use_helper, fused, X)
    changed = adder(1.0)
    changed.__defaults__ = (5,)
    monkeypatch.setitem(globals(), "helper", changed)
    checked(use_helper, fused, X)


class Model:
    def __init__(self, weights: Any, bias: Any) -> None:
        self.weights = weights
        self.bias = bias

    @fuse_jit
    def predict(self, x: Any, scale: Any = 1.0) -> Any:
        return x @ self.weights * scale + self.bias

    @property
    def doubled(self) -> Any:
        return self.bias * 2

    @fuse_jit
    def with_property(self, x: Any) -> Any:
        return x + self.doubled

    def step(self, x: Any) -> Any:
        return x + self.bias

    @fuse_jit
    def with_method(self, x: Any) -> Any:
        return self.step(x) * 2

    @staticmethod
    @fuse_jit
    def double(x: Any) -> Any:
        return x * 2

    @classmethod
    @fuse_jit
    def named(cls, x: Any) -> Any:
        return x + len(cls.__name__)


def test_methods() -> None:
    one, other = Model(np.arange(3.0), 1.0), Model(np.ones(3), 2.0)
    x = np.arange(6.0).reshape(2, 3)
    plain = Model.predict.__wrapped__
    for model in (one, other, one):
        assert_same(plain(model, x), model.predict(x))
        assert_same(plain(model, x, 2.0), model.predict(x, scale=2.0))
        assert_same(Model.with_property.__wrapped__(model, x), model.with_property(x))
        assert_same(Model.with_method.__wrapped__(model, x), model.with_method(x))
    one.bias = np.array([1.0, 2.0])
    one.weights = np.ones(3, np.float32)
    assert_same(plain(one, x), one.predict(x))
    one.step = lambda x: x * 100  # type: ignore[method-assign]
    assert_same(Model.with_method.__wrapped__(one, x), one.with_method(x))
    assert_same(Model.double.__wrapped__(x), one.double(x))
    assert_same(x + 5, one.named(x))


def load(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_a_reloaded_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    path = tmp_path / "outside.py"
    text = "from fusejit import fuse_jit\nK = 2\n\ndef inner(x):\n    return x * K\n\n"
    text += "@fuse_jit\ndef f(x):\n    return inner(x) + 1\n"
    path.write_text(text)
    module = load(path, "outside_module")
    monkeypatch.delitem(sys.modules, "outside_module")
    first = module.f
    np.testing.assert_array_equal(first(X), X * 2 + 1)
    path.write_text(text.replace("x * K", "x - K").replace("+ 1", "+ 10"))
    assert module.__spec__ is not None
    assert module.__spec__.loader is not None
    module.__spec__.loader.exec_module(module)  # what importlib.reload does
    np.testing.assert_array_equal(module.f(X), X - 2 + 10)
    np.testing.assert_array_equal(first(X), X - 2 + 1)  # its inner() is looked up again
    module.K = 5
    np.testing.assert_array_equal(module.f(X), X - 5 + 10)
