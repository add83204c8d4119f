"""Every operator and function of Python on every kind of value that a loop makes.

What Python does with them, its errors included, whether the loop has run or not. A sample runs in
CI; ``python -m pytest -m deep`` runs the whole table.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from fusejit_testing.against_python import check_against_python

VALUES = {
    "text": "s = 'ab'; step = lambda i: 'c'|s = s + step(i)",
    "text of a list": "t = []|t.append('c' * (i + 1)); s = t[i]",
    "ints": "s = []|s.append(i)",
    "floats": "s = []|s.append(x[i])",
    "strings": "s = []|s.append('ab')",
    "strings until the loop runs": "s = ['down']|s = []",
    "tuples": "s = []|s.append((i, x[i]))",
    "lists": "s = []|s.append([i, 1])",
    "arrays": "s = []|s.append(x * 2)",
    "long tuple": "s = ()|s = s + (i,)",
    "dict": "s = {}|s[i] = 1",
    "dict of lists": "s = {}|s.setdefault(i % 2, []).append(i)",
    "dict by strings": "s = {}|s['ab' * (i + 1)] = i",
    "set": "s = set()|s.add(i)",
    "deque": "s = deque()|s.append(i)",
    "none or int": "s = None|s = i if x[i] > 1e9 else s",
    "int or string": "s = 0|s = 'a' if x[i] > 0 else s",
    "bool": "s = False|s = bool(x[i] > 0)",
    "int": "s = 0|s += int(x[i])",
    "element": "s = x.sum()|s += x[i]",
}
"""By its name: the statement that makes a value, and that of a loop which changes it."""

USES = """
abs(s); -s; +s; ~s; s + 1; 1 + s; s - 1; 1 - s; s * 2; s * 2.5; s / 2; s // 2; s % 2; s ** 2; s @ s
s << 1; s & 1; s | 1; s ^ 1; s < 1; 1 < s; s == 1; s == s; s is None; not s; s and 1; s if s else 0
int(s); float(s); complex(s); bool(s); str(s); repr(s); len(s); round(s); divmod(s, 2); hash(s)
ord(s); chr(s); sum(s); min(s); max(s); sorted(s); list(s); tuple(s); set(s); any(s); all(s)
pow(s, 2); bin(s); hex(s); isinstance(s, int); type(s); callable(s); frozenset(s); dict(s)
list(reversed(s)); list(enumerate(s)); list(zip(s, s)); list(range(s)); format(s); f'{s}'; '%s' % s
'%d' % s; '{}'.format(s); bytes(s); bytearray(s); ' '.join(s); s.join(['a']); s.strip(); s.foo; s()
s[0]; s[1:2]; s['a']; s[0] + 1; len(s[0]); 1 in s; 'a' in s; s.append(3); s.sort(key=abs)
s.sort(key=len); s.sort(key=str); sorted(s, key=abs); max(s, key=abs); min(s, key=len)
list(map(len, s)); list(map(str, s)); list(map(abs, s)); [abs(k) for k in s]; [-k for k in s]
[k + 1 for k in s]; [len(k) for k in s]; np.sin(s); np.array(s); np.abs(s); np.sum(s); np.sort(s)
np.full(s, 1.0); np.zeros(s); math.sqrt(s); math.floor(s); math.gcd(s, 2); operator.neg(s)
operator.index(s); x[s]; x + s; s + x; x - s; s - x; x * s; x @ s; s @ x; x % s; x.sum(axis=s)
(5, 6, 7)[s]; [5, 6, 7][s]; 'abc'[s]; x[s:]; x[s] + 1
"""

CALLS = [np.array([1.0, 2.0, 3.0]), np.array([]), np.array([-3.0, 1.0])]

PROGRAM = """
import math
import operator
from collections import deque

import numpy as np


def f(x):
    {begin}
    for i in range(len(x)):
        {step}
    return {use}
"""

PAIRS = [
    (value, use.strip()) for value in VALUES for line in USES.split("\n") for use in line.split(";")
]
PAIRS = [(value, use) for value, use in PAIRS if use]


INSIDE = "comparison of the loop's number"
INSIDE_PROGRAM = (
    PROGRAM[: PROGRAM.index("    {begin}")]
    + """
    found = None
    for i in range(len(x)):
        s = i == 1
        found = {use}
    return found
"""
)
PAIRS += [(INSIDE, use) for value, use in PAIRS if value == "bool"]


def _program(folder: Path, value: str, use: str) -> Callable[..., Any]:
    begin, step = VALUES.get(value, "|").split("|")
    path = folder / "program.py"
    text = INSIDE_PROGRAM if value == INSIDE else PROGRAM
    path.write_text(text.format(begin=begin, step=step, use=use))
    module = ModuleType("program_of_the_table")
    exec(compile(path.read_text(), str(path), "exec"), module.__dict__)
    function: Callable[..., Any] = module.__dict__["f"]
    return function


def _check(folder: Path, value: str, use: str) -> None:
    check_against_python(_program(folder, value, use), [(x,) for x in CALLS])


@pytest.mark.parametrize(("value", "use"), PAIRS[::29])
def test_a_sample(value: str, use: str, tmp_path: Path) -> None:
    _check(tmp_path, value, use)


@pytest.mark.deep
@pytest.mark.parametrize("value", [*VALUES, INSIDE])
def test_all(value: str, tmp_path: Path) -> None:
    for number, (made, use) in enumerate(PAIRS):
        if made == value:
            folder = tmp_path / str(number)
            folder.mkdir()
            _check(folder, value, use)


FOUND = [
    ("strings until the loop runs", "s.sort(key=abs)"),
    ("strings", "s.sort(key=abs)"),
    ("ints", "x @ s"),
    ("deque", "x - s"),
    ("long tuple", "x[s]"),
    ("none or int", "min(s)"),
    ("bool", "max(s)"),
    ("int", "np.zeros(s)"),
    *((INSIDE, use) for use in ("2 + s", "[5, 6, 7][s]", "'abc'[s]", "x[s:]", "list(range(s))")),
]
"""Wrong or reported as a fault of fusejit, once."""


@pytest.mark.parametrize(("value", "use"), FOUND)
def test_what_was_wrong(value: str, use: str, tmp_path: Path) -> None:
    _check(tmp_path, value, use)
