"""``is`` between each kind of traced value and each kind of object, wherever it may be written.

Regression: `bool(x[i] > 0) is False` was always False: the trace compared its own object for the
element with the singleton. So were `operator.is_`, `case True` and the identity of tuples.
"""

from __future__ import annotations

import enum
import linecache
import operator
import textwrap
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import (
    check,
    check_not_compiled,
    compare_outcomes,
    decorate,
    no_faults,
    run,
)


class Colour(enum.Enum):
    """Members are singletons."""

    RED = 1
    BLUE = 2


NAMES = {"np": np, "operator": operator, "Colour": Colour, "SENTINEL": object(), "TABLE": {}}
X = np.array([-1.0, 3.0, -2.0, 0.0])
ARGUMENTS = (X, np.array([1, 3, -2, 300]), np.array([True, False, True, True]))
CALLS = [(*ARGUMENTS, True, np.True_, 3, 1.5), (*ARGUMENTS, False, np.False_, 1000, 3.0)]

SUBJECTS = {
    "bool": "bool(x[i] > 0); not x[i] > 0; x[i] in x; i > 1; flag; x[i] > 0 and m[i] or flag;"
    "all(m); 0 < float(x[i]) < 5",
    "np.bool_": "x[i] > 0; ~(x[i] > 0); np.isnan(x[i]); (x > 0).any(); m[i]; m[i] & flag; nb;"
    "np.logical_not(m[i]); m[i:].all()",
    "int": "int(x[i]); i; i + 256; len(x); k; int(a[i]); True + i",
    "np.int64": "a[i]; a[i] + 1; np.int8(a[0]); a.sum(); (a > 0).sum()",
    "floats": "float(x[i]); 1.5; x[i]; x[i] * 2; f; np.float32(x[i])",
    "unions": "True if x[i] > 0 else None; 3 if x[i] > 0 else None; 1.5 if x[i] > 0 else True;"
    "m[i] if x[i] > 0 else True; x[i] if m[i] else False; a[i] if m[i] else 3;"
    "1000 if x[i] > 0 else k",
    "arrays": "x; x[1:]; x + 1; x > 0; x if flag else x[:2]; x * 2 if m[0] else x; np.asarray(x)",
    "containers": "(x[i], i); (1, 2); (i, 3) if x[i] > 0 else None; [x[i]]; x.shape; ()",
    "others": "'a' if x[i] > 0 else 'b'; 'a'; Colour.RED if m[i] else Colour.BLUE; type(x[i]);"
    "type(bool(x[i])); x.dtype; None if x[i] > 0 else Ellipsis",
}
OBJECTS = [
    *("True", "False", "None", "NotImplemented", "Ellipsis", "np.True_", "np.False_"),
    *("3", "1.5", "'a'", "Colour.RED", "float", "np.float64", "SENTINEL", "f", "1000"),
    *("x", "s", "u", "k", "bool(x[0] > 0)", "m[1]", "flag", "(x[i], i)"),
]
STRIDE = 12
CONTEXTS = {
    "loop": """
        n = 0
        for i in range(len(x)):
            s = u = {s}
            if s is {o}:
                n += 1
            if {o} is not s:
                n += 10
        return n
    """,
    "while loop": """
        i = 0
        while i < len(x):
            s = u = {s}
            if s is {o}:
                break
            i += 1
        return i
    """,
    "expression": """
        i = 1
        s = u = {s}
        return s is {o}, {o} is s, s is not {o}, not s is {o}, None is not s is {o}
    """,
    "branches": """
        i = 2
        s = u = {s}
        y = x * 2 if s is {o} else x + 1
        if x[0] > 0 or {o} is s:
            y = y * 3
        return y
    """,
    "helper": """
        def asks(s, o):
            return 1 if s is o else 2

        n = 0
        for i in range(len(x)):
            s = u = {s}
            n += asks(s, {o}) * 10**i
        return n
    """,
    "segments": """
        i = 1
        s = u = {s}
        TABLE.clear()
        found = s is {o}
        y = x + found
        TABLE.clear()
        return y, found, s is not {o}
    """,
    "operator": """
        n = 0
        for i in range(len(x)):
            s = u = {s}
            n += 1 if operator.is_(s, {o}) else 10 * operator.is_not({o}, s)
        return n
    """,
    "comprehension": """
        return [s is {o} for i in range(len(x)) for s in [{s}]], sum(
            1 for i in range(len(x)) if (s := {s}) is {o}
        )
    """,
}
_PATTERN = """
        n = 0
        for i in range(len(x)):
            s = u = {s}
            match s, i:
                case {o}, _:
                    n += 1
                case _, 0:
                    n += 10
        return n
"""


def program(context: str, subject: str, obj: str) -> Callable[..., Any]:
    """A function whose lines are found, as those of a file."""
    body = textwrap.dedent(context).format(s=subject, o=obj)
    text = "def program(x, a, m, flag, nb, k, f):\n" + textwrap.indent(body, "    ")
    name = f"<identity of {subject} and {obj}: {hash(context)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    found: dict[str, Any] = dict(NAMES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # "is" with a literal
        exec(compile(text, name, "exec"), found)
    made: Callable[..., Any] = found["program"]
    return made


def compare(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False)
    for args in (*CALLS, CALLS[0]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compare_outcomes(
                run(function, args), run(fused, args), where=function.__code__.co_filename
            )


def of_kind(kind: str) -> list[str]:
    return [subject.strip() for subject in SUBJECTS[kind].split(";")]


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("kind", SUBJECTS)
def test_every_object(kind: str, context: str) -> None:
    first = 5 * [*CONTEXTS].index(context)  # each subject meets most objects somewhere
    with no_faults():
        for at, subject in enumerate(of_kind(kind)):
            for obj in OBJECTS[(first + at) % STRIDE :: STRIDE]:
                compare(program(CONTEXTS[context], f"({subject})", obj))


@pytest.mark.parametrize("kind", SUBJECTS)
def test_patterns(kind: str) -> None:
    with no_faults():
        for subject in of_kind(kind):
            for obj in ("True", "False", "None"):
                compare(program(_PATTERN, f"({subject})", obj))


@pytest.mark.parametrize("kind", ["bool", "np.bool_", "floats", "int", "np.int64"])
def test_what_types_or_truths_decide_is_compiled(kind: str) -> None:
    objects = ["True", "False", "None", "np.True_", "Ellipsis", "SENTINEL", "'a'", "m[1]"]
    for subject in of_kind(kind)[:2]:
        for obj in objects:
            check(program(CONTEXTS["loop"], f"({subject})", obj), CALLS[0])


@pytest.mark.parametrize(
    ("subject", "obj"),
    [("int(x[i])", "3"), ("x[i]", "s"), ("float(x[i])", "1.5"), ("(x[i], i)", "(1, i)")],
)
def test_what_caches_decide_is_left_to_python(subject: str, obj: str) -> None:
    check_not_compiled(program(CONTEXTS["loop"], subject, obj), CALLS[0], "one object")
