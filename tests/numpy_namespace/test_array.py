"""`Array`: which results are one, identity and aliasing, and the protocols of Python and NumPy."""

from __future__ import annotations

import copy
import operator
import os
import pickle
import subprocess
import sys
from typing import Any

import numpy
import pytest

import fusejit.numpy as np
from fusejit.numpy import method_table as table

small = pytest.mark.usefixtures("everything_is_an_array")


# -------------------------------------------------------------------------- which results are one
def test_large_arrays_are_arrays_and_small_ones_are_numpy_s():
    assert type(np.zeros(4096)) is np.Array
    assert type(np.zeros(4095)) is numpy.ndarray
    assert type(np.random.default_rng(0).random(4096)) is np.Array
    assert type(np.random.rand(10)) is numpy.ndarray


def test_results_of_operations():
    x = np.ones((64, 64))
    assert type(x + 1) is type(np.exp(x)) is type(x[1:2]) is type(x.T) is np.Array
    assert type(x.sum()) is numpy.float64
    assert type(x.sum(axis=0)) is numpy.ndarray  # small and new
    assert type(x[3, 4]) is numpy.float64
    assert type(x.astype(object)) is numpy.ndarray


def test_eager_makes_ndarrays():
    x = np.ones(5000)
    with np.eager():
        assert type(np.ones(5000)) is type(x + 1) is numpy.ndarray
        assert type(x[1:]) is np.Array
    assert type(x + 1) is np.Array


@pytest.mark.parametrize(
    ("variables", "small", "large"),
    [
        ({}, "ndarray", "Array"),
        ({"FUSEJIT_LAZY": "0"}, "ndarray", "ndarray"),
        ({"FUSEJIT_LAZY": "1"}, "ndarray", "Array"),
        ({"FUSEJIT_LAZY": "1", "FUSEJIT_LAZY_THRESHOLD": "8"}, "Array", "Array"),
    ],
)
def test_environment_variables(variables, small, large):
    code = "import fusejit.numpy as np; print(*(type(np.zeros(n)).__name__ for n in (3, 2**17)))"
    environment = {k: v for k, v in os.environ.items() if k != "FUSEJIT_LAZY"} | variables
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)
    assert done.stdout.decode().split() == [small, large]


def test_without_the_setting_every_name_is_numpy_s_own_object():
    code = (
        "import numpy, fusejit.numpy as np\n"
        "print([n for n in numpy.__all__ if getattr(np, n) is not getattr(numpy, n)])"
    )
    environment = dict(os.environ) | {"FUSEJIT_LAZY": "0"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)
    assert done.stdout.decode().strip() == "[]"


def test_functions_of_callers_keep_what_they_return():
    """Arrays that a caller's function returns through NumPy stay what they are."""
    theirs = numpy.arange(5000.0)
    assert np.fromfunction(lambda i: theirs, (5,)) is theirs
    assert np.asarray(theirs) is theirs

    class Holder:
        def __array__(self, dtype=None, copy=None):
            return theirs

    assert np.asarray(Holder()) is theirs
    out = numpy.linspace(0, 1, 5000)  # a view of memory that nothing else refers to
    x = np.ones(5000)
    assert np.add(x, 1, out=out) is out


@small
def test_dtypes_that_are_not_numbers_stay_numpy_s():
    assert type(np.array(["a", "b"])) is numpy.ndarray
    assert type(np.zeros(3, dtype=object)) is numpy.ndarray
    assert type(np.zeros(3, dtype="M8[s]")) is numpy.ndarray


# ------------------------------------------------------------------------------------- the table
def test_every_attribute_of_ndarray_is_in_the_table():
    names = {
        *(*table.METHODS, *table.OF_SHAPE, *table.VIEWS, *table.UNARY, *table.OPERATORS),
        *(
            *table.REDUCTIONS,
            *table.FACTS,
            *table.VIEW_ATTRIBUTES,
            *table.ATTRIBUTES,
            *table.SPECIAL,
        ),
    }
    assert {*dir(numpy.ndarray)} <= names
    assert all(hasattr(np.Array, n) for n in dir(numpy.ndarray) if not n.startswith("_"))


@small
def test_documentation_is_numpy_s():
    assert np.zeros(3).sum.__doc__ == numpy.ndarray.sum.__doc__
    assert np.zeros.__doc__ == numpy.zeros.__doc__


def test_functions_as_attributes_of_classes_are_no_methods():
    class Holder:
        array = np.array
        random = np.random.rand

    assert Holder().array([1, 2]).tolist() == [1, 2]
    assert Holder().random(3).shape == (3,)


# -------------------------------------------------------------------------- identity and aliasing
@small
def test_in_place_operators_change_all_names():
    a = np.arange(4)
    b = a
    b += 1
    assert b is a
    assert a.tolist() == [1, 2, 3, 4]


@small
def test_views_write_through_and_know_their_base():
    a = np.arange(6)
    v = a[1:4].reshape(3, 1)
    v[...] = 9
    assert a.tolist() == [0, 9, 9, 9, 4, 5]
    assert v.base is a
    assert v.T.base is a
    assert a.base is None
    assert np.shares_memory(a, v)
    assert not np.shares_memory(a, a.copy())


@small
def test_functions_return_the_operand_itself():
    a = np.arange(6.0)
    assert np.asarray(a) is a
    assert np.atleast_1d(a) is a
    assert np.add(a, 1, out=a) is a
    assert a.real is a
    assert np.ascontiguousarray(a) is a
    assert np.asarray(a, dtype=int) is not a
    element = {"key": [1, (2, 3)]}
    assert np.array([element, None])[0] is element


@small
def test_foreign_arrays_are_written():
    x = np.arange(3.0)
    real = numpy.zeros(3)
    real += x
    np.copyto(real[1:], x[1:] * 10)
    real[0] = x[2]
    assert real.tolist() == [2, 10, 20]
    real[x > 1] = x[:1]
    assert real.tolist() == [2, 10, 0]


@small
def test_memory_is_shared_with_ndarrays_both_ways():
    x = np.zeros(3)
    real = numpy.asarray(x)
    real[0] = 1
    x[1] = 2
    assert x.tolist() == real.tolist() == [1, 2, 0]
    assert numpy.array(x) is not real
    assert not numpy.shares_memory(numpy.array(x), x)


@small
def test_resize_refuses_as_numpy_does():
    x = np.arange(3)
    x.resize(5)
    assert x.tolist() == [0, 1, 2, 0, 0]
    view = x[1:]
    with pytest.raises(ValueError, match="cannot resize"):
        x.resize(9)
    del view
    second = x
    with pytest.raises(ValueError, match="cannot resize an array that references"):
        x.resize(9)
    second.resize(5)
    second.resize((2, 2), refcheck=False)
    assert x.shape == (2, 2)


@small
def test_flat():
    x = np.arange(6).reshape(2, 3)
    x.flat[x.ravel() > 3] = 0
    x.flat[0] = 7
    assert x.tolist() == [[7, 1, 2], [3, 0, 0]]
    assert isinstance(x.flat, numpy.flatiter)
    assert numpy.shares_memory(x.flat.base, x)
    assert list(x.flat) == [7, 1, 2, 3, 0, 0]
    assert len(x.flat) == 6
    assert numpy.asarray(x.flat).tolist() == [7, 1, 2, 3, 0, 0]
    assert (x.flat == x.ravel()).all()
    x.flat = [1, 2]
    assert x.tolist() == [[1, 2, 1], [2, 1, 2]]


# -------------------------------------------------------------------------------------- protocols
@small
def test_python_protocols():
    x = np.array([[1.5, 2], [3, 4]])
    assert isinstance(x, np.ndarray)
    assert (len(x), bool(x[0, :1]), float(x[:1, 0][0]), 3.0 in x, 7 in x) == (
        2,
        True,
        1.5,
        True,
        False,
    )
    assert repr(x) == repr(numpy.array(x))
    assert f"{x[0, 0]:.2f} {x}" == f"1.50 {numpy.array(x)}"
    assert [type(row) for row in x] == [np.Array, np.Array]
    assert [type(number) for number in x[0]] == [numpy.float64] * 2
    with pytest.raises(ValueError, match="truth value of an array"):
        bool(x)
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)
    with pytest.raises(AttributeError, match=r"'numpy.ndarray' object has no attribute 'nothing'"):
        _ = x.nothing
    with pytest.raises(TypeError, match="iteration over a 0-d array"):
        iter(x[0, :1].reshape(()))
    assert range(5)[np.arange(3)[2:].reshape(())] == 2


@small
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_are_ndarrays(protocol):
    x = np.arange(6).reshape(2, 3)[:, ::2]
    restored = pickle.loads(pickle.dumps(x, protocol))
    assert type(restored) is numpy.ndarray
    assert restored.tolist() == x.tolist()


@small
def test_copies():
    x = np.arange(3)
    for copied in (copy.copy(x), copy.deepcopy(x), x.copy(), np.copy(x), np.array(x)):
        assert type(copied) is np.Array
        assert not np.shares_memory(copied, x)
    assert copy.deepcopy([x, x])[0].tolist() == [0, 1, 2]


@small
def test_array_function_with_other_classes():
    class Other:
        def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            return func.__name__, [t.__name__ for t in types]

        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
            return ufunc.__name__, method, [type(i).__name__ for i in inputs]

    x = np.arange(3)
    assert np.concatenate([x, Other()])[0] == "concatenate"
    assert x + Other() == ("add", "__call__", ["ndarray", "Other"])
    assert np.add(Other(), x) == ("add", "__call__", ["Other", "Array"])

    class Refuses:
        __array_ufunc__ = None

        def __radd__(self, other: Any) -> str:
            return "refused"

    assert x + Refuses() == "refused"


@small
def test_subclasses_and_masked_arrays():
    x = np.arange(3.0)
    masked = numpy.ma.masked_array([1.0, 2, 3], [False, True, False])
    assert type(x + masked) is type(masked + x) is numpy.ma.MaskedArray
    assert type(x.view(np.recarray)) is np.recarray
    assert type(x.view(type(x))) is np.Array

    class Lines(list[str]):
        def write(self, text: str) -> None:
            self.append(text)

    lines = Lines()
    np.savetxt(lines, x)  # type: ignore[type-var]
    assert len(lines) == 3


@small
@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_matrices():
    product = np.matrix([[1.0, 2], [3, 4]]) * np.ones((2, 1))
    assert type(product) is np.matrix
    assert product.tolist() == [[3], [7]]
    product = np.ones((1, 2)) * np.matrix([[1.0, 2], [3, 4]])
    assert product.tolist() == [[4, 6]]


@small
@pytest.mark.parametrize(
    "name", [n for n in table.OPERATORS if n[2] not in "ri" or n == "__rshift__"]
)
def test_operators_of_subclasses_come_first(name):
    """A subclass of ndarray on the right, whose class has all reflected operators."""

    class Right(numpy.ndarray):
        pass

    for operator_name in table.OPERATORS:
        answer = lambda self, other, called=operator_name: called  # noqa: E731
        setattr(Right, operator_name, answer)
    right = numpy.arange(1, 4).view(Right)
    apply = {"__divmod__": divmod}.get(name) or getattr(operator, name)
    assert apply(np.arange(1, 4), right) == apply(numpy.arange(1, 4), right)


def raised(case: Any, namespace: Any, x: Any) -> tuple[str, str]:
    try:
        case(namespace, x)
    except Exception as error:
        return type(error).__name__, str(error)
    raise AssertionError("the case raises nothing")


@small
def test_errors_are_numpy_s():
    x = np.arange(3)
    cases = [
        lambda np, x: x + np.ones(4),
        lambda np, x: x.reshape(2, 2),
        lambda np, x: x[5],
        lambda np, x: np.add(x, 1.5, out=x),
        lambda np, x: np.concatenate([x, np.ones((2, 2))]),
        lambda np, x: np.add(1, 2, 3, 4, x),
        lambda np, x: x.astype("nonsense"),
        lambda np, x: np.zeros(-1),
    ]
    for case in cases:
        assert raised(case, np, x) == raised(case, numpy, numpy.arange(3))


# ------------------------------------------------------------------------------------- randomness
def test_draws_are_numpy_s():
    ours, numpys = np.random.default_rng(7), numpy.random.default_rng(7)
    for draw in ("normal", "random", "standard_normal", "exponential"):
        numpy.testing.assert_array_equal(
            getattr(ours, draw)(size=5000), getattr(numpys, draw)(size=5000)
        )
    assert isinstance(ours, np.random.Generator)
    assert isinstance(ours, numpy.random.Generator)
    assert isinstance(numpys, np.random.Generator)
    assert not isinstance(numpys, np.random.RandomState)
    np.random.seed(3)
    drawn = np.random.rand(70, 70)
    numpy.random.seed(3)
    numpy.testing.assert_array_equal(drawn, numpy.random.rand(70, 70))
    assert type(drawn) is np.Array


@small
def test_shuffling_writes_the_array():
    x, real = np.arange(20).reshape(10, 2), numpy.arange(20).reshape(10, 2)
    np.random.default_rng(1).shuffle(x)
    numpy.random.default_rng(1).shuffle(real)
    assert x.tolist() == real.tolist()
    np.random.seed(1)
    np.random.shuffle(x)
    numpy.random.seed(1)
    numpy.random.shuffle(real)
    assert x.tolist() == real.tolist()


def test_generators_can_be_pickled_and_spawned():
    rng = np.random.default_rng(5)
    again = pickle.loads(pickle.dumps(rng))
    assert type(again) is type(rng)
    assert again.random() == rng.random()
    assert [type(child) for child in rng.spawn(2)] == [np.random.Generator] * 2
    state = np.random.RandomState(5)
    again = pickle.loads(pickle.dumps(state))
    assert type(again) is np.random.RandomState
    assert again.random() == state.random()
    assert np.random.default_rng(rng) is rng


def test_a_report_counts_operations():
    np.report().clear()
    with np.window(64):
        x = np.ones(5000)
        x += x * 2
        x.sum()
        x.tolist()
    report = np.report()
    assert report.operations == {"tolist": 1}
    assert (report.recorded, report.num_left_out) == (3, 0)
    assert report.flushes == {"a value is needed": 1}
    assert "3 operations recorded" in str(report)


def test_a_report_tells_of_each_line():
    np.report().clear()
    with np.window(64):
        x = np.ones(5000)
        x += x * 2
        y = x.sum()
        np.sort(x)
        del y
    first, second, third = str(np.report()).splitlines()[-6::2]
    assert [text.partition(": ")[2] for text in (first, second, third)] == [
        "x += x * 2",
        "y = x.sum()",
        "np.sort(x)",
    ]
    counts = str(np.report()).splitlines()[-5::2]
    assert counts == [
        "  2 recorded, 0 of them ran in compiled windows",
        "  1 recorded, 0 of them ran in compiled windows; a flush: a value is needed",
        "  1 at once: sort",
    ]
