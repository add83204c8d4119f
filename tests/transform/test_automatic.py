"""The automatic passes' choice as a recipe, and the search over recipes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusejit
from fusejit.ir.ops import GenericOp, walk
from fusejit.transform import Schedule, schedule

Function = Callable[..., Any]


def bias_relu(a: Any, b: Any) -> Any:
    return np.maximum(a @ b + 1.5, 0.0)


def softmax(a: Any, b: Any) -> Any:
    e = np.exp(a - a.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def stencil(a: Any, b: Any) -> Any:
    return np.sqrt(np.abs(a[1:-1] * 2 - a[:-2] - a[2:])) + a[1:-1, :1]


def transposed(a: Any, b: Any) -> Any:
    return (a.T * 2 + b[:, :1]) * a.T.sum(axis=0)


def integers(a: Any, b: Any) -> Any:
    n = (a * 10).astype(np.int64)
    return n.sum(axis=0) + n.max(axis=0) * 2


def positions(a: Any, b: Any) -> Any:
    return np.where(np.arange(a.shape[1]) > np.arange(a.shape[0])[:, None], a, -a) + 1


def two_products(a: Any, b: Any) -> Any:
    return np.tanh(a @ b) @ (b.T @ b)


def normalized(a: Any, b: Any) -> Any:
    d = a - a.mean(axis=1, keepdims=True)
    return d / np.sqrt((d * d).mean(axis=1, keepdims=True) + 1e-5), a.max(axis=1)


def stored(a: Any, b: Any) -> Any:
    a[1:] = np.exp(a[:-1]) * 2
    a[0] += a[1:].sum(axis=0)
    return a * a


def alone(a: Any, b: Any) -> Any:
    return np.exp(a)


FUNCTIONS = (
    *(bias_relu, softmax, stencil, transposed, integers, positions, two_products, normalized),
    *(stored, alone),
)


def arguments() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((23, 14)), rng.standard_normal((14, 17))


def recipe_in(text: str) -> Callable[[Schedule], Schedule]:
    names: dict[str, Any] = {}
    exec(text, names)
    return next(value for name, value in names.items() if name.endswith("_recipe"))


# -------------------------------------------------------------------------------------- automatic
@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_automatic_choice_is_a_recipe(function: Function) -> None:
    s = schedule(function, *arguments())
    text = s.automatic()
    after = recipe_in(text)(schedule(function, *arguments()))
    after.verify()
    num_left = text.count("# left to the passes")
    if num_left == 0:  # the recipe has done all folds
        folded, whole = (x.lower().before.report.folded for x in (after, s))
        assert not [f for f in folded if f.how == "fold"], text
        assert len([f for f in whole if f.how == "fold"]) == text.count("rematerialize(")


def test_the_automatic_choice_for_softmax() -> None:
    text = schedule(softmax, *arguments()).automatic()
    assert (
        text
        == """def softmax_recipe(s, rows=64):
    s = s.canonicalize()
    s = s["exp"].rematerialize("subtract").schedule
    s = s["divide"].tile(i=rows).fuse("sum", "exp", "max").threads("i.0").schedule
    return s"""
    )
    large = schedule(softmax, np.ones((300, 9000)), np.ones(3)).automatic()
    assert "rows=2)" in large  # rows of 72 kB in 256 KiB


def test_the_automatic_choice_after_steps() -> None:
    s = schedule(bias_relu, *arguments())["maximum"].tile(i=8).fuse("add").schedule
    text = s.automatic()
    assert 's["maximum"].rematerialize("add")' in text
    recipe_in(text)(s).verify()
    names = [op.name for op in walk(recipe_in(text)(s).graph.block) if isinstance(op, GenericOp)]
    assert "maximum+1" in names


def test_canonicalize() -> None:
    s = schedule(alone, *arguments())
    with pytest.raises(fusejit.FusejitError, match=r"canonicalize\(\) of alone: nothing w"):
        s.canonicalize()
