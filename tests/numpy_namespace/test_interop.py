"""Libraries take an `Array`: Python's own, and SciPy, pandas, scikit-learn and Matplotlib."""

from __future__ import annotations

import ctypes
import io
import math
import statistics
import struct
import sys

import numpy
import pytest

import fusejit.numpy as np

pytestmark = pytest.mark.usefixtures("everything_is_an_array")


def test_the_standard_library():
    x = np.arange(5.0)
    assert math.fsum(x) == sum(x) == 10
    assert statistics.mean(x.tolist()) == 2
    assert sorted(x, reverse=True)[0] == max(x) == 4
    assert struct.pack("d", x[2]) == struct.pack("d", 2.0)
    assert dict(enumerate(x))[3] == 3


def test_buffers():
    x = np.arange(4.0)
    if sys.version_info >= (3, 12):
        assert memoryview(x).tolist() == [0, 1, 2, 3]
    else:
        with pytest.raises(TypeError, match="bytes-like"):
            memoryview(x)
    x.data[1] = 7.0
    assert x[1] == 7
    assert bytes(x.data) == x.tobytes()
    pointer = ctypes.cast(x.ctypes.data, ctypes.POINTER(ctypes.c_double))
    pointer[2] = 9.0
    assert x[2] == 9


def test_dlpack_and_array_interface():
    x = np.arange(4.0)
    shared = numpy.from_dlpack(x)
    shared_too = numpy.asarray(type("Holder", (), {"__array_interface__": x.__array_interface__})())
    x[0] = 5
    assert shared[0] == shared_too[0] == 5


def test_files():
    x = np.arange(6).reshape(2, 3)
    file = io.BytesIO()
    np.save(file, x)
    file.seek(0)
    loaded = np.load(file)
    assert type(loaded) is np.Array
    assert loaded.tolist() == x.tolist()
    text = io.StringIO()
    np.savetxt(text, x, fmt="%d")
    assert np.loadtxt(io.StringIO(text.getvalue()), dtype=int).tolist() == x.tolist()
    file = io.BytesIO()
    np.savez(file, x=x)
    file.seek(0)
    assert np.load(file)["x"].tolist() == x.tolist()


def test_numpy_testing():
    x = np.arange(3.0)
    numpy.testing.assert_allclose(x, [0, 1, 2])
    with pytest.raises(AssertionError):
        numpy.testing.assert_array_equal(x, [0, 1, 3])


def test_nditer_and_vectorize():
    x = np.arange(3)
    with np.nditer(x, op_flags=["readwrite"]) as it:
        for element in it:
            element[...] = element * 2
    assert x.tolist() == [0, 2, 4]
    assert np.vectorize(lambda v: v + 1)(x).tolist() == [1, 3, 5]
    assert [index for index, _ in np.ndenumerate(x)] == [(0,), (1,), (2,)]
    assert np.apply_along_axis(lambda row: row[::-1], 0, x).tolist() == [4, 2, 0]


def test_numpy_s_own_generators_shuffle_elements():
    x = np.arange(20)
    with pytest.warns(UserWarning, match="not a subclass of 'Sequence'"):
        numpy.random.default_rng(0).shuffle(x)
    assert sorted(x) == list(range(20))


def test_scipy():
    linalg = pytest.importorskip("scipy.linalg")
    ndimage = pytest.importorskip("scipy.ndimage")
    special = pytest.importorskip("scipy.special")
    a = np.eye(3) * 4 + 1
    real = numpy.array(a)
    numpy.testing.assert_array_equal(linalg.inv(a), linalg.inv(real))
    numpy.testing.assert_array_equal(
        ndimage.gaussian_filter(a, 1), ndimage.gaussian_filter(real, 1)
    )
    numpy.testing.assert_array_equal(special.erf(a), special.erf(real))


def test_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": np.arange(3.0), "b": np.ones(3)})
    assert frame["a"].sum() == 3
    assert np.asarray(frame["a"]).tolist() == [0, 1, 2]
    assert (np.arange(3) + frame["a"]).tolist() == [0, 2, 4]


def test_scikit_learn():
    linear_model = pytest.importorskip("sklearn.linear_model")
    x = np.arange(10.0).reshape(10, 1)
    model = linear_model.LinearRegression().fit(x, x[:, 0] * 3)
    numpy.testing.assert_allclose(model.coef_, [3])


def test_matplotlib(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    x = np.linspace(0, 6, 50)
    figure, axes = pyplot.subplots(1, 3)
    [line] = axes[0].plot(x, np.sin(x))
    axes[1].imshow(np.arange(12.0).reshape(3, 4))
    counts, _, _ = axes[2].hist(x, bins=5)
    figure.savefig(tmp_path / "plot.png")
    pyplot.close(figure)
    numpy.testing.assert_array_equal(line.get_ydata(), numpy.sin(numpy.linspace(0, 6, 50)))
    assert counts.sum() == 50
    assert (tmp_path / "plot.png").stat().st_size > 1000
