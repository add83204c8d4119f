"""Default values that were assigned later were not noticed: only their first places were checked.

A helper whose ``__defaults__`` became longer kept its old values: they were counted from the first
one. Of helpers without source no default value and no attribute was checked at all.
"""

from __future__ import annotations

import linecache
from enum import Enum
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import compare_outcomes, decorate, no_faults, run


class Color(Enum):
    RED = 1
    BLUE = 2


PROGRAM = "def program(x):\n    return helper(x)\n"
# the helper, and what is assigned
CASES = {
    "a default value": ("def helper(x, k=2): return x * k", "helper.__defaults__ = (5,)"),
    "of another type": ("def helper(x, k=1): return x * k", "helper.__defaults__ = (True,)"),
    "None": ("def helper(x, k=None): return x if k is None else x * k", "helper.__defaults__ = 3,"),
    "a text": ("def helper(x, k='a'): return x * len(k)", "helper.__defaults__ = ('abc',)"),
    "an enum": (
        "def helper(x, k=Color.RED): return x * 2 if k == Color.RED else x",
        "helper.__defaults__ = (Color.BLUE,)",
    ),
    "a keyword's": ("def helper(x, *, k=2): return x * k", "helper.__kwdefaults__ = {'k': 5}"),
    "in place": ("def helper(x, *, k=2): return x * k", "helper.__kwdefaults__['k'] = 5"),
    "a longer tuple": ("def helper(x, k=2): return x * k", "helper.__defaults__ = (2, 5)"),
    "longer of two": ("def helper(x, j=1, k=2): return x * k + j", "helper.__defaults__ = 1, 2, 5"),
    "a shorter tuple": ("def helper(x, j=2, k=2): return x * k + j", "helper.__defaults__ = (2,)"),
    "the last is left": ("def helper(x, j=2, k=3): return x * k", "helper.__defaults__ = (3,)"),
    "no tuple": ("def helper(x, k=2): return x * k", "helper.__defaults__ = None"),
    "a helper's helper": (
        "def inner(x, k=2): return x * k\ndef helper(x): return inner(x)",
        "inner.__defaults__ = (5,)",
    ),
    "a function": (
        "def inner(x): return x * 2\ndef helper(x, k=inner): return k(x)",
        "helper.__defaults__ = (lambda x: x * 7,)",
    ),
    "an array": (
        "def helper(x, k=np.ones(2)): return x * k",
        "helper.__defaults__ = (np.full(2, 4.0),)",
    ),
    "elements of an array": (
        "def helper(x, k=np.ones(2)): return x * k",
        "helper.__defaults__[0][:] = 4",
    ),
    "an item of a list": (
        "def helper(x, k=[2]): return x * k[0]",
        "helper.__defaults__[0][0] = 5",
    ),
    "a partial function's": (
        "import functools\ndef inner(x, k=2): return x * k\nhelper = functools.partial(inner)",
        "inner.__defaults__ = (5,)",
    ),
    "an attribute": (
        "def inner(x): return x\ninner.k = 2\ndef helper(x): return inner(x) * inner.k",
        "inner.k = 7",
    ),
    "read as an attribute": (
        "def inner(x, k=2): return x\ndef helper(x): return inner(x) * inner.__defaults__[0]",
        "inner.__defaults__ = (7,)",
    ),
}


def names(helper: str, has_source: bool) -> dict[str, Any]:
    """The module of a program, whose helper has a source or not."""
    namespace: dict[str, Any] = {"np": np, "Color": Color}
    for name, text in (("program", PROGRAM), ("helper" if has_source else "", helper + "\n")):
        file = f"<{__name__} {name} {hash(text)}>" if name else "<string>"
        if name:
            linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        exec(compile(text, file, "exec"), namespace)
    return namespace


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("has_source", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_each_call_has_the_values_that_are_assigned(case: str, has_source: bool, jit: bool) -> None:
    helper, rebinding = CASES[case]
    plain, fused = names(helper, has_source), names(helper, has_source)
    x = np.array([3.0, 4.0])
    with no_faults() as reports:
        program = decorate(fused["program"], jit=jit, reports=reports)
        for statement in ("", rebinding):
            for namespace in (plain, fused):
                exec(statement, namespace)
            for _ in range(2):
                compare_outcomes(run(plain["program"], (x,)), run(program, (x,)), where=statement)


@pytest.mark.parametrize("value", [2, None, "a", Color.RED, slice(1), np.float64(2), np.exp])
def test_values_that_are_compared_are_compiled(value: Any) -> None:
    namespace = {**names("def helper(x, k=0): return x * 2", has_source=False)}
    namespace["helper"].__defaults__ = (value,)
    program = decorate(namespace["program"], jit=False, fullgraph=True)
    assert np.array_equal(program(np.ones(3)), np.full(3, 2.0))
