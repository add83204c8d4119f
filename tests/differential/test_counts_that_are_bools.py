"""Where Python asks for an integer: its own bools are integers, NumPy's are not."""

import numpy as np
import pytest

from fusejit_testing.oracle import compare_outcomes, decorate, run


def ranges(x, truth):
    n = 0
    for i in range(len(x)):
        for _ in range(truth(x[i] < 1)):
            n += 1
    return n


def enumerated(x, truth):
    n = 0
    for i, _ in enumerate(x, truth(x[0] < 1)):
        n += i
    return n


def repeated(x, truth):
    a = []
    for i in range(len(x)):
        a.append(i)
    return a * truth(x[0] < 1)


def repeated_in_place(x, truth):
    a = [1]
    for i in range(len(x)):
        a.append(i)
        a *= truth(x[i] < 5)
    return a


def texts(x, truth):
    s = ""
    for i in range(len(x)):
        s += "ab" * truth(x[i] < 1)
    return s


def as_it_is(obj):
    return obj


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("function", [ranges, enumerated, repeated, repeated_in_place, texts])
@pytest.mark.parametrize("truth", [bool, as_it_is])
def test_as_python(function, truth):
    def called(x):
        return function(x, truth)

    compiled = decorate(called, jit=False, tiering=False)
    for n in (3, 7):
        x = np.arange(n) * 0.3 + 0.1
        expected = run(called, (x,))
        compare_outcomes(expected, run(compiled, (x,)))
        assert truth is bool or "numpy.bool" in str(expected.error)


def test_the_numbers_of_enumerate_are_pythons():
    def places(x):
        found = []
        for i, _ in enumerate(x, x.astype(np.int8)[-1]):
            found.append(i)
        return found

    compiled = decorate(places, jit=False, tiering=False)
    for n in (3, 7):
        x = np.arange(n) * 0.9
        assert repr(compiled(x)) == repr(places(x))
