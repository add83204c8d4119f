"""Lists from outside that functions change in place: the very list has the new items."""

import warnings

import pytest

from fusejit import fuse_jit
from fusejit_testing.oracle import decorate


def bubble_sort(xs):
    n = len(xs)
    for i in range(n):
        for j in range(n - 1 - i):
            if xs[j] > xs[j + 1]:
                xs[j], xs[j + 1] = xs[j + 1], xs[j]


def grow(xs):
    for x in xs[:5]:
        xs.append(x * 2)
    return len(xs)


def returned(xs):
    xs[0] = 7
    return xs, xs[0], xs[:3]


def methods(xs):
    xs.sort()
    xs.reverse()
    xs.insert(0, xs[2])
    del xs[3]
    return xs.pop()


def emptied(xs):
    total = 0
    while len(xs) > 3:
        total += xs.pop()
    return total


def other_name(xs):
    ys = xs
    ys[0] = 100
    return xs[0], ys


def perhaps(xs):
    if xs[0] > 2:
        xs.append(1)
    return len(xs)


def texts(xs):
    for i in range(len(xs)):
        xs[i] = str(xs[i]) + "!"
    xs.append("z")


def places(result, xs):
    parts = result if isinstance(result, tuple) else (result,)
    return [part is xs for part in parts]


@pytest.mark.parametrize(
    "function", [bubble_sort, grow, returned, methods, emptied, other_name, perhaps]
)
def test_as_python(function):
    compiled = decorate(function, jit=False, fullgraph=True, tiering=False)
    for n in (9, 20, 6, 4, 9, 70, 5):
        ours, theirs = ([(k * 7) % 11 for k in range(n)] for _ in range(2))
        result, expected = compiled(ours), function(theirs)
        assert result == expected
        assert ours == theirs
        assert places(result, ours) == places(expected, theirs)
    assert len(compiled.variants) <= 2


def test_strings():
    compiled = decorate(texts, jit=False, tiering=False)
    for n in (3, 6):
        ours, theirs = ["a", "bc", "def"] * n, ["a", "bc", "def"] * n
        compiled(ours)
        texts(theirs)
        assert ours == theirs


def collected(xs, out):
    for x in xs:
        if x > 3:
            out.append(x)


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_lists_to_be_filled():
    compiled = decorate(collected, jit=False, tiering=False)
    cases = [([1, 5, 7, 2, 9, 8], []), ([1, 5, 7, 2], []), ([1, 5, 9, 4, 4, 4], [3.5]), ([], [])]
    for xs, out in [*cases, *cases]:
        ours, theirs = [*out], [*out]
        compiled(xs, ours)
        collected(xs, theirs)
        assert ours == theirs
        assert [*map(type, ours)] == [*map(type, theirs)]


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("first", [False, True])
def test_lists_that_may_be_one(first):
    def run(xs, ys):
        for i in range(len(xs)):
            xs[i] += ys[len(ys) - 1 - i]
        return sum(xs)

    compiled = decorate(run, jit=False, tiering=False)
    for is_one in (first, not first, first):
        ours, theirs = [*range(9)], [*range(9)]
        others = (ours, theirs) if is_one else ([*range(9)], [*range(9)])
        assert compiled(ours, others[0]) == run(theirs, others[1])
        assert ours == theirs


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_rows_of_a_list_of_lists():
    def run(rows, xs):
        for i in range(len(xs)):
            xs[i] += rows[1][i]
        return rows[1][0], xs[0]

    compiled = decorate(run, jit=False, tiering=False)
    for is_row in (False, True, False):
        ours, theirs = ([[k, k + 1, k + 2, 1, 2, 3] for k in range(6)] for _ in range(2))
        xs = [rows[1] if is_row else [1, 2, 3, 4, 5, 6] for rows in (ours, theirs)]
        assert compiled(ours, xs[0]) == run(theirs, xs[1])
        assert ours == theirs
        assert xs[0] == xs[1]


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_an_error_leaves_what_python_leaves():
    def run(xs, k):
        for i in range(len(xs)):
            xs[i] += 1
        return xs[k]

    compiled = decorate(run, jit=False, tiering=False)
    for n, k in ((8, 3), (8, -1), (8, 9), (9, -20)):
        ours, theirs = [1] * n, [1] * n
        outcomes = []
        for function, xs in ((compiled, ours), (run, theirs)):
            try:
                outcomes.append(function(xs, k))
            except IndexError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]
        assert ours == theirs


def test_a_list_that_grows_is_left_to_python():
    """Each call takes all items out and puts them back: for a few appends that is too much."""

    def add(out, k):
        for i in range(20):
            if i * k % 3:
                out.append(i * k)
        return len(out)

    compiled = fuse_jit(add)
    ours, theirs = [], []
    for k in range(400):
        assert compiled(ours, k) == add(theirs, k)
    assert ours == theirs


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_lists_in_a_dictionary():
    def run(graph, xs):
        for i in range(len(xs)):
            xs[i] += graph[1][0]
        return graph[1]

    compiled = decorate(run, jit=False, tiering=False)
    for is_one in (False, True, False):
        ours, theirs = ({k: [k, k + 1] * 3 for k in range(80)} for _ in range(2))
        xs = [graph[1] if is_one else [1, 2, 3, 4, 5, 6] for graph in (ours, theirs)]
        assert compiled(ours, xs[0]) == run(theirs, xs[1])
        assert ours == theirs
        assert xs[0] == xs[1]


def test_items_that_stay_are_the_same_objects():
    def run(xs):
        for i in range(0, len(xs), 2):
            xs[i] += 1.5

    compiled = decorate(run, jit=False, fullgraph=True, tiering=False)
    xs = [float(k) + 1000 for k in range(9)]
    before = [*xs]
    compiled(xs)
    assert [a is b for a, b in zip(xs, before, strict=True)] == [k % 2 == 1 for k in range(9)]


def test_signs_of_zeros_are_written():
    def run(xs):
        for i in range(len(xs)):
            xs[i] = -xs[i]

    compiled = decorate(run, jit=False, fullgraph=True, tiering=False)
    xs = [0.0, -0.0, 1.0, float("nan"), 0.0, -2.0, 5.5]
    ours, theirs = [*xs], [*xs]
    compiled(ours)
    run(theirs)
    assert repr(ours) == repr(theirs)


def rebound(xs, k):
    xs.append(1)
    if xs[0] > k:
        xs = [k, k]
    xs.append(2)
    return xs, len(xs)


def rebound_in_loops(xs, k):
    for i in range(k):
        xs.append(i)
        if len(xs) > 9:
            xs = xs[::2]
    xs[0] = 50
    return xs


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("function", [rebound, rebound_in_loops])
def test_a_name_that_gets_another_list(function):
    """The caller's list got the items of the other one. Found by random programs."""
    compiled = decorate(function, jit=False, tiering=False)
    for n, k in ((8, 3), (6, 9), (9, 0), (7, 5), (8, 3)):
        ours, theirs = ([(5 * j + 4) % 11 for j in range(n)] for _ in range(2))
        result, expected = compiled(ours, k), function(theirs, k)
        assert result == expected
        assert ours == theirs
        assert places(result, ours) == places(expected, theirs)


def multiplied(xs):
    other = xs
    xs *= 2
    other.append(1)
    return len(xs), other is xs


def multiplied_inside(xs):
    made, rows = [], []
    rows.append(made)
    for x in xs:
        made.append(x)
    other = made
    made *= 3
    made.append(4)
    return rows, other, other is made


def multiplied_by_numbers(xs):
    made = [1, 2]
    for k in range(len(xs)):
        made *= k % 3 - 1 + (k % 5 == 0)
        made.append(k)
    return made


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("function", [multiplied, multiplied_inside, multiplied_by_numbers])
def test_a_list_multiplied_in_place_is_the_same_list(function):
    compiled = decorate(function, jit=False, tiering=False)
    for n in (3, 8, 0):
        ours, theirs = [*range(n)], [*range(n)]
        assert repr(compiled(ours)) == repr(function(theirs))
        assert ours == theirs


def rows_that_grow(a, rows):
    u = a.pop()
    for row in rows:
        row.append(2)
    return u


def holds_itself(a, rows):
    d, e = {}, {}
    for _ in rows:
        e = {w: d.get(w) for w in list(e)[:9]}
        e["a"] = e
    return len(e)


@pytest.mark.parametrize("function", [rows_that_grow, holds_itself])
def test_no_internal_errors(function):
    compiled = decorate(function, jit=False, tiering=False)
    for n in (6, 3, 9):
        ours = [[float(k)] * (k % 3 + 1) for k in range(n)]
        theirs = [row[:] for row in ours]
        with warnings.catch_warnings():
            warnings.filterwarnings("error", ".*internal error")
            assert compiled([1.5], ours) == function([1.5], theirs)
        assert ours == theirs
