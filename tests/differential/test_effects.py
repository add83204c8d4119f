"""Printing and attribute writes: they happen with the call's values, in order, once per call."""

from __future__ import annotations

import copy
import io
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.api import FuseWarning
from fusejit.errors import UnsupportedError
from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import decorate
from fusejit_testing.programs.segments_check import check_segments


def values(x: Any, n: int) -> Any:
    print("start", n, x.sum(), x[0], sep=" | ", end="!\n")
    y = x * 2
    print(y, [y.max(), 1.5, "text {}"], None, True)
    print(f"{n:>4} {y.mean():.3e} {x[1]!r} {{}} {'static'} {y[:2]}")
    print()
    return y + 1


def in_a_loop(x: Any, n: int, limit: float) -> Any:
    for i in range(n):
        x = x * 0.5
        largest = np.abs(x).max()
        print(f"step {i}: {largest:.3f}")
        if largest < limit:
            print("done after", i)
            break
    return x


def between_stores(x: Any) -> None:
    print(x[0])
    x[0] = 5.0
    print(x[0], x)
    x *= 2
    print(x[0])


def after_draws(rng: Any, n: int) -> Any:
    total = 0.0
    for _ in range(n):
        u = rng.random()
        print(f"{u:.4f}")
        total += u
    return total


PRINTING: dict[str, tuple[Any, list[tuple[Any, ...]]]] = {
    "values": (values, [(np.arange(5.0), 3), (np.arange(9.0) / 7, 8)]),
    "in_a_loop": (in_a_loop, [(np.arange(5.0), 9, 0.3), (np.arange(9.0), 30, 0.001)]),
    "between_stores": (between_stores, [(np.arange(5.0),), (np.arange(1.0, 7.0),)]),
    "after_draws": (
        after_draws,
        [(np.random.default_rng(1), 6), (np.random.default_rng(2), 9)],
    ),
}


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("name", PRINTING)
def test_prints_what_numpy_prints(name: str, jit: bool, capsys: pytest.CaptureFixture[str]) -> None:
    function, calls = PRINTING[name]
    fused = decorate(function, jit=jit)
    for args in calls:
        results = []
        for called in (function, fused):
            given = copy.deepcopy(args)
            result = called(*given)
            results.append((result, [a for a in given if isinstance(a, np.ndarray)]))
            results.append(capsys.readouterr().out)
        assert_same(results[0], results[2])
        assert results[3] == results[1]
        assert results[1]
    assert len(fused.variants) == 1
    assert not fused.variants.fallbacks


def test_tracing_and_explaining_print_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    graph = str(fuse_jit(values).trace(np.arange(5.0), 3))
    text = fuse_jit(values).explain(np.arange(5.0), 3, detail=True)
    assert capsys.readouterr().out == ""
    assert graph.count('host_call "builtins.print"') == 4
    assert text.count("host call builtins.print: an effect") == 4


class Model:
    def __init__(self) -> None:
        self.count = 0
        self.last = 1.0
        self.note = ""

    def step(self, x: Any) -> Any:
        self.count += 1
        self.last = x.sum()
        self.note = "seen"
        self.fresh = x[0]
        return x * self.last + self.count + self.fresh


@pytest.mark.parametrize("jit", [False, True])
def test_attributes_are_written_and_seen(jit: bool) -> None:
    step = decorate(Model.step, jit=jit)
    ours, theirs = Model(), Model()
    for n in (3, 5, 8):
        assert_same(theirs.step(np.arange(1.0, n)), step(ours, np.arange(1.0, n)))
        assert_same(vars(theirs), vars(ours))
    assert not step.variants.fallbacks


def test_a_write_inside_a_loop() -> None:
    def counts(model: Any, x: Any) -> Any:
        for i in range(len(x)):
            if x[i] > 0.5:
                model.count = i
        return x

    with pytest.raises(UnsupportedError, match="the assignment of an attribute is an effect"):
        fuse_jit(fullgraph=True)(counts)(Model(), np.arange(9.0))
    ours, theirs, fused = Model(), Model(), decorate(counts, jit=False)
    for n in (9.0, 1.0, 3.0):
        assert_same(counts(theirs, np.arange(n)), fused(ours, np.arange(n)))
        assert_same(vars(theirs), vars(ours))
    assert fused.variants
    assert not fused.variants.fallbacks


def test_an_object_under_two_names_is_refused() -> None:
    def both(model: Any, other: Any, x: Any) -> Any:
        model.last = x.sum()
        return other.last + x

    model = Model()
    with pytest.raises(UnsupportedError, match="writes attribute 'last'"):
        fuse_jit(fullgraph=True)(both)(model, model, np.arange(9.0))
    with pytest.raises(UnsupportedError, match="writes attribute 'last'"):
        # in another call they may be one
        fuse_jit(fullgraph=True)(both)(model, Model(), np.arange(9.0))
    for other in (model, Model()):
        check_segments(both, (model, other, np.arange(9.0)))


def test_an_object_reached_again_is_left_to_python() -> None:
    def again(model: Any, x: Any) -> Any:
        model.last = x.sum()
        return model.me.last + x

    reason = "may be an object that was written to"
    ours, theirs = Model(), Model()
    for model in (ours, theirs):
        vars(model)["me"] = model
    with pytest.raises(UnsupportedError, match=reason):
        fuse_jit(fullgraph=True)(again)(ours, np.arange(9.0))
    assert ours.last == 1.0
    fused = fuse_jit(again)
    with pytest.warns(FuseWarning, match=reason):
        assert_same(again(theirs, np.arange(9.0)), fused(ours, np.arange(9.0)))
    for n in (9, 5):
        assert_same(again(theirs, np.arange(n / 2)), fused(ours, np.arange(n / 2)))
        assert_same(theirs.last, ours.last)
    assert vars(ours)["me"] is ours
    assert fused.variants.segmented is not None


def test_code_behind_an_attribute_is_refused() -> None:
    class Checked(Model):
        def __setattr__(self, name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

    def sets(model: Any, x: Any) -> Any:
        model.last = x.sum()
        return x

    with pytest.raises(UnsupportedError, match="writes attribute 'last'"):
        fuse_jit(fullgraph=True)(sets)(Checked(), np.arange(9.0))
    check_segments(sets, (Checked(), np.arange(9.0)))


def test_printing_to_a_file_is_refused() -> None:
    def to_file(x: Any, file: Any) -> Any:
        print(x, file=file)
        return x

    with pytest.raises(UnsupportedError, match="prints to a file"):
        fuse_jit(fullgraph=True)(to_file)(np.arange(3.0), object())
    file = io.StringIO()
    fuse_jit(to_file)(np.arange(3.0), file)
    assert file.getvalue() == "[0. 1. 2.]\n"
