"""The automatic passes' choice as a recipe, and the search over recipes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import fusejit
from fusejit import fuse_jit
from fusejit.dataclass import replace
from fusejit.ir.ops import GenericOp, walk
from fusejit.transform import Schedule, ScheduleError, load_recipe, schedule, tune
from fusejit.transform.saved import machine

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
    recipe: Callable[[Schedule], Schedule] = next(
        value for name, value in names.items() if name.endswith("_recipe")
    )
    return recipe


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


def smoothed(a: Any) -> Any:
    return (a[:-2] + a[1:-1] + a[2:]) / 3


def test_the_automatic_choice_for_stencils_computes_each_once_in_a_tile() -> None:
    """A tile reads three slices of each producer: they are parts of one that is computed."""
    s = schedule(lambda a: smoothed(smoothed(smoothed(a))), np.arange(200.0) ** 0.5)
    after = recipe_in(s.automatic())(s)
    after.verify()
    ops = [op for op in walk(after.graph.block) if isinstance(op, GenericOp) and op.domain]
    assert [str(op.domain[0]) for op in ops] == ["i_1 + 4", "i_1 + 2", "i_1"]


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


# ------------------------------------------------------------------------------------------- tune
def by_rows(s: Schedule, rows: int = 8, is_shared: bool = True) -> Any:
    h = s["divide"].tile(i=rows).fuse("sum", "exp", "subtract", "max")
    return h.threads("i.0") if is_shared else h


def test_tune(tmp_path: Path) -> None:
    args = arguments()
    result = tune(
        by_rows, args, function=softmax, rounds=1, rows=[0, 4, 16], is_shared=[True, False]
    )
    assert result.candidates[0].parameters == result.best
    assert {c.parameters["rows"] for c in result.candidates} == {4, 16}
    times = [c.seconds for c in result.candidates]
    assert times == sorted(times)
    head, titles, *rows, reason = str(result).splitlines()
    assert head.startswith("softmax(float64[23, 14], float64[14, 17]): 4 combinations of by_rows")
    assert head.endswith("timed, 2 not legal")
    assert titles.split()[:3] == ["rows", "is_shared", "time"]
    assert len(rows) == 5
    assert reason == "not legal, 2: tile(i=0) of divide: the size of i is 0: it is at least 1"

    path = tmp_path / "softmax.json"
    result.save(path)
    saved = json.loads(path.read_text())
    assert saved["recipe"] == f"{__name__}:by_rows"
    assert saved["function"] == f"{__name__}:softmax"
    assert saved["arguments"] == ["float64[23, 14]", "float64[14, 17]"]
    assert saved["parameters"] == result.best
    for recipe in (load_recipe(path, by_rows), result):
        fused: Any = fuse_jit(schedule=recipe, fullgraph=True)(softmax)
        np.testing.assert_allclose(fused(*args), softmax(*args))
        assert "loop over" in fused.explain(*args, detail=True)


def test_a_saved_recipe_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "softmax.json"
    monkeypatch.setitem(sys.modules, "recipes", ModuleType("recipes"))
    monkeypatch.setattr(sys.modules["recipes"], "by_rows", by_rows, raising=False)
    written = {"recipe": "recipes:by_rows", "parameters": {"rows": 4}, "machine": machine()}
    path.write_text(json.dumps(written))
    args = arguments()
    for given in (path, str(path)):
        fused: Any = fuse_jit(schedule=given, fullgraph=True)(softmax)
        np.testing.assert_allclose(fused(*args), softmax(*args))
    with pytest.raises(FileNotFoundError):
        fuse_jit(schedule=tmp_path / "none.json")
    path.write_text(json.dumps({**written, "recipe": "recipes:by_columns"}))
    with pytest.raises(ScheduleError, match="names the recipe recipes:by_columns, which cannot be"):
        load_recipe(path)
    with pytest.warns(fusejit.FuseWarning, match="softmax runs without its schedule: .*json names"):
        fuse_jit(schedule=path)(softmax)(*args)
    path.write_text(json.dumps({**written, "parameters": {"columns": 4}}))
    with pytest.raises(ScheduleError, match=r"has the parameters columns: .*of recipes:by_rows"):
        load_recipe(path)
    path.write_text(json.dumps({**written, "machine": {"cpu": "abacus", "cores": 1}}))
    with pytest.warns(fusejit.FuseWarning, match="was tuned on abacus with 1 cores, and this is"):
        load_recipe(path)
    path.write_text("{}")
    with pytest.raises(ScheduleError, match="is no file of a recipe: KeyError"):
        load_recipe(path)


def test_what_cannot_be_tuned() -> None:
    args = arguments()
    with pytest.raises(ValueError, match="no parameter is given"):
        tune(by_rows, args, function=softmax)
    with pytest.raises(ValueError, match="rows has no values"):
        tune(by_rows, args, function=softmax, rows=[])
    with pytest.raises(ScheduleError, match=r"none of 2 combinations is legal: tile\(i="):
        tune(by_rows, args, function=softmax, rows=[0, -1])

    def wrong(s: Schedule, by: int) -> Schedule:
        return replace(s, graph=schedule(bias_relu, *args).graph)

    with pytest.raises(ScheduleError, match=r"an internal error\): result 0 is float64 of shape"):
        tune(wrong, args, function=softmax, by=[1])


def test_tune_leaves_the_arguments_alone() -> None:
    def recipe(s: Schedule, rows: int) -> Any:
        return s["multiply#2"].tile(i=rows)

    args = arguments()
    before = args[0].copy()
    assert len(tune(recipe, args, function=stored, rounds=1, rows=[2, 4]).candidates) == 2
    schedule(stored, *args).time()
    np.testing.assert_array_equal(args[0], before)
