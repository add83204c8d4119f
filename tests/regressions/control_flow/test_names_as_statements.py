"""Regression: a name that was a statement by itself raised nothing where it was not bound."""

import pytest

from fusejit_testing.oracle import decorate


def in_a_loop(n):
    for i in range(n):
        if i > 3:
            z = 1
        z  # noqa: B018
    return n


def in_a_tuple(n):
    for i in range(n):
        if i > 3:
            z = [1]
        (z, i)  # noqa: B018
    return n


def caught(n):
    found = []
    for i in range(n):
        try:
            found.append([1, 2, 3][i])
        except IndexError as error:
            late = error
        try:
            late  # noqa: B018
        except UnboundLocalError as error:
            found.append(type(error).__name__)
    return found


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("function", [in_a_loop, in_a_tuple, caught])
def test_as_python(function):
    compiled = decorate(function, jit=False, tiering=False)
    for n in (3, 9, 0):
        results = []
        for one in (compiled, function):
            try:
                results.append(one(n))
            except UnboundLocalError as error:
                results.append(str(error))
        assert results[0] == results[1]
