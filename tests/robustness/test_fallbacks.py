"""Calls that fusejit does not take: NumPy's answer, one warning per cause, counted."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.api import FuseWarning
from fusejit.dispatch.call_signatures import MIN_REPEATS
from fusejit.errors import UnsupportedError
from fusejit_testing.compare import assert_same, clone

pytestmark = pytest.mark.usefixtures("unjitted")


def double(x: Any) -> Any:
    return x + x


def newest_first(x: Any) -> Any:
    return x[::-1]


def shift(x: Any, y: Any) -> Any:
    x[1:] = y[:-1]
    return x


def accumulate(x: Any, y: Any) -> Any:
    x += y
    return x * 2


def misaligned(n: int) -> np.ndarray:
    result = np.zeros(8 * n + 1, np.uint8)[1:].view(np.float64)
    result[...] = np.arange(n)
    assert not result.flags.aligned
    return result


def matrix() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        return np.matrix([[1.0, 2.0], [3.0, 4.0]])


class Wrapped:
    """A foreign array."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.array

    def __add__(self, other: Any) -> Any:
        return self.array + np.asarray(other)


ARGUMENTS: dict[str, tuple[Callable[..., Any], Callable[[Path], tuple[Any, ...]]]] = {
    "matrix": (double, lambda folder: (matrix(),)),
    "masked": (double, lambda folder: (np.ma.array([1.0, 2.0], mask=[True, False]),)),
    "foreign": (double, lambda folder: (Wrapped(np.arange(3.0)),)),
    "object": (double, lambda folder: (np.array([1, "a", None], object)[:1],)),
    "string": (newest_first, lambda folder: (np.array(["a", "bc"]),)),
    "bytes": (newest_first, lambda folder: (np.array([b"a", b"bc"]),)),
    "datetime": (newest_first, lambda folder: (np.array(["2020-01-01"], "M8[D]"),)),
    "timedelta": (double, lambda folder: (np.array([3, 4], "m8[s]"),)),
    "complex": (double, lambda folder: (np.array([1 + 2j, 3j], np.clongdouble),)),
    "complex number": (double, lambda folder: (np.clongdouble(1 + 2j),)),
    "float16": (double, lambda folder: (np.arange(3, dtype=np.float16),)),
    "longdouble": (double, lambda folder: (np.arange(3, dtype=np.longdouble),)),
    "structured": (newest_first, lambda folder: (np.zeros(3, [("a", "f8")]),)),
    "big-endian": (double, lambda folder: (np.arange(3, dtype=">f8"),)),
    "misaligned": (double, lambda folder: (misaligned(3),)),
    "large int": (double, lambda folder: (2**70,)),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_what_fusejit_does_not_take_runs_as_plain_numpy(name: str, tmp_path: Path) -> None:
    function, make = ARGUMENTS[name]
    args = make(tmp_path)
    fused = fuse_jit(function)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", FuseWarning)
        results = [fused(*args), fused(*args)]
    for result in results:
        expected = function(*args)
        assert type(result) is type(expected)
        assert np.asarray(result).dtype == np.asarray(expected).dtype
        np.testing.assert_array_equal(result, expected)
    assert [w.category for w in seen] == [FuseWarning]
    assert seen[0].filename == __file__, "the warning points at the call"
    assert sum(fused.variants.fallbacks.values()) == 2
    assert len(fused.variants) == 0
    (cause,) = fused.variants.fallbacks
    assert cause in str(seen[0].message)
    assert "plain NumPy" in fused.explain(*args)
    with pytest.raises(UnsupportedError, match="fullgraph"):
        fuse_jit(fullgraph=True)(function)(*args)


def overlapping(kind: str) -> tuple[np.ndarray, np.ndarray]:
    x = np.arange(8.0)
    return {"same": (x, x), "shifted": (x[1:], x[:-1]), "reversed": (x, x[::-1])}[kind]


@pytest.mark.parametrize("kind", ["same", "shifted", "reversed"])
@pytest.mark.parametrize("function", [shift, accumulate])
@pytest.mark.parametrize("known", [False, True])
def test_overlapping_arguments_that_are_stored_into(
    function: Callable[..., Any], kind: str, known: bool
) -> None:
    fused = fuse_jit(function)
    if known:  # the variant for separate arrays exists already
        fused(np.arange(7.0), np.arange(7.0))
    args = overlapping(kind)
    ours, theirs = clone(args), clone(args)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", FuseWarning)
        result = fused(*ours)
        fused(*clone(args))
    assert_same(function(*theirs), result)
    assert_same(theirs, ours)
    if fused.variants.fallbacks:
        assert [w.category for w in seen] == [FuseWarning]
        assert sum(fused.variants.fallbacks.values()) == 2
        with pytest.raises(UnsupportedError):
            fuse_jit(fullgraph=True)(function)(*clone(args))


def test_overlapping_arguments_that_are_only_read() -> None:
    def add(x: Any, y: Any) -> Any:
        return x + y

    fused = fuse_jit(fullgraph=True)(add)
    x = np.arange(8.0)
    for args in ((x, x), (x[1:], x[:-1]), (x, x[::-1])):
        assert_same(add(*args), fused(*args))


def test_a_read_only_argument_is_an_error_of_numpy() -> None:
    x = np.arange(4.0)
    x.flags.writeable = False
    fused = fuse_jit(accumulate)
    with pytest.raises(ValueError, match="read-only"):
        fused(x, np.ones(4))
    assert not fused.variants.fallbacks  # nothing to warn of: NumPy itself raises
    fused(np.arange(4.0), np.ones(4))
    with pytest.raises(ValueError, match="read-only"):
        fused(x, np.ones(4))
    np.testing.assert_array_equal(x, np.arange(4.0))
    y = np.ones(4)
    y.flags.writeable = False
    assert_same(accumulate(np.arange(4.0), y), fused(np.arange(4.0), y))


@pytest.mark.parametrize("mode", ["raise", "call", "print", "log"])
@pytest.mark.parametrize("known", [False, True])
def test_errstate(mode: Any, known: bool, capsys: pytest.CaptureFixture[str]) -> None:
    def reciprocal(x: Any) -> Any:
        return 1.0 / x

    x = np.array([1.0, 0.0])
    fused = fuse_jit(reciprocal)
    if known:
        fused(x)
    called: list[Any] = []

    class Log:
        def write(self, text: str) -> None:
            called.append(text)

    callback: Any = Log() if mode == "log" else lambda *args: called.append(args)
    with (
        np.errstate(all=mode, call=callback),
        warnings.catch_warnings(record=True) as seen,
    ):
        warnings.simplefilter("always", FuseWarning)
        if mode == "raise":
            for _ in range(2):
                with pytest.raises(FloatingPointError, match="divide by zero"):
                    fused(x)
        else:
            np.testing.assert_array_equal(fused(x), [1.0, np.inf])
            np.testing.assert_array_equal(fused(x), [1.0, np.inf])
    assert bool(called) == (mode in ("call", "log"))
    assert [w.category for w in seen] == [FuseWarning]
    assert sum(fused.variants.fallbacks.values()) == 2
    for quiet in ("ignore", "warn"):
        with np.errstate(all=quiet):
            np.testing.assert_array_equal(fused(x), [1.0, np.inf])
    assert sum(fused.variants.fallbacks.values()) == 2


def test_more_variants_than_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    fused = fuse_jit(lambda x: x * 2)
    kinds = [np.ones((2,) * rank, dtype) for rank in range(1, 6) for dtype in "bBhHilfd"]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", FuseWarning)
        for x in kinds * 3 * MIN_REPEATS:  # beyond the first ones each has to come often
            assert_same(x * 2, fused(x))
    assert len(kinds) == 40
    assert len(fused.variants) == 32
    assert fused.variants.fallbacks["more than 32 variants"] >= 8
    assert {w.category for w in seen} == {FuseWarning}
    assert len(seen) == 3  # at 16 variants, at 32, and at the bound


def test_texts_make_fewer_variants_than_the_bound() -> None:
    names = [f"axis{n}" for n in range(40)]

    def by_name(x: Any, name: str) -> Any:
        return x + names.index(name)

    fused = fuse_jit(by_name)
    x = np.arange(3.0)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", FuseWarning)
        for name in [*names, *names]:
            assert_same(by_name(x, name), fused(x, name))
    assert len(fused.variants) == 8
    assert sum(fused.variants.fallbacks.values()) == 80 - 9  # the first one is met again
    assert [w.category for w in seen] == [FuseWarning]


# ------------------------------------------------------------------------------- errors of NumPy
def mismatched(x: Any, y: Any) -> Any:
    x[0] = -1.0
    return x + y  # the line


def out_of_bounds(x: Any, y: Any) -> Any:
    x[0] = -1.0
    return x + y[99]  # the line


def bad_axis(x: Any, y: Any) -> Any:
    x[0] = -1.0
    return x.sum(axis=3)  # the line


def bad_cast(x: Any, y: Any) -> Any:
    x[0] = -1.0
    y.astype(np.int64).__iadd__(0.5)  # the line


def missing_name(x: Any, y: Any) -> Any:
    x[0] = -1.0
    return x + undefined_name  # type: ignore[name-defined]  # noqa: F821  # the line


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("function", [mismatched, out_of_bounds, bad_axis, bad_cast, missing_name])
def test_errors_are_numpys_own_at_the_users_line(
    function: Callable[..., Any], known: bool, recwarn: pytest.WarningsRecorder
) -> None:
    fused = fuse_jit(function)
    if known and function is mismatched:
        fused(np.arange(4.0), np.arange(4.0))
    elif known and function is out_of_bounds:
        fused(np.arange(4.0), np.arange(100.0))
    seen = []
    for call in (function, fused):
        x, y = np.arange(4.0), np.arange(3.0)
        with pytest.raises(Exception) as caught:  # noqa: PT011
            call(x, y)
        last = [f for f in traceback.extract_tb(caught.tb) if f.filename == __file__][-1]
        assert last.line is not None
        assert last.line.endswith("# the line")
        seen.append((caught.type, str(caught.value), last.lineno, x.tolist(), y.tolist()))
    assert seen[0] == seen[1]
    assert not recwarn.list
    assert not fused.variants.fallbacks


def test_a_wrong_call_is_an_error_of_python() -> None:
    def add(x: Any, y: Any) -> Any:
        return x + y

    fused = fuse_jit(add)
    for args, kwargs in (((1,), {}), ((1, 2, 3), {}), ((1, 2), {"z": 3})):
        messages = []
        for call in (add, fused):
            with pytest.raises(TypeError) as caught:
                call(*args, **kwargs)
            messages.append(str(caught.value).rpartition("add()")[2])
        assert messages[0] == messages[1]


class Fields:
    def __init__(self, memory: np.ndarray) -> None:
        self.low, self.high = memory[:-1], memory[1:]


def test_arrays_that_overlap_are_named() -> None:
    @fuse_jit
    def smoothed(fields: Any) -> None:
        fields.low += fields.high

    memory, expected = np.arange(6.0), np.arange(6.0)
    with pytest.warns(FuseWarning, match="overlap in memory; pass a copy of one of them"):
        smoothed(Fields(memory))
    smoothed.__wrapped__(Fields(expected))
    assert_same(memory, expected)
    names = "fields.low, which is written, and fields.high overlap in memory"
    assert names in str(smoothed.explain(Fields(memory)))
