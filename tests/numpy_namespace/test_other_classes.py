"""An `Array` beside objects of other classes: results, their classes, and what these classes keep.

Each case is made by NumPy, by the namespace with recorded operations, and without; an ndarray and
an `Array` count as one class.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import fusejit.numpy as np

VALUES = (1.0, 2.0, 3.0)


class Plain:
    """Has values, and wraps results of ufuncs; its priority is that of a class without one."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return numpy.array(VALUES, dtype)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        result = type(self)()
        result.wraps = class_of(array), len(context[1]) if context else 0, return_scalar
        result.values = numpy.asarray(array).tolist()
        return result


class First(Plain):
    __array_priority__ = 100.0


class Last(Plain):
    __array_priority__ = -5.0


class Reflected(First):
    """Its operators come first."""

    def __radd__(self, other: Any) -> Any:
        return "radd", class_of(other)

    def __gt__(self, other: Any) -> Any:
        return "gt", class_of(other)

    def __iadd__(self, other: Any) -> Any:
        return "iadd", class_of(other)


class Late(Reflected):
    __array_priority__ = -100.0


class NoUfuncs(Reflected):
    __array_ufunc__ = None


class Ufuncs(Plain):
    """Computes ufuncs itself."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return ufunc.__name__, method, [class_of(x) for x in inputs], sorted(kwargs)


class Sub(numpy.ndarray):
    __array_priority__ = 15.0

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return array.view(Sub)


class Lower(numpy.ndarray):
    __array_priority__ = -15.0


class WithSuper(numpy.ndarray):
    """Computes ufuncs by ndarray, as NumPy's documentation shows it."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        plain = [x.view(numpy.ndarray) if isinstance(x, WithSuper) else x for x in inputs]
        return super().__array_ufunc__(ufunc, method, *plain, **kwargs)


OBJECTS = (Plain, First, Last, Reflected, Late, NoUfuncs, Ufuncs)
SUBCLASSES = (Sub, Lower, WithSuper, numpy.matrix, numpy.ma.MaskedArray)

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    **{f"x {name} o": getattr(operator, name) for name in ("add", "sub", "gt", "eq", "pow")},
    **{f"x {name} o": getattr(operator, name) for name in ("iadd", "matmul")},
    "divmod(x, o)": divmod,
    "o + x": lambda x, o: o + x,
    "o > x": lambda x, o: o > x,
    "o += x": lambda x, o: operator.iadd(o, x),
    "add(x, o)": numpy.add,
    "add(o, x)": lambda x, o: numpy.add(o, x),
    "add(x, 1, out=o)": lambda x, o: numpy.add(x, 1, out=o),
    "add(o, 1, out=x)": lambda x, o: numpy.add(o, 1, out=x),
    "add(x, o, subok=False)": lambda x, o: numpy.add(x, o, subok=False),
    "modf(x, out=(o, None))": lambda x, o: numpy.modf(x, out=(o, None)),
    "modf(o, out=(x, None))": lambda x, o: numpy.modf(o, out=(x, None)),
    "multiply.outer(x, o)": numpy.multiply.outer,
    "multiply.outer(o, x)": lambda x, o: numpy.multiply.outer(o, x),
    "add.accumulate(o, out=x)": lambda x, o: numpy.add.accumulate(o, out=x),
    "add.reduce(x, out=o)": lambda x, o: numpy.add.reduce(x, out=o, keepdims=True),
    "x.clip(o, 2)": lambda x, o: x.clip(o, 2),
    "x.clip(0, 1, out=o)": lambda x, o: x.clip(0, 1, out=o),
    "x.dot(o)": lambda x, o: x.dot(o),
    "dot(o, x)": lambda x, o: numpy.dot(o, x),
    "concatenate": lambda x, o: numpy.concatenate([x, o]),
    "where": lambda x, o: numpy.where(x > 1, x, o),
    "kron(o, x)": lambda x, o: numpy.kron(o, x),
    "fix(x, out=o)": lambda x, o: numpy.fix(x, out=o),
    "x.__array_wrap__": lambda x, o: x.__array_wrap__(numpy.asarray(o)),
    "x[:] = o": lambda x, o: operator.setitem(x, slice(None), o),
    "__array_priority__": lambda x, o: x.__array_priority__,
}


def class_of(value: Any) -> str:
    """Return the name of a class, where an `Array` is an ndarray."""
    return "ndarray" if type(value) is np.Array else type(value).__name__


def made(kind: Any) -> Any:
    return numpy.array(VALUES).view(kind) if issubclass(kind, numpy.ndarray) else kind()


def described(result: Any) -> Any:
    """Return a result as something that can be compared."""
    if isinstance(result, tuple):
        return tuple(map(described, result))
    if isinstance(result, Plain):
        return class_of(result), vars(result)
    if isinstance(result, numpy.ndarray):
        return class_of(result), result.dtype, numpy.asarray(result).tolist()
    return result


def outcome(call: Callable[[Any, Any], Any], namespace: Any, kind: Any) -> Any:
    """Return the class of the error, or the result and the written arrays."""
    x = namespace.array([1.0, 2.0, 4.0]) + 0
    other = made(kind)
    error, result = None, None
    try:
        result = call(x, other)
    except Exception as raised:
        error = type(raised)
    return error, described(result), result is x, result is other, x.tolist(), described(other)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", OBJECTS + SUBCLASSES)
def test_results_are_of_numpy_s_classes(kind: Any, name: str) -> None:
    by_numpy = outcome(CALLS[name], numpy, kind)
    for most_operations in (64, 0):
        with np.threshold(0), np.window(most_operations):
            assert outcome(CALLS[name], np, kind) == by_numpy


class Keeps(Plain):
    """Keeps what it is handed by ``__array_wrap__``."""

    kept: tuple[Any, ...] = ()

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        self.kept = context[1]
        return 1.0


class KeepsOperands(Keeps):
    """Keeps what it is handed by ``__array_ufunc__``."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        self.kept = (*inputs, *kwargs.get("out", ()))
        return 1.0


KEEPING: dict[str, Callable[[Any, Any], Any]] = {
    **{name: getattr(operator, name) for name in ("add", "pow", "matmul", "lt", "iadd")},
    "divmod": divmod,
    "ufunc": numpy.add,
    "where=": lambda x, o: numpy.add(x, 1, where=o, out=x),
    "clip": lambda x, o: x.clip(o, 2),
    "function": lambda x, o: numpy.clip(x, o, 2),
    "method": lambda x, o: x.sum(out=o),
}


@pytest.mark.parametrize("name", KEEPING)
@pytest.mark.parametrize("kind", [Keeps, KeepsOperands])
def test_what_another_class_keeps_is_never_pending(kind: Any, name: str) -> None:
    """`x += 5` was recorded after `x + o` had handed the memory of x to o, which saw old values."""
    with np.threshold(0), np.window(64):
        x = np.array([1.0, 2.0, 3.0]) + 0
        other = kind()
        try:
            KEEPING[name](x, other)
        except TypeError:
            assert not other.kept  # NumPy hands it nothing there
        x += 5
        for kept in other.kept:
            if type(kept) is numpy.ndarray and kept.shape:
                assert kept.tolist() == [6.0, 7.0, 8.0]


def test_lists_do_not_end_deferral() -> None:
    """`np.add(x, [..])` counted as given away to another class, and no later operation waited."""
    with np.threshold(0), np.window(64):
        x = np.ones(3) + 0
        np.add(x, [1, 2, 3])
        assert not x._is_foreign


# ----------------------------------------------------------------------- ordinary ndarrays and out=
_IN_PYTHON = "all any clip max mean min prod std sum var"
_IN_C = "argmax argmin choose compress cumprod cumsum dot round take trace"
_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "choose": ([1, 2, 3],),
    "clip": (0, 1),
    "compress": ([True, False],),
    "dot": ([1, 2],),
    "take": ([0, 1, 1],),
}


def _written(name: str, call: Callable[..., Any]) -> tuple[Any, Any, Any]:
    """Return NumPy's result, that of a call with ``out=`` an `Array`, and the `Array`."""
    real = numpy.array([[0, 1], [2, 1]])
    expected = numpy.asarray(getattr(real, name)(*_ARGUMENTS.get(name, ())))
    with np.threshold(0):
        out = np.zeros((1, *expected.shape), expected.dtype)[0, ...]
    return expected, call(real, *_ARGUMENTS.get(name, ()), out=out), out


@pytest.mark.parametrize("name", (_IN_PYTHON + " " + _IN_C).split())
def test_functions_write_an_array_from_an_ndarray(name: str) -> None:
    def function(a: Any, *args: Any, out: Any) -> Any:
        if name == "compress":
            return numpy.compress(*args, a, out=out)
        return getattr(numpy, name)(a, *args, out=out)

    expected, result, out = _written(name, function)
    assert result is out
    assert type(out) is np.Array
    assert (out.dtype, out.tolist()) == (expected.dtype, expected.tolist())


@pytest.mark.parametrize("name", _IN_PYTHON.split())
def test_methods_of_an_ndarray_write_an_array(name: str) -> None:
    expected, result, out = _written(name, getattr(numpy.ndarray, name))
    assert result is out
    assert (out.dtype, out.tolist()) == (expected.dtype, expected.tolist())


@pytest.mark.parametrize("name", _IN_C.split())
def test_methods_in_c_refuse_an_array(name: str) -> None:
    """NumPy asks for the struct of an ndarray there. docs/numpy.md names the function instead."""
    with pytest.raises(TypeError, match="must be an array"):
        _written(name, getattr(numpy.ndarray, name))


# ------------------------------------------------------------------------------------- full_like
FORMS: list[Callable[[Any, Any, Any], Any]] = [
    lambda f, x, v: f(x, 3),
    lambda f, x, v: f(x, v),
    lambda f, x, v: f(x, fill_value=v),
    lambda f, x, v: f(a=x, fill_value=v),
    lambda f, x, v: f(fill_value=v, a=x),
    lambda f, x, v: f(x, 3, float),
    lambda f, x, v: f(x, 3.7, "i2", "F"),
    lambda f, x, v: f(x.T, 3, None, "K", False),
    lambda f, x, v: f(x, 3, float, "F", False, (4, 2)),
    lambda f, x, v: f(x, v, shape=(2, 3), dtype=complex, order="A"),
    lambda f, x, v: f(x, 3, device="cpu"),
    lambda f, x, v: f(numpy.arange(3), v),
    lambda f, x, v: f(numpy.arange(3), fill_value=v),
    lambda f, x, v: f(a=numpy.arange(3), fill_value=v[::-1]),
    lambda f, x, v: f([v, v], v),
    lambda f, x, v: f(a=[v, v], fill_value=[v, v]),
    lambda f, x, v: f(v, v[:1]),
    lambda f, x, v: f(3, v[0]),
    lambda f, x, v: f(made(Sub), v),
    lambda f, x, v: f(x),
    lambda f, x, v: f(),
    lambda f, x, v: f(x, 3, device="gpu"),
    lambda f, x, v: f(x, v, shape=(2, 2)),
    lambda f, x, v: f(x, 3, typo=1),
]


@pytest.mark.parametrize("form", range(len(FORMS)))
def test_full_like(form: int) -> None:
    def result(namespace: Any, function: Any) -> Any:
        x = namespace.arange(6).reshape(2, 3)
        v = namespace.array([1.5, 2, 3]) + 0
        try:
            made = FORMS[form](function, x, v)
        except Exception as error:
            return type(error), str(error)
        return described(made), made.strides

    by_numpy = result(numpy, numpy.full_like)
    for most_operations in (64, 0):
        with np.threshold(0), np.window(most_operations):
            assert result(np, np.full_like) == by_numpy
            assert result(np, numpy.full_like) == by_numpy


# ------------------------------------------------------------------------------------ signatures
METHODS = [
    name
    for name in sorted(vars(np.Array).keys() & vars(numpy.ndarray).keys())
    if callable(getattr(numpy.ndarray, name)) and name not in ("__init__", "__dir__", "__hash__")
]


@pytest.mark.parametrize("name", METHODS)
def test_methods_have_numpy_s_signature(name: str) -> None:
    """`inspect.signature(x.to_device)` was (*args, **kwargs)."""
    try:
        expected = inspect.signature(getattr(numpy.ndarray, name))
    except ValueError:
        pytest.skip("this version of NumPy says nothing")
    assert inspect.signature(getattr(np.Array, name)) == expected


DEVICE_CALLS = (
    "x.to_device('cpu')",
    "x.to_device('cpu', stream=None)",
    "x.to_device('cpu', stream=1)",
    "x.to_device('gpu')",
    "x.to_device(device='cpu')",
    "x.to_device()",
    "x.__dlpack_device__()",
    "x.__dlpack__(None)",
    "x.__dlpack__(stream=1)",
    "x.__dlpack__(dl_device=(2, 0))",
    "numpy.from_dlpack(x)",
    "numpy.from_dlpack(x, device='cpu', copy=True)",
    "numpy.from_dlpack(x.T, copy=False)",
    "type(x.__dlpack__(stream=None, max_version=(1, 0), dl_device=(1, 0), copy=True))",
)


@pytest.mark.parametrize("call", DEVICE_CALLS)
def test_devices(call: str) -> None:
    def result(namespace: Any) -> Any:
        x = namespace.arange(6.0).reshape(2, 3) + 1
        try:
            return described(eval(call, {"x": x, "numpy": numpy}))
        except Exception as error:
            return type(error), str(error)

    by_numpy = result(numpy)
    for most_operations in (64, 0):
        with np.threshold(0), np.window(most_operations):
            assert result(np) == by_numpy
