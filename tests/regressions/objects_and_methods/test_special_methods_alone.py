"""`abs(obj)` was computed once: special methods were recognised by code name, not by class.

What `abs` of an object gave was computed once, by Python, and was a constant of the variant: the
watch knew the names of a few conversions, and looked at the name of the code. It did not see
``__abs__``, nor a ``__str__`` that is a lambda or another method under this name.
"""

from __future__ import annotations

import linecache
import math
import operator
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import decorate

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
OPERATORS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "matmul": "@",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "lshift": "<<",
    "rshift": ">>",
    "and": "&",
    "or": "|",
    "xor": "^",
}
COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
BINARY = {
    **{name: f"d {sign} 3" for name, sign in {**OPERATORS, **COMPARISONS}.items()},
    **{f"r{name}": f"3 {sign} d" for name, sign in OPERATORS.items()},
    "divmod": "divmod(d, 3)",
    "rdivmod": "divmod(3, d)",
    "getitem": "d[3]",
    "contains": "3 in d",
    "format": "f'{d:x}'",
    "getattr": "d.missing",
}
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


def class_with(name: str, is_named: bool) -> type:
    """A class with one special method, whose code has its name or none."""
    method: Any = RESULTS.get(name, lambda self, *_: self.x * 2)
    if is_named:
        scope: dict[str, Any] = {"method": method}
        exec(f"def __{name}__(self, *more, **named): return method(self, *more, **named)", scope)
        method = scope[f"__{name}__"]
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


@pytest.mark.parametrize("is_named", [True, False], ids=["named", "lambda"])
@pytest.mark.parametrize(("name", "expression"), CASES, ids=[e for _, e in CASES])
def test_its_result_is_of_this_call(name: str, expression: str, is_named: bool) -> None:
    kind = class_with(name, is_named)
    function = function_of(expression, f"alone_{name}_{len(expression)}")
    fused = decorate(function, jit=False)
    for x in (1.0, 2.0, 5.0):
        assert repr(fused(kind(x))) == repr(function(kind(x)))
