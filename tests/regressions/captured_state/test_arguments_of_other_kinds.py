"""A table or memory map as argument made the call plain NumPy: nothing split the function."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.api import FuseWarning
from fusejit.errors import UnsupportedError
from fusejit_testing.compare import assert_same

X = np.linspace(1.0, 2.0, 50)


class Column:
    """An array of another library."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.values

    def to_numpy(self) -> np.ndarray:
        return self.values


class Table:
    """A table of another library."""

    def __init__(self, **columns: np.ndarray) -> None:
        self.columns = columns

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.stack(list(self.columns.values()))

    def __getitem__(self, name: str) -> Column:
        return Column(self.columns[name])


TABLE = Table(a=X, b=X[::-1].copy())


def read_first(table: Any) -> Any:
    x = table["a"].to_numpy()
    y = np.sqrt(x * x + 1).max()
    return y


def in_one_expression(table: Any) -> Any:
    return np.sqrt(table["a"].to_numpy() ** 2 + table["b"].to_numpy()).max()


def by_columns(table: Any, names: Any = ("a", "b")) -> Any:
    total = np.zeros(50)
    for name in names:
        column = table[name]
        total += np.sqrt(column.to_numpy() + 1.0)
    return total


def held(tables: Any) -> Any:
    x = tables["first"]["a"].to_numpy()
    return np.sqrt(x * x + 1)


def of_a_global(x: Any) -> Any:
    y = TABLE["a"].to_numpy()
    return np.sqrt(y * y + x)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (read_first, (TABLE,)),
        (in_one_expression, (TABLE,)),
        (by_columns, (TABLE,)),
        (held, ({"first": TABLE},)),
        (of_a_global, (X,)),
        (lambda table: np.sqrt(table["a"].to_numpy() * 2 + 1), (TABLE,)),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_is_read_of_a_table_is_compiled(function: Any, args: tuple[Any, ...]) -> None:
    fused = fuse_jit(function)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            assert_same(function(*args), fused(*args))
    assert fused.variants.all_segmented
    assert not fused.variants.fallbacks
    assert "variants compiled so far: 1" in fused.explain(*args, detail=True)
    with pytest.raises(UnsupportedError, match="foreign array"):
        fuse_jit(fullgraph=True)(function)(*args)


def converted(m: Any, scale: float) -> Any:
    a = np.asarray(m)
    return np.sqrt(a * a + scale)


def in_arithmetic(m: Any, scale: float) -> Any:
    return np.sqrt((m * scale + 1) * (m + scale) + 2)


def cut(m: Any, scale: float) -> Any:
    part = m[1:4]
    return part, np.sqrt(np.asarray(part) * scale + 1)


def written(m: Any, scale: float) -> Any:
    a = np.asarray(m)
    a += scale
    m[0] = a[1] * 2 + a[2]
    return m, np.sqrt(a.max() - a)


@pytest.mark.parametrize("function", [converted, in_arithmetic, cut, written])
def test_memory_maps(function: Any, tmp_path: Path) -> None:
    """Only ``cut`` has a result that is another memmap: Python cuts it off."""

    def mapped(name: str) -> np.ndarray:
        made = np.memmap(tmp_path / name, np.float64, "w+", shape=(6,))
        made[...] = np.arange(6.0) + 3
        return made

    fused = fuse_jit(function)
    for scale in (2.0, 3.0, 4.0):
        ours, theirs = mapped("ours"), mapped("theirs")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FuseWarning)
            got, expected = fused(ours, scale), function(theirs, scale)
        for one, other in zip(np.atleast_1d(got), np.atleast_1d(expected), strict=True):
            assert type(one) is type(other)
        assert_same(np.asarray(expected[-1]), np.asarray(got[-1]))
        assert_same(np.asarray(theirs), np.asarray(ours))
    assert bool(fused.variants.all_segmented) == (function is cut)
    assert not fused.variants.fallbacks


@pytest.mark.parametrize(
    "x", [X.astype(np.float16), X.astype(">f8"), X.astype(np.longdouble), X.astype(object)]
)
def test_arrays_of_other_dtypes_are_converted(x: np.ndarray) -> None:
    def function(x: Any) -> Any:
        y = x.astype(np.float64)
        return np.sqrt(y * y + 1), x

    fused = fuse_jit(function)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            value, same = fused(x)
            assert_same(function(x)[0], value)
            assert same is x
    assert fused.variants.all_segmented


def test_a_warning_where_operations_are_left_to_python() -> None:
    def function(x: Any) -> Any:
        y = (x * 2).astype(np.float64)
        return np.sqrt(y * y + 1)

    fused = fuse_jit(function)
    with pytest.warns(FuseWarning, match="statements of function: x has dtype float16") as told:
        results = [fused(X.astype(np.float16)) for _ in range(2)]
    assert len(told) == 1
    assert_same(function(X.astype(np.float16)), results[1])


def test_other_kinds_are_whole() -> None:
    """Whichever comes first."""
    for order in ((X, TABLE["a"]), (TABLE["a"], X)):

        def function(x: Any) -> Any:
            y = np.asarray(x)
            return np.sqrt(y * y + 1)

        fused = fuse_jit(function)
        for _ in range(2):
            for x in order:
                assert_same(function(x), fused(x))
        assert len(fused.variants) == 1
        assert len(fused.variants.for_types) == 1
        assert "segment" not in fused.explain(X)


def test_calls_of_arrays_are_not_served_by_segments_of_a_table() -> None:
    def function(table: Any) -> Any:
        x = np.asarray(table)
        return np.sqrt(x * x + 1)

    fused = fuse_jit(function)
    for _ in range(40):
        assert_same(function(TABLE), fused(TABLE))
    assert_same(function(X), fused(X))
    assert len(fused.variants) == 1


def test_kinds_are_bounded() -> None:
    def function(x: Any) -> Any:
        y = x.to_numpy()
        return np.sqrt(y * y + 1)

    fused = fuse_jit(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FuseWarning)
        for k in range(8):
            kind = type(f"Column{k}", (Column,), {})
            assert_same(np.sqrt(X * X + 1), fused(kind(X)))
    assert len(fused.variants.for_types) == 4


def test_messages_have_what_the_user_wrote() -> None:
    def function(x: Any, log: Any) -> Any:
        log.append(np.cbrt((x * 2).astype(np.float16)))
        return x

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fused = fuse_jit(function)
        fused(X, [])
    said = " ".join([*(str(w.message) for w in told), fused.explain(X, [])])
    assert "_part" not in said
    assert "(x * 2).astype(np.float16)" in said
