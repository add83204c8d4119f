"""Objects of classes written in C that a traced loop or branch moves on: Python runs the region.

Regression: the place of `itertools.count`, `islice`, `reversed([..])` and NumPy's iterators was not
compared, so a loop took one item for all iterations, silently, and a `while` did not end.
"""

from __future__ import annotations

import array
import collections
import csv
import functools
import heapq
import io
import itertools
import linecache
import operator
import random
import re
import struct
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import compare_outcomes, decorate, run

NAMES = {
    module.__name__: module
    for module in (
        *(array, collections, csv, functools, heapq, io, itertools, operator, random, re, struct),
        types,
    )
} | {"np": np}
STEPS = {
    "next(c)": "itertools.count(3); itertools.count(3, 2); itertools.count(2.5);"
    "reversed([1, 2, 3, 4, 5, 6, 7, 8, 9]); reversed(dict.fromkeys(range(9)));"
    "itertools.islice(itertools.count(), 2, None); itertools.islice([*range(9)], 0, 9);"
    "itertools.tee([1, 2, 3, 4, 5, 6, 7, 8, 9])[0]; itertools.compress(range(1, 9), [1] * 9);"
    "itertools.starmap(pow, [(k, 2) for k in range(9)]); itertools.cycle([1, 2, 3]);"
    "iter([1, 2, 3, 4, 5, 6, 7, 8, 9].pop, 0); iter(b'123456789'); iter(bytearray(b'123456789'));"
    "iter(array.array('i', range(9))); iter(collections.deque(range(9)));"
    "map(abs, itertools.count(3)); (k for k in itertools.count(3))",
    "next(c)[1]": "itertools.permutations([1, 2, 3, 4]); itertools.combinations(range(6), 2);"
    "itertools.combinations_with_replacement(range(5), 2); itertools.product([1, 2], range(9));"
    "enumerate(itertools.count(3)); zip(itertools.count(3), itertools.count(2));"
    "itertools.zip_longest([1], range(9))",
    "next(c)[0]": "itertools.groupby([1, 1, 2, 3, 4, 5, 6, 7, 8, 9]); np.ndindex(9);"
    "struct.iter_unpack('<b', b'123456789')",
    "int(next(c))": "np.nditer(np.arange(9)); np.arange(9).flat; iter(np.arange(9));"
    "io.StringIO(TEXT)",
    "int(next(c)[0])": "csv.reader(TEXT.split()); re.finditer('.', '123456789')",
    "c()": "itertools.count(3).__next__; functools.partial(next, itertools.count(3));"
    "random.Random(3).random",
    "next(c['n'])": "{'n': itertools.count(3)}",
    "next(c.n)": "types.SimpleNamespace(n=itertools.count(3))",
    "c.pop()": "bytearray(b'123456789'); array.array('i', range(9)); set(range(9))",
    "c.popleft()": "collections.deque(range(9))",
    "int(c.read(1))": "io.StringIO('123456789'); io.BytesIO(b'123456789')",
    "heapq.heappop(c)": "[1, 2, 3, 4, 5, 6, 7, 8, 9]",
    "list(itertools.islice(c, 1))[0]": "itertools.count(3)",
    "(c.__setitem__(0, c[0] + 1), c[0])[1]": "bytearray(b'123'); array.array('i', [1])",
}
CASES = [(make.strip(), step) for step, makes in STEPS.items() for make in makes.split(";")]
FORMS = """
c = {make}
s = 0.0
for i in range(len(x)):
    s = s + {step} * x[i]
return s, {step}
---
c = {make}
s = 0.0
if x[0] > 0:
    s = s + {step}
else:
    s = s - {step} - {step}
return s, {step}
---
c = {make}
i, s = 0, 0.0
while i < len(x) and x[i] > 0:
    s = s + {step}
    i += 1
return s, {step}
"""


def program(make: str, step: str, form: str) -> Callable[..., Any]:
    """A function whose lines are found."""
    body = form.strip().format(make=make, step=step).replace("\n", "\n    ")
    text = f"def program(x):\n    {body}\n"
    name = f"<{text}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {**NAMES, "TEXT": "1\n2\n3\n4\n5\n6\n7\n8\n9\n"}
    exec(compile(text, name, "exec"), namespace)
    function: Callable[..., Any] = namespace["program"]
    return function


@pytest.mark.parametrize(("make", "step"), CASES)
def test_each_iteration_takes_its_own_item(make: str, step: str) -> None:
    for form in FORMS.split("---"):
        function = program(make, step, form)
        fused = decorate(function, jit=False)
        for x in ([1.0, 2.0, 3.0, 0.5, 1.0, 2.0], [-3.0, 2.0, -3.0], [1.0, -1.0]):
            args = (np.array(x),)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compare_outcomes(run(function, args), run(fused, args))
