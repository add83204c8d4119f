"""Steps of schedules keep what they say: random legal sequences, compiled, against NumPy."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit.transform import Handle, Schedule, ScheduleError, schedule
from fusejit.transform.core.lookup import labels

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


def windows(a: Any, b: Any) -> Any:
    weights = np.arange(1, 4)[:, None] * np.arange(2, 4)
    return (a[:, :, None, None] * weights).sum(axis=(2, 3)) + a.max(axis=1, keepdims=True)


FUNCTIONS = (bias_relu, softmax, stencil, transposed, integers, positions, two_products, windows)


def arguments(seed: int, m: int = 23, n: int = 17, k: int = 14) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, k)), rng.standard_normal((k, n))


def names(s: Schedule) -> list[str]:
    """The names that find an op: ``add`` where there is one, ``add#2`` where there are several."""
    return [label for op, label in labels(s.graph).items() if op.domain]


def interchange(op: Handle, rng: random.Random) -> Handle:
    order = rng.sample(op.dims, len(op.dims))
    return op.interchange(" ".join(order), reassociate=True)


def split(op: Handle, rng: random.Random) -> Handle:
    return op.split(reassociate=True, **{rng.choice(op.dims): rng.choice((1, 3, 8, 20))})


def peel(op: Handle, rng: random.Random) -> Handle:
    return op.peel(rng.choice([*op.schedule.loops, "none"]))


def tile_reduction(op: Handle, rng: random.Random) -> Handle:
    sizes = {rng.choice(op.dims): rng.choice((2, 3, 8))}
    return op.tile_reduction(reassociate=True, **sizes)


def unroll_reduction(op: Handle, rng: random.Random) -> Handle:
    return op.unroll_reduction(rng.choice(op.dims), reassociate=True)


def collapse(op: Handle, rng: random.Random) -> Handle:
    return op.collapse(*op.dims[:2], reassociate=True)


def expand(op: Handle, rng: random.Random) -> Handle:
    return op.expand(reassociate=True, **{rng.choice(op.dims): rng.choice((2, 3, 4))})


def fold_unit_dims(op: Handle, rng: random.Random) -> Handle:
    return op.fold_unit_dims()


def fuse_siblings(op: Handle, rng: random.Random) -> Handle:
    return op.fuse_siblings(rng.choice(names(op.schedule)))


def decompose(op: Handle, rng: random.Random) -> Handle:
    return op.decompose()


def specialize(op: Handle, rng: random.Random) -> Handle:
    return op.specialize(reassociate=True)


DOMAINS = {
    "collapse": collapse,
    "decompose": decompose,
    "expand": expand,
    "fold_unit_dims": fold_unit_dims,
    "fuse_siblings": fuse_siblings,
    "interchange": interchange,
    "peel": peel,
    "specialize": specialize,
    "split": split,
    "tile_reduction": tile_reduction,
    "unroll_reduction": unroll_reduction,
}
"""Steps that change the domain of an op."""


def random_step(s: Schedule, rng: random.Random) -> Handle:
    """A step that may be legal."""
    op = s[rng.choice(names(s))]
    kinds = (
        *DOMAINS,
        "tile",
        "tile",
        "fuse",
        "fuse",
        "rematerialize",
        "threads",
        "layout",
        "other",
    )
    kind = rng.choice((*kinds, "other"))
    if kind in DOMAINS:
        return DOMAINS[kind](op, rng)
    if kind == "tile":
        dims = rng.sample(op.dims, min(len(op.dims), rng.randint(1, 2)))
        return op.tile(reassociate=True, **{dim: rng.choice((1, 2, 3, 5, 8, 30)) for dim in dims})
    if kind == "fuse":
        return op.fuse(rng.choice(names(s)))
    if kind == "rematerialize":
        return op.rematerialize(rng.choice(names(s)))
    if rng.random() < 0.1:
        return op.no_fuse()
    if kind == "threads":
        return op.threads(rng.choice([*s.loops, "none"]))
    if kind == "layout":
        return layout_step(op, rng)
    return op.generalize() if rng.random() < 0.5 else op.to_library()


def layout_step(op: Handle, rng: random.Random) -> Handle:
    """A step that changes how operands lie in memory."""
    dims = rng.sample(op.dims, min(len(op.dims), rng.randint(1, 2)))
    sizes = {dim: rng.choice((2, 3, 8, 16)) for dim in dims}
    kind = rng.choice(("transpose", "hoist", "pad", "pack", "unpack", "pack_matmul"))
    if kind == "transpose":
        return op.transpose_matmul(rng.choice("ab"))
    if kind == "hoist":
        return op.hoist_pad(rng.choice("ab"))
    if kind == "unpack":
        return op.unpack(rng.choice("ab"))
    if kind == "pad":
        return op.pad(reassociate=True, **sizes)
    if kind == "pack_matmul":
        return op.pack_matmul(reassociate=True, **sizes)
    return op.pack(rng.choice("ab"), **sizes)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("seed", range(4))
def test_random_sequences(function: Function, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    rng = random.Random(seed)
    s = schedule(function, *arguments(seed))
    refused: list[str] = []
    while len(s.steps) < 1 + seed and len(refused) < 60:
        try:
            s = random_step(s, rng).schedule
        except ScheduleError as error:
            refused.append(str(error))
    assert s.steps
    assert not any("internal error" in text for text in refused)
    compiled, plain = s.compile(), schedule(function, *arguments(seed)).compile()
    is_exact = all(step.tag == "bits" for step in s.steps)
    for m, n, k in [(23, 17, 14), (1, 5, 3), (3, 1, 2), (31, 30, 29), (8, 16, 5)]:
        args = arguments(seed, m, n, k)
        try:
            expected = plain(*args)
        except ScheduleError:  # another variant serves such sizes
            continue
        found = compiled(*args)
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        if is_exact:
            np.testing.assert_array_equal(found, expected, err_msg=s.log)
        else:
            np.testing.assert_allclose(found, expected, 1e-10, 1e-12, err_msg=s.log)


def test_jitted() -> None:
    s = schedule(bias_relu, *arguments(0))
    s = s["maximum"].tile(i=8, j=6).fuse("add", "matmul").threads("i.0").schedule
    for m, n, k in [(23, 17, 14), (64, 9, 30)]:
        args = arguments(1, m, n, k)
        np.testing.assert_allclose(s.compile()(*args), bias_relu(*args), 1e-12)
    s = schedule(bias_relu, *arguments(0))["matmul"].generalize().tile(k=5, reassociate=True)
    np.testing.assert_allclose(s.schedule.compile()(*args), bias_relu(*args), 1e-12)


def test_tiles_with_memory_of_their_own_on_threads() -> None:
    a, b = arguments(0, 200, 150, 90)
    s = schedule(bias_relu, a, b)["maximum"].tile(i=24).fuse("add", "matmul").schedule
    s = s["matmul"].tile(k=20, reassociate=True).schedule["maximum"].threads("i.0").schedule
    run = s.compile()
    for _ in range(10):
        np.testing.assert_allclose(run(a, b), bias_relu(a, b), 1e-10, 1e-12)
