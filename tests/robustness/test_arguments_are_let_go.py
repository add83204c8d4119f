"""Nothing keeps the arguments of a call, or the object of a method, once the call has returned.

Regression: The trial that times the first calls kept the arguments of the call that was traced: a
large array, or a model, lived as long as the function.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import decorate

pytestmark = pytest.mark.usefixtures("small_heap")


def compiled(x: Any) -> Any:
    return (x * 2 + 1).sum()


def in_segments(x: Any) -> Any:
    y = x * 2
    print(end="")
    return y + 1


def with_elements(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            total += x[i]
    return total


def python_s(x: Any) -> Any:
    return [str(v) for v in x]


def raises(x: Any) -> Any:
    try:
        return x[len(x)]
    except IndexError:
        return x + 1


FUNCTIONS = (compiled, in_segments, with_elements, python_s, raises)
USES: dict[str, Callable[[Any, Any], Any]] = {
    "a call": lambda fused, x: fused(x),
    "ten calls": lambda fused, x: [fused(x) for _ in range(10)],
    "explain": lambda fused, x: str(fused.explain(x)),
    "check": lambda fused, x: str(fused.check(x)),
    "variants": lambda fused, x: (fused(x), str(fused.variants)),
}


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_arrays(function: Callable[..., Any], use: str) -> None:
    fused = decorate(function, jit=False, tiering=True)
    for _ in range(2):
        x = np.ones(1000)
        alive = weakref.ref(x)
        USES[use](fused, x)
        del x
        gc.collect()
        assert alive() is None


class Model:
    def __init__(self) -> None:
        self.weights = np.ones(1000)

    def weighed(self, x: Any) -> Any:
        return (self.weights * x).sum()

    def counted(self, x: Any) -> Any:
        n = 0
        for i in range(len(x)):
            if self.weights[i] > x[i]:
                n += 1
        return n


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("name", ["weighed", "counted"])
@pytest.mark.parametrize("use", USES)
def test_objects_of_methods(name: str, use: str) -> None:
    fused = decorate(getattr(Model, name), jit=False, tiering=True)
    own = type("Own", (Model,), {name: fused})
    x = np.zeros(1000)
    for _ in range(2):
        model = own()
        alive, weights = weakref.ref(model), weakref.ref(model.weights)
        USES[use](getattr(model, name), x)
        del model
        gc.collect()
        assert alive() is None
        assert weights() is None
