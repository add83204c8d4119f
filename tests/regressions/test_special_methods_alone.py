"""Special methods of the user's classes, each in a class that has no other.

What `abs` of an object gave was computed once, by Python, and was a constant of the variant: the
watch knew the names of conversions, and ``__abs__``, ``__round__``, ``__floor__`` ... were not among
them.
"""

from __future__ import annotations

import linecache
import math
import operator
from typing import Any

import numpy as np
import pytest

from fusejit.testing.oracle import decorate

pytestmark = pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")

UNARY = {
    "abs": "abs(d)",
    "round": "round(d)",
    "floor": "math.floor(d)",
    "ceil": "math.ceil(d)",
    "trunc": "math.trunc(d)",
    "neg": "-d",
    "pos": "+d",
    "invert": "~d",
    "len": "len(d)",
    "bool": "1 if d else 2",
    "int": "int(d)",
    "float": "float(d)",
    "index": "operator.index(d)",
    "complex": "complex(d)",
    "str": "str(d)",
    "repr": "repr(d)",
    "hash": "hash(d)",
    "iter": "list(d)",
    "reversed": "list(reversed(d))",
    "next": "next(d)",
    "call": "d()",
    "bytes": "bytes(d)",
    "array": "np.asarray(d).sum()",
    "format": "format(d)",
    "enter": "entered(d)",
}
BINARY = {
    **{n: f"d {s} 3" for n, s in zip(
        "add sub mul matmul truediv floordiv mod pow lshift rshift and or xor lt le gt ge eq ne".split(),
        "+ - * @ / // % ** << >> & | ^ < <= > >= == !=".split(),
        strict=True,
    )},
    **{n: f"3 {s} d" for n, s in zip(
        "radd rsub rmul rmatmul rtruediv rfloordiv rmod rpow rlshift rrshift rand ror rxor".split(),
        "+ - * @ / // % ** << >> & | ^".split(),
        strict=True,
    )},
    "divmod": "divmod(d, 3)",
    "rdivmod": "divmod(3, d)",
    "getitem": "d[3]",
    "contains": "3 in d",
    "format": "f'{d:x}'",
    "getattr": "d.missing",
}  # fmt: skip
RESULTS = {
    "len": lambda self, *_: int(self.x),
    "bool": lambda self, *_: self.x > 1,
    "contains": lambda self, *_: self.x > 1,
    "int": lambda self, *_: int(self.x),
    "index": lambda self, *_: int(self.x),
    "hash": lambda self, *_: int(self.x),
    "complex": lambda self, *_: complex(self.x),
    "iter": lambda self, *_: iter((self.x,)),
    "reversed": lambda self, *_: iter((self.x,)),
    "str": lambda self, *_: str(self.x),
    "repr": lambda self, *_: str(self.x),
    "format": lambda self, *_: str(self.x),
    "bytes": lambda self, *_: bytes([int(self.x)]),
    "array": lambda self, *_, **__: np.array([self.x]),
}


class Base:
    def __init__(self, x):
        self.x = x


def class_with(name: str) -> type:
    """A class with one special method."""
    method: Any = RESULTS.get(name, lambda self, *_: self.x * 2)
    members = {f"__{name}__": method, "__module__": __name__}
    if name == "enter":
        members["__exit__"] = lambda self, *_: None
    return type(f"With_{name}", (Base,), members)


def entered(manager):
    with manager as value:
        return value


def function_of(expression: str, where: str) -> Any:
    """``def f(d)`` that returns an expression, with source."""
    text = f"def f(d):\n    value = {expression}\n    return value\n"
    file = f"{where}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space = {"math": math, "np": np, "operator": operator, "entered": entered}
    exec(compile(text, file, "exec"), space)
    return space["f"]


CASES = [*UNARY.items(), *BINARY.items()]


@pytest.mark.parametrize(("name", "expression"), CASES, ids=[e for _, e in CASES])
def test_its_result_is_of_this_call(name: str, expression: str) -> None:
    kind = class_with(name)
    function = function_of(expression, f"alone_{name}_{len(expression)}")
    fused = decorate(function, jit=False)
    for x in (1.0, 2.0, 5.0):
        assert repr(fused(kind(x))) == repr(function(kind(x)))
