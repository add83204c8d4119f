"""Which arguments of a function that Python runs are looked at in each call: those of its loops."""

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.tiering.size_arguments import without_others


def by_range(n, key):
    total = 0
    for _ in range(n):
        total += key
    return total


def by_condition(n, key):
    steps = n
    while steps > 0:
        steps -= key
    return steps


def by_items(n, key):
    for item in n:
        if item == key:
            return item
    return None


def by_slice(n, key):
    return [1, 2, 3][:n], key


def by_search(n, key):
    return key in n


def by_repetition(n, key):
    return ([0] * n)[key]


def by_helper(n, key):
    return by_range(n + 1, 2) + key


def by_unpacking(n, key):
    return [*n, key]


def by_numpy(n, key):
    return (np.arange(n) * key).sum()


def by_shape(n, key):
    return np.zeros((n, n)) + key


def by_draws(n, key):
    return np.random.default_rng(key).normal(size=n)


def by_itself(n, key):
    return by_itself(n - 1, 2) + key if n else key


SIZES = [
    *(by_range, by_condition, by_items, by_slice, by_search, by_repetition, by_helper),
    *(by_unpacking, by_itself, by_numpy, by_shape, by_draws),
]


@pytest.mark.parametrize("function", SIZES)
def test_sizes_are_kept(function):
    n = [1, 2] if function in (by_items, by_search, by_unpacking) else 3
    assert without_others(function, (n, 5))[0] == n
    if function not in (by_condition, by_unpacking, by_draws):
        assert without_others(function, (n, 5))[1] is None


def test_arrays_are_sizes():
    x = np.ones(3)
    assert without_others(by_range, (1, x))[1] is x


def test_no_source_no_answer():
    namespace = {}
    exec("def bare(n, key): return key", namespace)
    assert without_others(namespace["bare"], (1, 2)) == [1, 2]
    assert without_others(None, (1, 2)) == [1, 2]


class Library:
    @fuse_jit
    def lend(self, book, day):
        return book, day

    def reserve(self, book, day):
        return [book] * day

    def give_back(self, day, isbn, names, text):
        book = self.books[isbn]
        book.late += day - book.due
        names[0] = text
        while self.waiting:
            self.lend(self.waiting.pop(), day)

    def give_away(self, day):
        return self.reserve(1, day)


def test_keys_and_summands_are_none():
    assert without_others(Library.give_back, (Library(), 1, 2, [3], "four"))[1:] == [None] * 4


def test_methods_that_are_not_decorated_may_take_long():
    """Only a decorated one looks at its own arguments."""
    assert without_others(Library.give_away, (Library(), 1))[1:] == [1]
    assert without_others(Library.give_back, (object(), 1, 2, [3], "four"))[1] == 1


def test_other_code_is_read_anew():
    def one(n, key):
        return key + n

    assert without_others(one, (1, 2)) == [None, None]
    one.__code__ = by_range.__code__
    assert without_others(one, (1, 2)) == [1, None]
