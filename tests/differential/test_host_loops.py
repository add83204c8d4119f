"""Host calls inside loops and conditionals: the launcher runs those, kernel by kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.errors import UnsupportedError
from fusejit.tracer.builder.primitives import HOST_PRIMITIVES, PRIMITIVES
from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check, decorate, run
from fusejit_testing.programs.segments_check import check_segments

CLOSE = Bound(absolute=1e-12)


@pytest.fixture(autouse=True)
def always_on_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short rows are put in order by kernels otherwise; this file is about host calls."""
    for function in (np.median, np.sort):
        monkeypatch.setitem(PRIMITIVES, function, HOST_PRIMITIVES[function])


def vector(n: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).random(n)


def sorted_steps(x: Any, steps: int) -> Any:
    total = 0.0
    for i in range(steps):
        s = np.sort(x * (i + 1))
        total += s[i]
        x = s + 1.0
    return x, total


def while_large(x: Any, limit: float) -> Any:
    rounds = 0
    while x.max() > limit:
        x = np.sort(x)[::-1] * 0.5
        rounds += 1
    return x, rounds


def condition_on_host(x: Any, limit: float) -> Any:
    rounds = 0
    while np.median(x) > limit:
        x = x * 0.5
        rounds += 1
    return rounds


def running_medians(x: Any, out: Any) -> Any:
    for i in range(len(x)):
        if x[i] > 0.5:
            out[i] = np.median(x[: i + 1])
        else:
            out[i] = -1.0


def swapped(u: Any, v: Any, steps: int) -> Any:
    for _ in range(steps):
        u[...] = np.sort(v)[::-1] * 0.5
        u, v = v, u
    return u + 2 * v


def leaves_early(x: Any, limit: float) -> Any:
    best = 0.0
    at = -1
    for i in range(len(x)):
        if x[i] < 0.1:
            continue
        best = np.median(x[i:])
        at = i
        if best > limit:
            break
    return best, at


def returns_inside(x: Any, limit: float) -> Any:
    for i in range(len(x)):
        if np.median(x[i:]) > limit:
            return i
    return -1


def nested(a: Any) -> Any:
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total += np.median(a[i]) * a[i, j]
        a[i] = np.sort(a[i])
    return total


def rotates(x: Any, steps: int) -> Any:
    a, b, c = 1.0, 2.0, 3.0
    for i in range(steps):
        a, b, c = b, c, a + np.median(x) * i
    return a, b, c


def passes_arrays_on(x: Any, steps: int) -> Any:
    a, b = x * 1.0, x * 2.0
    for i in range(steps):
        a, b = x * a - b * np.median(a) + i, a
    return a, b


def inner_loop_passes_on(x: Any, steps: int) -> Any:
    a, b = x * 1.0, x * 2.0
    for i in range(steps):
        for _ in range(i + 2):
            a, b = x * a - 0.5 * b, a
        b = np.sort(a) + b
    return a, b


def indices_from_host(x: Any, steps: int) -> Any:
    for _ in range(steps):
        k = np.argsort(x)[0]
        x[k] += 1.0
        x[k:] *= 0.5
    return x.sum()


def selected(x: Any, steps: int) -> Any:
    total = 0.0
    for i in range(steps):
        chosen = x[x > i * 0.1]
        total += (chosen * 2).sum() + len(chosen)
    return total


def in_a_branch(x: Any) -> Any:
    if x[0] > 0.5:
        y = np.sort(x) * 2
    else:
        y = x + 1
    return y


CASES: dict[str, tuple[Any, list[tuple[Any, ...]]]] = {
    "sorted_steps": (sorted_steps, [(vector(9), 5), (vector(12), 7)]),
    "while_large": (while_large, [(vector(9), 0.01), (vector(30), 0.3)]),
    "condition_on_host": (condition_on_host, [(vector(9), 0.01), (vector(30), 0.3)]),
    "running_medians": (running_medians, [(vector(9), vector(9)), (vector(31), vector(31))]),
    "swapped": (swapped, [(vector(6), vector(6, 1), 5), (vector(7), vector(7, 1), 7)]),
    "leaves_early": (leaves_early, [(vector(9), 0.6), (vector(30), 2.0)]),
    "returns_inside": (returns_inside, [(vector(9), 0.6), (vector(30), 2.0)]),
    "nested": (nested, [(vector(20).reshape(4, 5),), (vector(35).reshape(7, 5),)]),
    "rotates": (rotates, [(vector(6), 7), (vector(9), 5)]),
    "passes_arrays_on": (passes_arrays_on, [(vector(6), 7), (vector(9), 6)]),
    "inner_loop_passes_on": (inner_loop_passes_on, [(vector(6), 7), (vector(9), 6)]),
    "indices_from_host": (indices_from_host, [(vector(7), 5), (vector(12), 9)]),
    "selected": (selected, [(vector(20), 5), (vector(31), 5)]),
    "in_a_branch": (in_a_branch, [(np.array([0.9, 0.1, 0.5]),), (np.array([0.1, 0.7]),)]),
}


@pytest.mark.parametrize("name", CASES)
def test_equals_numpy_with_one_variant(name: str) -> None:
    function, calls = CASES[name]
    check(function, *calls, bound=CLOSE, inner_bound=CLOSE)


@pytest.mark.parametrize("name", ["running_medians", "passes_arrays_on", "inner_loop_passes_on"])
def test_jitted(name: str) -> None:
    function, calls = CASES[name]
    check(function, *calls, bound=CLOSE, inner_bound=CLOSE, jit=True)


def test_the_call_stands_inside_the_loop() -> None:
    text = str(fuse_jit(sorted_steps).trace(vector(9), 7))
    loop = text[text.index("for at") :]
    assert 'host_call "numpy.sort"' in loop[: loop.index("\n  }")]


def test_kernels_of_the_body_are_compiled_once() -> None:
    fused = decorate(running_medians, jit=False)
    fused(vector(9), np.zeros(9))
    steps = fused.variants[0].before.program.steps
    assert [type(s).__name__ for s in steps] == ["KernelCall", "HostLoop"]
    (test, branch) = steps[1].body.steps
    assert type(test).__name__ == "KernelCall"
    assert [type(s).__name__ for s in branch.then_block.steps] == ["HostStepCall", "KernelCall"]
    assert [type(s).__name__ for s in branch.else_block.steps] == ["KernelCall"]
    fused(vector(3), np.zeros(3))
    assert len(fused.variants) == 1


def test_explain_shows_what_is_inside() -> None:
    lines = fuse_jit(running_medians).explain(vector(9), np.zeros(9), detail=True).splitlines()
    loop = next(at for at, line in enumerate(lines) if line.startswith("  Python runs this"))
    assert "for i in range(len(x))" in lines[loop + 1]
    inside = [line for line in lines if line.lstrip().startswith("host call numpy.median")]
    assert inside
    assert all(line.startswith("      ") for line in inside)


def fails_late(x: Any, out: Any) -> None:
    for i in range(len(x)):
        out[i] = x[i]
        np.linalg.inv(x[i] * np.ones((2, 2)) + np.eye(2))


def test_an_error_in_a_later_iteration_leaves_what_numpy_leaves() -> None:
    x = np.array([0.0, 1.0, 2.0, -0.5, 3.0])
    for jit in (False, True):
        expected = run(fails_late, (x, np.zeros(5)))
        actual = run(decorate(fails_late, jit=jit), (x, np.zeros(5)))
        assert isinstance(expected.error, np.linalg.LinAlgError)
        assert type(actual.error) is type(expected.error)
        assert np.array_equal(expected.args[1], actual.args[1])


def complex_inside(x: Any) -> Any:
    for i in range(len(x)):
        x[i] = abs(np.linalg.eigvals(x[:, None] * x)[i])


def test_what_is_no_host_call_is_refused_as_outside_loops() -> None:
    with pytest.raises(UnsupportedError, match="returns complex numbers"):
        fuse_jit(fullgraph=True)(complex_inside)(vector(9))
    check_segments(complex_inside, (np.arange(5.0),), bound=Bound(absolute=1e-9))
