"""A named elementwise op compiles to the kernel of the NumPy function that it stands for."""

import numpy as np
import pytest

import fusejit.linalg as L
from fusejit import fuse_jit

X = np.linspace(0.1, 0.9, 7)

SAME = {
    "abs": (lambda a: np.abs(a), [X]),
    "ceil": (lambda a: np.ceil(a), [X]),
    "exp": (lambda a: np.exp(a), [X]),
    "floor": (lambda a: np.floor(a), [X]),
    "log": (lambda a: np.log(a), [X]),
    "negf": (lambda a: -a, [X]),
    "reciprocal": (lambda a: 1.0 / a, [X]),
    "rsqrt": (lambda a: 1.0 / np.sqrt(a), [X]),
    "sqrt": (lambda a: np.sqrt(a), [X]),
    "square": (lambda a: np.square(a), [X]),
    "tanh": (lambda a: np.tanh(a), [X]),
    "copy": (lambda a: a.copy(), [X]),
    "add": (lambda a, b: a + b, [X, X + 1]),
    "sub": (lambda a, b: a - b, [X, X + 1]),
    "mul": (lambda a, b: a * b, [X, X + 1]),
    "div": (lambda a, b: a / b, [X, X + 1]),
    "max": (lambda a, b: np.maximum(a, b), [X, X + 1]),
    "min": (lambda a, b: np.minimum(a, b), [X, X + 1]),
    "powf": (lambda a, b: a**b, [X, X + 1]),
    "select": (lambda c, a, b: np.where(c, a, b), [X > 0.5, X, X + 1]),
}


def kernel(function, arguments):
    source = function.trace(*arguments).fuse().lower().source
    return [line for line in source.splitlines() if not line.lstrip().startswith("#")]


@pytest.mark.parametrize("name", SAME)
def test_the_kernel_is_that_of_numpy_s_function(name):
    function, arguments = SAME[name]
    assert kernel(getattr(L, name), arguments) == kernel(fuse_jit(function), arguments)
