"""`fusejit.numpy` is NumPy but for functions that make arrays, inside and outside of traces."""

from __future__ import annotations

import numpy
import pytest

import fusejit.numpy as np
from fusejit import fuse_jit
from fusejit.numpy import arange, exp, linalg, zeros
from fusejit.numpy.creation import CREATORS

OWN = {*CREATORS, "mgrid", "ogrid", "random"}


def test_public_names_are_numpy_s_own_objects_but_for_creation():
    assert len(numpy.__all__) > 400
    assert {n for n in numpy.__all__ if getattr(np, n) is not getattr(numpy, n)} == (
        OWN & {*numpy.__all__}
    )


def test_names_imported_from_it():
    assert (exp, linalg) == (numpy.exp, numpy.linalg)
    originals = (zeros.__numpy_function__, arange.__numpy_function__)
    assert originals == (numpy.zeros, numpy.arange)


def test_submodules_and_names_outside_all():
    assert np.linalg.norm is numpy.linalg.norm
    assert np.__version__ == numpy.__version__
    assert np.__name__ == "fusejit.numpy"


def test_dir_and_all_list_what_numpy_has():
    assert set(dir(np)) >= set(dir(numpy))
    assert np.__all__ == numpy.__all__


def test_star_import_gives_numpy_s_names():
    names: dict[str, object] = {}
    exec("from fusejit.numpy import *", names)
    assert {n: names[n] for n in numpy.__all__} == {n: getattr(np, n) for n in numpy.__all__}


def test_unknown_names_get_numpy_s_own_message():
    with pytest.raises(AttributeError, match="no attribute 'no_such_function'"):
        _ = np.no_such_function
    assert not hasattr(np, "no_such_function")


@fuse_jit(fullgraph=True)
def through_the_module(x):
    out = np.zeros(len(x), dtype=np.float32)
    out[1:] = np.sqrt(x[:-1]) + np.pi
    return out


@fuse_jit(fullgraph=True)
def through_imported_names(x):
    return exp(x) + arange(len(x))


def the_same_in_numpy(x):
    out = numpy.zeros(len(x), dtype=numpy.float32)
    out[1:] = numpy.sqrt(x[:-1]) + numpy.pi
    return out


def test_in_a_fused_function():
    x = np.linspace(0, 5, 7, dtype=np.float32)
    numpy.testing.assert_array_equal(through_the_module(x), the_same_in_numpy(x))
    assert len(through_the_module.variants) == 1


def test_imported_names_in_a_fused_function():
    x = np.linspace(0, 5, 7)
    expected = numpy.exp(x) + numpy.arange(7)
    numpy.testing.assert_array_max_ulp(through_imported_names(x), expected, maxulp=8)
    assert len(through_imported_names.variants) == 1


def test_arrays_of_the_namespace_in_a_fused_function():
    with np.threshold(0):
        x = np.linspace(0, 5, 7, dtype=np.float32)
        result = through_the_module(x)
    assert type(x) is type(result) is np.Array
    numpy.testing.assert_array_equal(result, the_same_in_numpy(numpy.array(x)))


@fuse_jit(fullgraph=True)
def doubled_in_place(x):
    x *= 2
    return x


def test_a_fused_function_that_returns_its_argument():
    with np.threshold(0):
        x = np.arange(5.0)
    assert doubled_in_place(x) is x
    assert x.tolist() == [0, 2, 4, 6, 8]


def test_outside_of_fused_functions():
    numpy.testing.assert_array_equal(np.sort(np.array([3, 1, 2])), [1, 2, 3])
    assert isinstance(np.ones(2), np.ndarray)
