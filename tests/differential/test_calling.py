"""What goes in and comes out: containers, defaults, outside state, errors, np.errstate."""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.api import FuseWarning
from fusejit_testing.compare import Bound, assert_same, assert_same_aliasing
from fusejit_testing.oracle import Outcome, check, compare_outcomes, decorate, run

SCALE = 2.0
WEIGHTS = np.arange(4.0)


def grid(*shape: int) -> np.ndarray:
    return np.arange(float(np.prod(shape))).reshape(shape) - 3


@pytest.fixture(params=[False, True], ids=["unjitted", "jitted"])
def jit(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


# --------------------------------------------------------------------------------------- results
def test_structures_of_results() -> None:
    for f in (
        lambda x: (x + 1, x * 2),
        lambda x: [x + 1, [x * 2, (x,)]],
        lambda x: {"a": x + 1, "b": {"c": x, 3: x.T}},
        lambda x: (x, x, x[1:], None, 3, "text"),
        lambda x: (),
        lambda x: None,
        lambda x: (x.shape[0], len(x), x.shape, x.ndim, x.size),
        lambda x: x,
        lambda x: (x.sum(), float(x.shape[0]), x.shape[0] / 2),
    ):
        check(f, (grid(3, 4),), (grid(5, 2),), bound=Bound(ulps=2), jit=True)


def test_one_result_twice_is_one_object() -> None:
    def f(x: Any) -> Any:
        y = x + 1
        return y, y, [y]

    check(f, (grid(3),), jit=True)


def test_fresh_results_do_not_share_memory_between_calls(jit: bool) -> None:
    f = decorate(lambda x: x + 1, jit=jit)
    first = f(grid(4))
    second = f(grid(4) * 2)
    assert not np.shares_memory(first, second)
    assert np.array_equal(first, grid(4) + 1)


# ------------------------------------------------------------------------------------- arguments
def test_containers_as_arguments() -> None:
    def f(pair: Any, params: Any) -> Any:
        a, b = pair
        params["w"] += 1
        return a * params["w"] + b * params["lr"]

    calls = [
        ((grid(4), grid(4) * 2), {"w": np.ones(4), "lr": 0.1}),
        ((grid(6), grid(6) * 2), {"w": np.ones(6), "lr": 0.7}),
    ]
    check(f, *calls, jit=True)
    check(lambda xs: [x * 2 for x in xs], ([grid(3), grid(4)],), ([grid(2), grid(5)],))
    check(lambda xs: sum(xs), ([grid(3), grid(3), grid(3)],), ([grid(4)] * 3,), variants=None)


def test_defaults_and_keywords(jit: bool) -> None:
    def f(x: Any, scale: Any = 2.0, *, shift: Any = 1, flag: Any = False) -> Any:
        if flag:
            return x
        return x * scale + shift

    fused = decorate(f, jit=jit)
    x = grid(5)
    for args, kwargs in (
        ((x,), {}), ((x, 3.0), {}), ((x,), {"shift": 5}), ((), {"x": x, "scale": 0.5, "shift": -2}),
        ((x,), {"flag": True}), ((x, 1), {}), ((x,), {"scale": np.float32(3)}),
    ):  # fmt: skip
        assert_same(f(*args, **kwargs), fused(*args, **kwargs))
    for args, kwargs in (((), {}), ((x, 1, 2), {}), ((x,), {"no": 1})):
        errors = []
        for function in (f, fused):
            with pytest.raises(TypeError) as error:
                function(*args, **kwargs)
            errors.append(str(error.value).split(")", 1)[1])
        assert errors[0] == errors[1]


def test_star_arguments() -> None:
    def f(*arrays: Any, **options: Any) -> Any:
        return arrays[0] + arrays[1] * options["k"]

    fused = decorate(f, jit=False)
    for k in (2.0, 3.0):
        assert_same(f(grid(3), grid(3), k=k), fused(grid(3), grid(3), k=k))


def test_methods(jit: bool) -> None:
    class Model:
        def __init__(self, w: Any) -> None:
            self.w = w
            self.rate = 0.5

        def step(self, x: Any) -> Any:
            return x * self.w - self.rate

    plain, fused = Model.step, decorate(Model.step, jit=jit)
    model = Model(np.ones(4))
    for change in (
        {},
        {"rate": 0.25},
        {"w": np.arange(4.0)},
        {"w": 3.0},
        {"w": np.ones(4, np.float32)},
    ):
        vars(model).update(change)
        assert_same(plain(model, grid(4)), fused(model, grid(4)))
    Model.fused = fused  # type: ignore[attr-defined]
    assert_same(model.step(grid(4)), model.fused(grid(4)))  # type: ignore[attr-defined]


# --------------------------------------------------------------------------------- outside state
def test_globals_changed_between_calls(jit: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: Any) -> Any:
        return x * SCALE + WEIGHTS

    fused = decorate(f, jit=jit)
    for scale in (2.0, 5.0, 3, np.float32(0.1), np.full(4, 2.0)):
        monkeypatch.setitem(globals(), "SCALE", scale)
        monkeypatch.setitem(globals(), "WEIGHTS", WEIGHTS + 1)
        assert_same(f(grid(4)), fused(grid(4)))
    WEIGHTS[0] = 100
    assert_same(f(grid(4)), fused(grid(4)))


def test_closures_changed_between_calls(jit: bool) -> None:
    factor: Any = 1.5
    table: Any = {"lr": 0.1, "w": np.ones(3)}
    names = SimpleNamespace(shift=2.0)

    def f(x: Any) -> Any:
        return x * factor - table["lr"] * table["w"] + names.shift

    fused = decorate(f, jit=jit)
    for _ in range(2):
        assert_same(f(grid(3)), fused(grid(3)))
        factor = factor * 2
        table["lr"] = 0.7
        table["w"] = table["w"] * 3
        names.shift = -1.0
    table["w"] = 2.0
    factor = 3
    assert_same(f(grid(3)), fused(grid(3)))


def test_functions_called_from_it_changed_between_calls(jit: bool) -> None:
    def helper(x: Any) -> Any:
        return x + 1

    def f(x: Any) -> Any:
        return helper(x) * 2

    fused = decorate(f, jit=jit)
    assert_same(f(grid(3)), fused(grid(3)))

    def helper(x: Any) -> Any:  # type: ignore[no-redef]  # noqa: F811
        return x - 5

    assert_same(f(grid(3)), fused(grid(3)))


def test_axis_and_flags_changed_between_calls(jit: bool) -> None:
    options: Any = {"axis": 0, "flip": False}

    def f(x: Any) -> Any:
        y = np.max(x, axis=options["axis"])
        return -y if options["flip"] else y

    fused = decorate(f, jit=jit)
    for change in (
        {},
        {"axis": 1},
        {"flip": True},
        {"axis": None},
        {"axis": (0, 1), "flip": False},
    ):
        options.update(change)
        assert_same(f(grid(3, 4)), fused(grid(3, 4)))


def test_python_control_flow_on_numbers() -> None:
    def f(x: Any, n: Any) -> Any:
        for i in range(3):
            if n > i:
                x = x + n
        if x.shape[0] > 4:
            return x[:4]
        return x

    check(f, (grid(3), 2), (grid(6), 2), (grid(3), 5), (grid(6), 0), jit=True, variants=None)


def test_outside_arrays_are_mutated_as_in_numpy(jit: bool) -> None:
    state = {"x": np.zeros(3)}

    def f(y: Any) -> Any:
        state["x"] += y
        return state["x"]

    fused = decorate(f, jit=jit)
    assert fused(np.ones(3)) is state["x"]
    fused(np.ones(3))
    assert np.array_equal(state["x"], [2.0, 2.0, 2.0])


# ---------------------------------------------------------------------------------------- errors
def test_dtype_and_shape_errors_are_numpys() -> None:
    for f, args in (
        (lambda x: -x, (np.ones(3, bool),)),
        (lambda x: x - x, (np.ones(3, bool),)),
        (lambda x: ~x, (np.ones(3),)),
        (lambda x: x & 1, (np.ones(3),)),
        (lambda x: x + 300, (np.ones(3, np.uint8),)),
        (lambda x: x + -1, (np.ones(3, np.uint8),)),
        (lambda x: x[5], (np.ones(3),)),
        (lambda x: x[0, 0], (np.ones(3),)),
        (lambda x: x[1.5], (np.ones(3),)),
        (lambda x: np.zeros(-1), (np.ones(3),)),
        (lambda x: x.transpose(0, 0), (np.ones((2, 2)),)),
        (lambda x: x + None, (np.ones(3),)),
        (lambda x: x + "a", (np.ones(3),)),
        (lambda x: x.nothing, (np.ones(3),)),
        (lambda x: undefined_name + x, (np.ones(3),)),  # type: ignore[name-defined]  # noqa: F821
        (lambda x: np.max(x, axis=3), (np.ones(3),)),
        (lambda x: x ** -1, (np.arange(1, 4),)),
        (lambda x: np.sqrt(x, x, x, x), (np.ones(3),)),
        (lambda x: 1 / 0, (np.ones(3),)),
        (lambda x: len(x.sum()), (np.ones(3),)),
    ):  # fmt: skip
        check(f, args, variants=0)


def test_an_error_leaves_numpys_partial_effects() -> None:
    def f(x: Any, y: Any) -> Any:
        x[0] = 7
        y += x
        raise ValueError("stop")

    check(f, (grid(3), grid(3)), variants=0)


def test_errstate(jit: bool) -> None:
    """With np.errstate(raise) NumPy runs, and raises as it does."""
    f = decorate(lambda x: 1.0 / x, jit=jit)
    x = np.array([1.0, 0.0])
    with np.errstate(divide="ignore"):
        expected = 1.0 / x
    assert_same(expected, f(x))  # kernels issue no floating-point warnings
    with (
        np.errstate(divide="raise"),
        pytest.raises(FloatingPointError),
        pytest.warns(FuseWarning),
    ):
        f(x)
    seen: list[Any] = []
    with np.errstate(divide="call", call=lambda *a: seen.append(a)), warnings.catch_warnings():
        warnings.simplefilter("ignore", FuseWarning)
        f(x)
    assert len(seen) == 1
    assert_same(expected, f(x))


def test_fullgraph_makes_a_decline_an_error() -> None:
    f = fuse_jit(fullgraph=True)(lambda x: x + 1)
    with pytest.raises(Exception, match="dtype"):
        f(np.ones(3, np.longdouble))


def test_disabled() -> None:
    f = fuse_jit(enabled=False)(lambda x: (x + 1, x))
    x = grid(3)
    result = f(x)
    assert_same((x + 1, x), result)
    assert result[1] is x
    assert len(f.variants) == 0


def test_dtypes_ranks_and_layouts_are_variants(jit: bool) -> None:
    def f(x: Any) -> Any:
        return x * 2 + 1

    fused = decorate(f, jit=jit)
    kinds = [grid(4), grid(2, 2), grid(4).astype("f4"), grid(4).astype("i4"), grid(8)[::2]]
    for _ in range(2):
        for x in kinds:
            compare_outcomes(run(f, (x,)), run(fused, (x,)))
    assert len(fused.variants) == len(kinds)


def test_the_oracle_notices_differences() -> None:
    """The check itself can fail: wrong bits, strides, sharing, types, partial effects."""
    x = grid(3, 4)
    for expected, actual in (
        (x, x + 1e-15), (x, np.asfortranarray(x)), (x[0, 0], float(x[0, 0])), (x, x.astype("f4")),
        ([x], (x,)), (np.array(-0.0), np.array(0.0)), (np.float64(1), np.array(1.0)), (1, True),
    ):  # fmt: skip
        with pytest.raises(AssertionError):
            assert_same(expected, actual)
    with pytest.raises(AssertionError):
        assert_same_aliasing([x, x[1:]], [x, x[1:].copy()])
    with pytest.raises(AssertionError):
        compare_outcomes(Outcome(None, ValueError("a"), ()), Outcome(None, TypeError("a"), ()))
    with pytest.raises(AssertionError):
        compare_outcomes(Outcome(None, None, (x,)), Outcome(None, None, (x * 2,)))
