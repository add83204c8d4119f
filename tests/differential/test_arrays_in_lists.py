"""Lists whose items are arrays: copies stand for these as long as nobody can tell.

Python ran all loops that put an array into a list.
"""
# mypy: disable-error-code="var-annotated"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit.tracer.lists.list_memory import FIRST_CAPACITY
from fusejit_testing.oracle import compare_outcomes, decorate, run


# --------------------------------------------------------------------------- compiled as a whole
def trajectory(y: Any, n: Any) -> Any:
    times, states = [0.0], [y]
    t = 0.0
    while t < 0.1 * n:
        y = y + 0.1 * np.cos(y)
        t += 0.1
        times.append(t)
        states.append(y)
    return np.array(times), np.array(states), y


def copies(y: Any, n: Any) -> Any:
    grid = np.zeros((3, len(y)))
    snapshots = []
    for k in range(n + 1):
        grid[k % 3] += y
        snapshots.append(grid.copy())
    return np.array(snapshots), snapshots[-1].sum(axis=0)


def chosen_ones(y: Any, n: Any) -> Any:
    best, path = None, []
    for k in range(n + 1):
        c = np.cos(y * k)
        if best is None or c.sum() > best.sum():
            best = c
            path.append(best)
    return best, np.array(path), np.mean(path, axis=0)


def nearest(y: Any, n: Any) -> Any:
    points = [np.zeros(len(y))]
    for k in range(n):
        near = min(range(len(points)), key=lambda i: np.sum((points[i] - y * k) ** 2))
        points.append(points[near] + 0.5 * (y * k - points[near]))
    return np.array(points)


def pairs(y: Any, n: Any) -> Any:
    points = [y * k for k in range(n + 20)]
    total = 0.0
    for p in points:
        for q in points:
            total += np.sqrt(((p - q) ** 2).sum())
    return total


def in_tuples(y: Any, n: Any) -> Any:
    rows = []
    for k in range(n + 1):
        y = np.sin(y) + k
        rows.append((k, y, y.sum()))
    total = 0.0
    for k, row, number in rows:
        total += k * row[0] + number
    return total, rows[-1][1] + 1, len(rows)


def beside_numbers_of_two_types(y: Any, n: Any) -> Any:
    rows = []
    for k in range(n + 1):
        rows.append((k if k % 2 else 0.5 * k, y * k))
    return rows


def stacked(y: Any, n: Any) -> Any:
    rows = [y]
    for k in range(n):
        y = y * 0.5 + k
        rows.append(y)
    rows.append(rows[0] - rows[-1])
    return (
        np.stack(rows),
        np.stack(rows, axis=1),
        np.concatenate(rows),
        np.vstack(rows),
        np.hstack(rows),
    )


def summed(y: Any, n: Any) -> Any:
    rows = [y * k for k in range(n + 20)]
    return sum(rows), sum(rows, 0.5), sum(rows[1:], y)


def rolled(y: Any, n: Any) -> Any:
    """How long the list is was taken to be 1, as in the sample: NumPy ran each call."""
    rows = np.array([y * k for k in range(n + 20)])
    places = []
    for row in rows:
        places.append(row * 2)
    places = np.array(places)
    return np.roll(places[:, 1], -1), np.roll(places, 2, axis=0)


def matrices(y: Any, n: Any) -> Any:
    made = []
    product = np.eye(4)
    for k in range(n + 1):
        product = product * 0.9 + k
        made.append(product)
    return (
        np.concatenate(made),
        np.concatenate(made, axis=1),
        np.concatenate(made, axis=None),
        np.hstack(made),
        np.vstack(made),
        np.stack(made, axis=-1),
    )


def returned(y: Any, n: Any) -> Any:
    rows = []
    for k in range(n):
        y = y + k
        rows.append(y)
    return rows


def returned_in_tuples(y: Any, n: Any) -> Any:
    rows = []
    for k in range(n):
        y = y + k
        rows.append((k, y.copy(), k % 2 == 0))
    return rows


def replaced(y: Any, n: Any) -> Any:
    rows = [np.zeros(len(y)) for _ in range(5)]
    for k in range(n):
        rows[k % 5] = rows[k % 5] + y
    return rows


def reversed_rows(y: Any, n: Any) -> Any:
    rows = []
    for k in range(n + 1):
        rows.append(y[::-1] * k)
        rows.append(y[::-1])
    return np.array(rows), rows[-1].sum()


def exchanged(y: Any, n: Any) -> Any:
    a, b = y * 1, y * 2
    rows = []
    for k in range(n + 1):
        rows.append(a)
        a, b = b, a + k
    return np.array(rows), sum(len(row) for row in rows)


def table_of_rows(y: Any, n: Any) -> Any:
    table = [np.zeros(5) for _ in range(n + 20)]
    table[0][0] = 1
    for i in range(1, n + 1):
        for j in range(5):
            table[i][j] = table[i - 1][j] * 0.5 + (table[i - 1][j - 1] if j else y[1])
    return table


def bodies(y: Any, n: Any) -> Any:
    places = [np.array([k, k * 0.5]) for k in range(n + 20)]
    speeds = [np.zeros(2) for _ in range(n + 20)]
    for _ in range(3):
        for i in range(len(places)):
            for j in range(len(places)):
                if i != j:
                    d = places[j] - places[i]
                    speeds[i] += 0.01 * d / (d @ d + 0.1)
        for i in range(len(places)):
            places[i] += speeds[i] * 0.1
    return places, speeds


def changed_rows(y: Any, n: Any) -> Any:
    def scaled(row: Any, factor: Any) -> Any:
        row *= factor
        return row

    rows = [y * k for k in range(n + 20)]
    before = np.array(rows)
    total = np.zeros(len(y))
    for i, row in enumerate(rows):
        row[0] = i
        total += row
        row[1:] = total[:-1]
    for k in range(n):
        a, b = rows[k], rows[k + 1]
        a[0], b[0] = b[0], a[0]
        total += scaled(rows[k], 0.5)
        rows[-k].T[1] = k
        np.add(a, b, out=b)
        b.sort()
    return before, rows, total, rows[1].max()


# ------------------------------------------------------------------- what only the arrays can tell
def argument_changes(y: Any, n: Any) -> Any:
    rows = []
    for _ in range(n + 1):
        rows.append(y)
        y[0] += 1
    return np.array(rows)


def changes_before(y: Any, n: Any) -> Any:
    z, rows = y.copy(), []
    for _ in range(n + 1):
        z[0] += 1
        rows.append(z)
    return np.array(rows)


def item_changes(y: Any, n: Any) -> Any:
    rows = []
    for k in range(n + 1):
        rows.append(y + k)
    row = rows[-1]
    row += 100
    for other in rows:
        other *= 2
    return np.array(rows)


def changes_through_its_first_name(y: Any, n: Any) -> Any:
    first = y * 2
    x, rows = first, []
    for _ in range(n + 1):
        rows.append(x)
        x = x + 1
    first[0] = 55
    return np.array(rows)


def first_name_in_the_loop(y: Any, n: Any) -> Any:
    first = y * 2
    x, rows = first, []
    for k in range(n + 1):
        rows.append(x)
        x = x + 1
        first[0] = k
    return np.array(rows)


def one_of_two_changes(y: Any, n: Any) -> Any:
    rows = []
    for k in range(n + 1):
        a, b = y * 1, y * 2
        c = a if k % 2 else b
        rows.append(c)
        a[0] = 8
    return np.array(rows)


def one_of_two_in_a_comprehension(y: Any, n: Any) -> Any:
    a, b = y * 1, y * 2
    rows = [a if k % 2 else b for k in range(n + 20)]
    a[0] = 8
    return np.array(rows)


def rows_of_a_table(y: Any, n: Any) -> Any:
    table = np.arange(40.0).reshape(10, 4)
    rows = []
    for k in range(n + 1):
        rows.append(table[k % 10])
        table[k % 10, 1] += 1
    return np.array(rows)


def out_argument(y: Any, n: Any) -> Any:
    out, rows = np.empty(len(y)), []
    for k in range(n + 1):
        np.multiply(y, k, out=out)
        rows.append(out)
    return np.array(rows)


def attribute_changes(y: Any, n: Any) -> Any:
    class Body:
        pass

    body: Any = Body()
    body.x, rows = y * 1.0, []
    for _ in range(n + 1):
        body.x = body.x + 1
        rows.append(body.x)
    body.x[0] = 3
    return np.array(rows)


def one_array_twice(y: Any, n: Any) -> Any:
    rows = []
    for k in range(n + 1):
        z = y + k
        rows.append(z)
        rows.append(z)
    return rows


def two_lists(y: Any, n: Any) -> Any:
    rows, others = [], []
    for k in range(n + 1):
        z = y + k
        rows.append(z)
        others.append(z)
    return rows, others


def last_one_returned(y: Any, n: Any) -> Any:
    rows = []
    for _ in range(n + 1):
        y = y + 1
        rows.append(y)
    return y, rows, rows[-1] is y


def first_one_where_no_iteration_is(y: Any, n: Any) -> Any:
    rows = [y * k for k in range(n + 20)]
    total = rows[0]
    for _ in range(1, n):
        total = total + y
    return total, rows


def last_one_where_no_iteration_is(y: Any, n: Any) -> Any:
    rows, z = [], y * 1
    for k in range(n + 20):
        z = y + k
        rows.append(z)
    for _ in range(1, n):
        z = z + 1
    z[:] = 3
    return rows, z


def item_of_a_slice(y: Any, n: Any) -> Any:
    rows = [y * k for k in range(n + 20)]
    best = rows[1]
    for row in rows[1:]:
        if row.sum() > best.sum():
            best = row
    return rows, best


def argument_popped(y: Any, n: Any) -> Any:
    rows = [y]
    for k in range(n - 1):
        rows.append(y + k)
    z = rows.pop()
    for row in rows:
        z = z + row
    return z, y


def row_and_its_name(y: Any, n: Any) -> Any:
    rows = []
    for k in range(n + 1):
        z = y * k
        rows.append(z)
        rows[-1][0] = 7
        z[1] = 8
    return np.array(rows)


def row_returned(y: Any, n: Any) -> Any:
    rows = [y * k for k in range(n + 20)]
    row = rows[0]
    row[0] = 5
    return row


def row_replaced(y: Any, n: Any) -> Any:
    rows = [y * k for k in range(n + 20)]
    row = rows[0]
    row[0] = 5
    rows[0] = row + 1
    row[1] = 7
    return np.array(rows), row.sum()


def rows_of_one_array(y: Any, n: Any) -> Any:
    rows = [y for _ in range(n + 20)]
    rows[-1][0] = 9
    return np.array(rows), y


def row_in_another_list(y: Any, n: Any) -> Any:
    rows = [y * k for k in range(n + 20)]
    kept = []
    for k in range(n):
        rows[k][0] = 9
        kept.append(rows[k])
    rows[0][1] = 77
    return np.array(kept)


def best_row(y: Any, n: Any) -> Any:
    rows = [y * k for k in range(n + 20)]
    best = rows[0]
    for k in range(n):
        rows[k][0] = k
        if rows[k].sum() > best.sum():
            best = rows[k]
    rows[0][1] = 50
    return best.sum()


def exchanged_rows(y: Any, n: Any) -> Any:
    rows = [y * k for k in range(n + 20)]
    rows[0], rows[1] = rows[1], rows[0]
    rows[0][0] = 4
    return rows


def row_beyond_the_end(y: Any, n: Any) -> Any:
    rows = [y * k for k in range(n + 20)]
    try:
        for k in range(n + 25):
            rows[k][0] = 9
    except IndexError:
        pass
    return np.array(rows)


def last_row(y: Any, n: Any) -> Any:
    rows = [y * k for k in range(n + 20)]
    return rows[-1]


def argument_returned(y: Any, n: Any) -> Any:
    rows = [y]
    for k in range(n):
        rows.append(y * k)
    return rows[0], np.array(rows)


def several_shapes(y: Any, n: Any) -> Any:
    rows = []
    for k in range(n + 1):
        rows.append(np.zeros(3) if k % 2 else np.zeros(4))
    return rows


def other_order(y: Any, n: Any) -> Any:
    rows = []
    for k in range(n + 1):
        rows.append((y * k).reshape(2, 2).T)
    return np.array(rows), rows[-1].flags.c_contiguous, rows[-1].sum(0)


def stacked_in_part(y: Any, n: Any) -> Any:
    rows = []
    for k in range(n + 1):
        if k % 3:
            rows.append(y * k)
    return np.stack(rows)


WHOLE = (
    *(trajectory, copies, chosen_ones, nearest, pairs, in_tuples, stacked, matrices, returned),
    *(table_of_rows, bodies, changed_rows, last_row),
    *(
        returned_in_tuples,
        beside_numbers_of_two_types,
        summed,
        rolled,
        replaced,
        reversed_rows,
        exchanged,
    ),
)
LEFT_TO_PYTHON = (
    *(argument_changes, changes_before, item_changes, changes_through_its_first_name),
    *(first_name_in_the_loop, one_of_two_changes, one_of_two_in_a_comprehension, rows_of_a_table),
    *(out_argument, attribute_changes, one_array_twice, two_lists, last_one_returned),
    *(argument_returned, several_shapes, other_order, stacked_in_part),
    *(first_one_where_no_iteration_is, last_one_where_no_iteration_is, item_of_a_slice),
    *(argument_popped, row_and_its_name, row_returned, row_replaced, rows_of_one_array),
    *(row_in_another_list, best_row, exchanged_rows, row_beyond_the_end),
)


def _identities(obj: Any) -> list[Any]:
    """Which arrays of a result are one object, or share memory."""
    found: list[Any] = []
    pending = [obj]
    while pending:
        one = pending.pop(0)
        if isinstance(one, list | tuple):
            pending += one
        elif isinstance(one, np.ndarray):
            found.append(one)
    return [[(a is b, np.shares_memory(a, b)) for a in found] for b in found]


@pytest.mark.parametrize("function", [*WHOLE, *LEFT_TO_PYTHON])
@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_arrays_in_lists(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False, tiering=False)
    for count in (3, 5, 1):
        expected = run(function, (np.linspace(0, 1, 4), count))
        outcome = run(fused, (np.linspace(0, 1, 4), count))
        compare_outcomes(expected, outcome)
        assert _identities(outcome.result) == _identities(expected.result)
    if function in WHOLE:
        assert fused.variants.newest_segmented is None
        assert not fused.variants.fallbacks


@pytest.mark.parametrize("function", [copies, returned_in_tuples, nearest, table_of_rows])
def test_kernels(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=True, tiering=False)
    for count in (40, 600):  # more than there is room for at first
        args = np.linspace(0, 1, 4), count
        compare_outcomes(run(function, args), run(fused, args))


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_no_items() -> None:
    """``np.stack`` of no arrays raises ValueError, and ``np.array`` of none has another rank."""
    for function in (stacked_in_part, returned):
        fused = decorate(function, jit=False, tiering=False)
        for count in (4, 0):
            args = np.linspace(0, 1, 4), count
            compare_outcomes(run(function, args), run(fused, args))


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_large_arrays_stay_with_python() -> None:
    """Columns have room for many items: 2 GB for images."""
    fused = decorate(returned, jit=False, tiering=False)
    for size in (4, 20_000):
        args = np.linspace(0, 1, size), 300
        compare_outcomes(run(returned, args), run(fused, args))
    boundaries = fused.variants.newest_segmented.boundaries
    assert any("large arrays" in boundary.reason for boundary in boundaries)


def beside_many_numbers(y: Any, n: Any) -> Any:
    numbers, rows = [], []
    for k in range(n):
        if k % 3:
            numbers.append(k * 0.5)
    for k in range(40):
        y = y * 0.5 + k
        if k % 3:
            rows.append(y)
    return len(numbers), rows[-1].sum() + rows[3].sum()


def test_many_numbers_make_no_room_for_arrays() -> None:
    """MemoryError in each call from then on: all lists were given the room of the longest."""
    fused = decorate(beside_many_numbers, jit=True, tiering=False)
    for count in (100, 20_000, 100):
        args = np.ones(40), count
        compare_outcomes(run(beside_many_numbers, args), run(fused, args))
    numbers, arrays = fused.variants[0].traced.capacities
    assert min(numbers) >= 20_000 * 2 // 3
    assert max(arrays) == FIRST_CAPACITY
