"""RecursionError for an ndarray subclass: reading `dtype` ran its decorated property.

Nothing of fusejit may run code of an argument's class before the user's function does.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit.api import FuseWarning, fuse_jit
from fusejit_testing.oracle import no_faults

LOG: list[str] = []
_ALL = "__eq__ __ne__ __hash__ __lt__ __gt__ __repr__ __str__ __format__ __reduce_ex__"
_NUMBERS = "__int__ __float__ __index__ __bool__ __abs__ __complex__ __add__ hex"
_CONTAINERS = "__len__ __iter__ __contains__ __getitem__ items keys values hex"


def telling(base: type, names: str, attributes: str = "") -> type:
    """A subclass whose methods and attributes say that they were asked."""

    def method(name: str) -> Callable[..., Any]:
        def told(self: Any, *args: Any) -> Any:
            LOG.append(name)
            return getattr(base, name)(self, *args)

        return told

    def attribute(name: str) -> property:
        def told(self: Any) -> Any:
            LOG.append(name)
            return getattr(base, name).__get__(self)

        return property(told)

    members: dict[str, Any] = {n: method(n) for n in names.split() if hasattr(base, n)}
    members |= {name: attribute(name) for name in attributes.split()}
    return type(f"Telling{base.__name__}", (base,), members)


class Meta(type):
    def __eq__(cls, other: object) -> bool:
        LOG.append("__eq__ of a class")
        return cls is other

    def __hash__(cls) -> int:
        LOG.append("__hash__ of a class")
        return 1

    def __getattribute__(cls, name: str) -> Any:
        LOG.append(f"{name} of a class")
        return type.__getattribute__(cls, name)

    def __instancecheck__(cls, obj: object) -> bool:
        LOG.append("isinstance")
        return False


class WithMeta(metaclass=Meta):
    pass


class Pretending:
    """A proxy whose object is not there yet."""

    @property
    def __class__(self) -> Any:
        LOG.append("__class__")
        raise RuntimeError("no object")

    def __getattr__(self, name: str) -> Any:
        LOG.append(name)
        raise AttributeError(name)


_ARRAYS = "dtype shape ndim size flags strides nbytes T base data"
VALUES = {
    "int": telling(int, f"{_ALL} {_NUMBERS}")(3),
    "float": telling(float, f"{_ALL} {_NUMBERS}")(3),
    "complex": telling(complex, f"{_ALL} {_NUMBERS}")(3),
    "str": telling(str, f"{_ALL} {_CONTAINERS}")("abc"),
    "bytes": telling(bytes, f"{_ALL} {_CONTAINERS}")(b"abc"),
    "tuple": telling(tuple, f"{_ALL} {_CONTAINERS}")((1, 2)),
    "list": telling(list, f"{_ALL} {_CONTAINERS}".replace("__hash__", ""))([1, 2]),
    "dict": telling(dict, f"{_ALL} {_CONTAINERS}".replace("__hash__", ""))(a=1),
    "object": telling(object, _ALL)(),
    "float64": telling(np.float64, f"{_ALL} {_NUMBERS}", "dtype shape ndim real")(3),
    "array": np.ones(3).view(telling(np.ndarray, "__len__ __iter__ __repr__", _ARRAYS)),
    "metaclass": WithMeta(),
    "class": WithMeta,
    "proxy": Pretending(),
}
HOLDERS: dict[str, Callable[[Any], Any]] = {
    "alone": lambda v: v,
    "in a list": lambda v: [v],
    "in a tuple": lambda v: (1, (v,)),
    "in a dict": lambda v: {"a": v},
}


def elementwise(x: Any, g: Any) -> Any:
    return x * 2 + 1


def loop(x: Any, g: Any) -> Any:
    total = 0.0
    for v in x:
        total += v
    return total


def raising(x: Any, g: Any) -> Any:
    return x + np.ones(len(x) + 1)


def declined(x: Any, g: Any) -> Any:
    return x.astype(object)


@pytest.mark.parametrize("tiering", ["0", "1"])
@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("value", VALUES)
def test_nothing_is_asked_of_an_argument(
    value: str, holder: str, tiering: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through tables, guards, traces and launchers; no function here reads the argument."""
    monkeypatch.setenv("FUSEJIT_TIERING", tiering)
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    given = HOLDERS[holder](VALUES[value])
    with warnings.catch_warnings(), no_faults() as folder:
        warnings.simplefilter("ignore", FuseWarning)
        monkeypatch.setenv("FUSEJIT_DUMP_DIR", str(folder))
        for function in (elementwise, loop, raising, declined):
            decorated = fuse_jit(function)
            LOG.clear()
            for x in (np.ones(3), np.ones(2, np.float32), np.ones((2, 2))) * 12:
                with contextlib.suppress(ValueError):
                    decorated(x, given)
            assert not LOG, f"{function.__name__}: {sorted(set(LOG))}"


def test_a_property_that_is_decorated() -> None:
    """The reported case: the property is called to say of what kind its own call is."""

    class Tagged(np.ndarray):
        @property
        @fuse_jit
        def dtype(self) -> Any:  # type: ignore[override]
            return np.ndarray.dtype.__get__(self)

    x = np.ones(3).view(Tagged)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FuseWarning)
        for _ in range(20):
            assert x.dtype == np.float64
            assert fuse_jit(lambda a: np.asarray(a) + 1)(x)[0] == 2
