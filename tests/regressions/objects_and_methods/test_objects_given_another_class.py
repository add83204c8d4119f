"""An object from outside that was given another class had values of its old one: none was checked.

Launchers compared which object a global is, and read names of its class through ``__class__``.
"""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import compare_outcomes, decorate, no_faults, run

CLASSES = """
class Base:
    weight = 2

    def times(self, x):
        return x * self.weight

    @property
    def factor(self):
        return self.weight

    @classmethod
    def of_class(cls, x):
        return x * cls.weight


class One(Base):
    pass


class Two(One):
    weight = 9

    def __neg__(self):
        return 3

    def __len__(self):
        return 0


class Three(One):
    def times(self, x):
        return x + 50

    def __neg__(self):
        return 4


class Holder:
    pass


a, b, c = One(), One(), Two()
holder = Holder()
holder.a = a
"""
# an expression, and what is given another class
CASES = [
    *[("a.times(x)", f"a.__class__ = {kind}") for kind in ("Two", "Three")],
    *[("a.times(x) * One.weight", f"a.__class__ = {kind}") for kind in ("Two", "Three")],
    ("One.weight * a.times(x)", "a.__class__ = Two"),
    ("a.times(x) * Base.weight", "a.__class__ = Two"),
    ("a.factor * x * One.weight", "a.__class__ = Two"),
    ("a.of_class(x) * One.weight", "a.__class__ = Two"),
    ("a.times(x) * b.times(x) * One.weight", "a.__class__ = Two"),
    ("a.times(x) * b.times(x) * One.weight", "b.__class__ = Two"),
    ("holder.a.times(x) * One.weight", "a.__class__ = Two"),
    ("x * type(a).weight * One.weight", "a.__class__ = Two"),
    ("x * (3 if isinstance(a, Two) else 2)", "a.__class__ = Two"),
    ("x * One.weight if isinstance(a, Two) else x", "a.__class__ = Two"),
    ("x * (3 if type(a) is type(b) else 2)", "b.__class__ = Two"),
    ("x * (3 if a else 2)", "a.__class__ = Two"),
    ("x * -c", "c.__class__ = Three"),
    ("x * -c * Two.weight", "c.__class__ = Three"),
    ("a.times(x) * One.weight", "One.__bases__ = (Two.__bases__[0].__bases__[0],)"),
]


def names(expression: str) -> dict[str, Any]:
    text = f"{CLASSES}\ndef program(x):\n    return {expression}\n"
    file = f"<{__name__} {expression}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(text, file, "exec"), namespace)
    return namespace


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize(("expression", "change"), CASES)
def test_each_call_sees_the_class(expression: str, change: str, jit: bool) -> None:
    plain, fused = names(expression), names(expression)
    with no_faults() as reports:
        program = decorate(fused["program"], jit=jit, reports=reports)
        for statement in ("", change):
            for namespace in (plain, fused):
                exec(statement, namespace)
            for _ in range(2):
                x = (np.array([3.0, 4.0]),)
                compare_outcomes(run(plain["program"], x), run(program, x), where=statement)
