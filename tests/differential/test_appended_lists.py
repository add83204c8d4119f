"""A list that a loop appends to, and that becomes an array, is an array of the kernel.

Python ran such loops: ``out.append(x[i:i + k].mean())``, then ``np.array(out)``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import Bound
from fusejit_testing.oracle import compare_outcomes, decorate, run


# ------------------------------------------------------------------------------- filled in a loop
def windows(x: Any) -> Any:
    out = []
    for i in range(len(x) - 4):
        out.append(x[i : i + 5].mean())
    return np.array(out)


def running(x: Any) -> Any:
    values: list[Any] = []
    position = 0.0
    for v in x:
        if v > 0:
            position += v
        else:
            position *= 0.5
        values.append(position)
    return np.asarray(values), position


def pairs(x: Any) -> Any:
    rows = []
    for i, v in enumerate(x):
        rows.append((i, v * 2))
    return np.array(rows)


def rows_of_rows(x: Any) -> Any:
    table = []
    for i in range(len(x)):
        row = []
        for j in range(3):
            row.append(x[i] * j)
        table.append(np.array(row))
    return np.array(table)


def of_a_dtype(x: Any) -> Any:
    flags = []
    for i in range(len(x)):
        flags.append(x[i] > 0)
    z = np.array(flags, dtype=float)
    return z, i


def again_in_each_iteration(x: Any) -> Any:
    y = x
    for r in range(3):
        out = []
        for i in range(len(x)):
            out.append(x[i] * r)
        y = np.asarray(out)
        y += 1
    return y


def mean_of_sums(x: Any) -> Any:
    sums = []
    for j in range(len(x)):
        w = x * 1.0
        w[j] = 0
        sums.append(w.sum())
    return np.mean(sums), np.pi


def what_else_the_loop_leaves(x: Any) -> Any:
    out = []
    best = -np.inf
    for i, v in enumerate(x):  # noqa: B007
        t = v * v
        best = max(best, t)
        out.append(best - t)
    z = np.array(out) + 1
    return z, best, t, i


FILLED = (
    *(windows, running, pairs, rows_of_rows, of_a_dtype, again_in_each_iteration, mean_of_sums),
    what_else_the_loop_leaves,
)


# ------------------------------------------------------------------- filled, and some items taken
def under_a_condition(x: Any) -> Any:
    out = []
    for v in x:
        if v > 0:
            out.append(v)
    return np.array(out)


def ended_early(x: Any) -> Any:
    out = []
    for v in x:
        out.append(v)
        if v > 2:
            break
    return np.array(out)


def skips(x: Any) -> Any:
    out = []
    for v in x:
        if v > 2:
            continue
        out.append(v)
    return np.array(out)


# ------------------------------------------------------------------------------- made by Python
def measured(x: Any) -> Any:
    out = []
    for v in x:
        out.append(v * 1)
    return np.array(out), len(out)


def shared(x: Any) -> Any:
    out = []
    other = out
    for v in x:
        out.append(v * 1)
    other.append(1.0)
    return np.array(out)


def two_at_a_time(x: Any) -> Any:
    out = []
    for v in x:
        out.append(v)
        out.append(-v)
    return np.array(out)


def started_with_an_item(x: Any) -> Any:
    out = [0.0]
    for v in x:
        out.append(v * 2)
    return np.array(out)


def of_several_types(x: Any) -> Any:
    out = []
    for i in range(len(x)):
        out.append(i if i % 3 else 0.5)
    return np.array(out)


def of_texts(x: Any) -> Any:
    out = []
    for i in range(len(x)):
        out.append(str(i))
    return np.array(out), x


def read_by_a_function(x: Any) -> Any:
    out = []

    def last() -> Any:
        return out[-1]

    for v in x:
        out.append(v * 1)
    return np.array(out) if len(x) == 0 else last()


def converted_twice(x: Any) -> Any:
    out = []
    for v in x:
        out.append(v * 1)
    a, b = np.asarray(out), np.asarray(out)
    a += 1
    return a, b


def out_of_bounds(x: Any) -> Any:
    out = []
    for i in range(len(x)):
        out.append(x[i + 1])
    return np.array(out)


def in_one_of_two_branches(x: Any) -> Any:
    out = []
    total = 0.0
    for v in x:
        if v > 0:
            total += v
            if v < 2:
                out.append(v - total)
        else:
            total -= v
    return np.asarray(out, dtype=np.float64), total


def integers_under_a_condition(x: Any) -> Any:
    out = []
    for i, v in enumerate(x):
        if v > 0:
            out.append(i)
    return np.array(out), np.array([(i, v) for i, v in enumerate(x) if v < 0])


CONDITIONAL = (under_a_condition, ended_early, skips, in_one_of_two_branches)
PLAIN = (
    *(measured, shared, two_at_a_time, of_several_types, integers_under_a_condition),
    *(started_with_an_item, of_texts, read_by_a_function, converted_twice, out_of_bounds),
)


# ------------------------------------------------------------------- arrays that change later
def views_of_what_the_loop_changes(x: Any) -> Any:
    out = []
    for i in range(len(x) - 1):
        out.append(x[i : i + 2])
        x[i] = 0
    return np.array(out)


def rows_written_after_they_were_appended(x: Any) -> Any:
    out = []
    for i in range(len(x)):
        row = np.zeros(3)
        out.append(row)
        row[0] = x[i]
    return np.array(out)


def one_array_again_and_again(x: Any) -> Any:
    out = []
    for _ in range(len(x)):
        x += 1
        out.append(x)
    return np.array(out)


def a_row_written_after_the_loop(x: Any) -> Any:
    out = []
    for i in range(len(x)):
        row = x * i
        out.append(row)
    if len(x):
        row[0] = 99
    return np.array(out)


def views_of_what_is_changed_after_the_loop(x: Any) -> Any:
    y = x * 2
    out = []
    for i in range(len(y) - 1):
        out.append(y[i : i + 2])
    y[:1] = 7
    return np.array(out)


def taken_under_a_condition(x: Any) -> Any:
    y = x * 2
    out = []
    for i in range(len(y) - 1):
        out.append(y[i : i + 2])
    y[:1] = 7
    return np.array(out) if x[:1].sum() > 0 else y


def views_that_are_changed_after_the_array_is_made(x: Any) -> Any:
    y = x * 2
    made = np.array([y[i : i + 2] for i in range(len(y) - 1)])
    y[:1] = 7
    return made, y


def a_helper_that_changes_its_argument(x: Any) -> Any:
    def moved(p: Any) -> Any:
        p += x
        return p

    position = x * 0
    return np.array([moved(position) for _ in range(len(x))])


def bound_again_after_it_was_appended(x: Any) -> Any:
    out = []
    z = x * 1
    for _ in range(len(x)):
        out.append(z)
        z = z * 0.5
    return np.array(out)


def a_row_written_in_the_next_iteration(x: Any) -> Any:
    out = []
    row = x * 0
    for i in range(len(x)):
        if i > 1:
            row[0] = 5
        row = x * i
        out.append(row)
    return np.array(out)


def a_row_written_first_in_the_next_iteration(x: Any) -> Any:
    out = []
    row = x * 0
    for i in range(len(x)):
        row[0] = 5
        row = x * i
        out.append(row)
    return np.array(out)


def lists_that_change(x: Any) -> Any:
    out = []
    for i in range(len(x)):
        t = [x[i], 1.0]
        out.append(t)
        t[0] = 5.0
    return np.array(out)


def one_list(x: Any) -> Any:
    t = [1.0, 2.0]
    out = []
    for _ in range(len(x)):
        out.append(t)
    t[0] = 5.0
    return np.array(out)


def views_in_tuples(x: Any) -> Any:
    out = []
    for i in range(len(x) - 2):
        out.append((x[i : i + 2],))
        x[i] = 0
    return np.array(out)


def views_without_axes_in_tuples(x: Any) -> Any:
    out = []
    for i in range(len(x)):
        out.append((x[i, ...], 1.0))
        x[i] = 7
    return np.array(out)


def views_in_tuples_of_a_helper(x: Any) -> Any:
    def part(i: int) -> Any:
        x[i] = 0
        return (x[i : i + 2],)

    return np.array([part(i) for i in range(len(x) - 2)])


def literal_rows(x: Any) -> Any:
    out = []
    for i, v in enumerate(x):
        out.append([i, v])
    return np.array(out), np.array([[v, i, 1.5] for i, v in enumerate(x)])


# ------------------------------------------------------------------------------- dtypes and names
def a_dtype_that_is_bound_again(x: Any) -> Any:
    d = np.float32
    out = []
    for i in range(len(x)):
        out.append(x[i] / 3)
    d = np.float64
    return np.array(out, dtype=d)


def narrow_rows(x: Any) -> Any:
    return np.array([(i * 100, 1) for i in range(len(x))], dtype=np.int8)


def narrow_rows_of_rows(x: Any) -> Any:
    return np.array([[i * 100 for _ in range(2)] for i in range(len(x))], dtype=np.int8)


def rounded_twice(x: Any) -> Any:
    return np.array([2**60 + 2**36 + 1 + i for i in range(len(x))], dtype=np.float32)


def an_import_of_that_name(x: Any) -> Any:
    out = []
    import math as out  # noqa: F811

    for v in x:
        out.append(v)
    return np.array(out)


def a_function_of_that_name(x: Any) -> Any:
    out = []

    def out() -> None:  # noqa: F811
        pass

    for v in x:
        out.append(v)
    return np.array(out).shape


def a_pattern_of_that_name(x: Any) -> Any:
    out = []
    match 5:
        case out:
            pass
    for v in x:
        out.append(v)
    return np.array(out)


def an_iterator_that_is_used_up(x: Any) -> Any:
    z = zip(x, x)  # noqa: B905
    out = []
    for a, b in z:
        out.append(a + b)
    return np.array(out), list(z)


def an_iterator_beside_itself(x: Any) -> Any:
    z = enumerate(x)
    total = 0.0
    for (i, v), (j, w) in zip(z, z):  # noqa: B905
        total += (i + 2 * j) * (v - w)
    return total


def an_iterator_beside_a_list(x: Any) -> Any:
    z = zip(x, x)  # noqa: B905
    return [a + b + c for (a, b), c in zip(z, [1, 2, 3])]  # noqa: B905


def an_iterator_backwards(x: Any) -> Any:
    total = 0.0
    for a, b in reversed(zip(x, x)):  # type: ignore[call-overload]  # noqa: B905
        total += a * b
    return total


def an_iterator_in_a_loop(x: Any) -> Any:
    z = enumerate(x)
    total = 0.0
    for _ in range(len(x)):
        for i, v in z:
            total += i * v
    return total


CHANGED = (
    *(lists_that_change, one_list, views_in_tuples, views_without_axes_in_tuples, literal_rows),
    *(views_in_tuples_of_a_helper, a_dtype_that_is_bound_again, narrow_rows, narrow_rows_of_rows),
    *(rounded_twice, an_import_of_that_name, a_function_of_that_name, a_pattern_of_that_name),
    *(an_iterator_that_is_used_up, an_iterator_in_a_loop, an_iterator_beside_itself),
    *(an_iterator_beside_a_list, an_iterator_backwards),
    *(a_row_written_in_the_next_iteration, a_row_written_first_in_the_next_iteration),
    *(views_of_what_the_loop_changes, rows_written_after_they_were_appended),
    *(one_array_again_and_again, a_row_written_after_the_loop, bound_again_after_it_was_appended),
    *(views_of_what_is_changed_after_the_loop, views_that_are_changed_after_the_array_is_made),
    *(a_helper_that_changes_its_argument, taken_under_a_condition),
)
CALLS = (np.linspace(-2.0, 3.0, 40), np.linspace(3.0, -1.0, 23), np.array([1.5]), np.zeros(0))


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("function", [*FILLED, *CONDITIONAL, *PLAIN, *CHANGED])
def test_as_python(function: Callable[..., Any], dtype: Any) -> None:
    fused = decorate(function, jit=False)
    bound = Bound(absolute=1e-12 if dtype == np.float64 else 1e-4)
    for x in (*CALLS, *CALLS[:2]):
        given = (x.astype(dtype),)
        compare_outcomes(run(function, given), run(fused, given), bound, f"{len(x)} items")


@pytest.mark.parametrize("function", [*FILLED, *CONDITIONAL])
def test_one_variant_serves_all_lengths(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False)
    for x in CALLS[:2]:
        fused(x)
    assert len(fused.variants) == 1
    assert not fused.variants.fallbacks
    assert fused.variants.segmented is None
