"""Every statement of Python's grammar, in every block: the answer and the exceptions are Python's.

Regression: `o.y: int` raised a NameError: a segment that held a bare annotation was not given `o`.
"""

from __future__ import annotations

import inspect
import linecache
import textwrap
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import decorate, no_faults


class Point:
    """A class that patterns match."""

    __match_args__ = ("a", "b")

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    def __enter__(self) -> Any:
        return self.a

    def __exit__(self, *error: object) -> bool:
        return False


NAMES = {"np": np, "Point": Point, "K": 4, "TABLE": {}}

SIMPLE = """
y = x + n
y = z = x * 2
a, b = n, n + 1
a, *b = 1, n, 3
(a, [b, c]), d["t"] = (1, (2, n)), 4
[a, *o.y] = x[:2]
y = *d["list"], n
x[0], x[1] = x[1], x[0]
x[1:] = x[:-1] * 2
x[x > 1] = n
o.y = x.sum()
o.p.a = n
d["k"] = n; d["l"] = x[0]
n += 2
y @= y
x += 1
x[0] -= n
x[1:] **= 2
o.y *= 2
o.p.a |= 3
d["n"] //= 2
d["list"][0] <<= 1
missing += 1
o.missing += 1
y: int
y: int = n
y: Nope
y: Nope = x * 3
(y): Nope
(y): Nope = 3
o.y: int
o.y: Nope
o.p.a: Nope
o.y: Nope = n
o.missing.y: int
missing.y: int
d["k"]: int
d["k"]: Nope = n
d[missing]: int
d[n:n + 1, (q := n)]: int
x[0]: Nope = 7
x[0].y: int
del y
del o.y
del d["k"]
del d["list"][:1], d["n"]
del x[0]
del missing
del (a, b), [y]
del o.missing
pass
assert n > 0
assert n < 0
assert x.sum() < -1, f"sum {n}"
assert (x > 0).all(), "not all"
raise ValueError
raise ValueError("no")
raise ValueError(n) from KeyError("k")
raise KeyError(n) from None
raise n
raise missing
return
return x * 2
return n, x.sum(), *d["list"]
return missing
yield x
y = yield
y = yield from d["list"]
await x
import math
import math as m, os.path
from math import floor as m, pi
from math import missing_name
import missing_module
from . import nothing
global K
global K; K = 5
nonlocal y
type A = int
type A[T] = list[T]
break
continue
log.append(n)
y = lambda v=n: v + n; log.append(y())
(q := n + 1)
log.append((q := x.sum()) + q)
y = [q := i for i in range(n)]; log.append(q)
y = [v * n for v in x if v > 0 for w in range(2)]
y = {v: w for v, w in enumerate(d["list"])}
y = {v % 2 for v in d["list"]}
y = sum(v for v in x)
y = (v for v in x)
y = x if n > 2 else -x
y = x.sum() if x[0] > 0 else n
y = n and d or o
y = not n, -n, ~n, +x
y = 0 < n < 5 != 4, n in d["list"], n not in d, n is None is not d
y = x[None, ..., 0:2], x[::-1]
y = f"{n!r:>4} {n=} {n:{n}d}"
y = f"{x.sum():.3f}"
log.append(f"{n}" f"{d['k']}" "literal" % ())
y = t"{n} {x}"
y = "%s %d" % (n, n)
y = b"a" + b"b"
print(n, end="", file=o)
y = np.add(x, *[n], **{})
y = dict(a=n, **d)
y = [*d["list"], *x], (*d["list"],), {**d, "z": n}
y = d["list"][1:][0]
y = ...
y = n if missing else 2
y = __debug__, __name__
"text alone"
n; x; o.y
except_ = match = case = type = n
"""

COMPOUND = """
if x[0] > 0:
    y = n
elif n > 1:
    y = x
else:
    y = o
---
for i in range(n):
    y = x * i
    if i > 1: break
else:
    y = n
---
for i, (a, *b) in enumerate([(1, 2), (3, 4, 5)]):
    n += a
---
for o.y in x:
    n += 1
---
for d["k"], y in zip(x, x):
    if y < 0: continue
    n += 1
---
for v in x: n += v
else: y = v
---
while n < 9:
    n += 2
    if x[0] > n: break
else:
    y = n
---
while True:
    n += 1
    if n > 6: break
---
while (n := n + 1) < 9: y = n
---
with np.errstate(all="ignore"):
    y = x / 0
---
with Point(n, 2) as y, Point(3, 4) as o.y, Point(x, 1):
    z = y
---
with (Point(n, 2) as (a, b)):
    z = a
---
async with Point(1, 2) as y:
    pass
---
async for y in x:
    pass
---
try:
    y = d["missing"]
except KeyError as error:
    y = str(error)
except (ValueError, TypeError):
    y = 1
else:
    y = 2
finally:
    z = n
---
try:
    y = x[n * 100]
finally:
    log.append("finally")
---
try:
    raise ValueError("a") from KeyError("b")
except:
    raise
---
try:
    y = int("a")
except ValueError as error:
    pass
log.append(error)
---
try:
    raise ExceptionGroup("g", [ValueError(1), KeyError(2)])
except* ValueError as error:
    y = len(error.exceptions)
except* KeyError:
    z = 3
---
match n:
    case 1 | 2: y = 1
    case 3 if x[0] > 0: y = x
    case -1 | 1.5 | 2 + 1j | "a" | b"b" | None | True: y = 2
    case _: y = n
---
match d["list"]:
    case []: y = 0
    case [a]: y = a
    case [a, *b] if a > 100: y = b
    case (1, *_, c) as whole: y = c, whole
    case other: y = other
---
match d:
    case {"k": int(a), **rest}: y = a, rest
    case {}: y = 1
---
match Point(n, x):
    case Point(0, b): y = b
    case Point(a=int() as a, b=b): y = a, b
---
match n:
    case Point.__match_args__: y = 1
    case np.pi: y = 2
    case str() | float(): y = 3
---
match x[0], bool(x[0] > 0):
    case (_, True): y = 1
    case (a, False): y = a
---
def inner(v, /, w=n, *args: Nope, k: Nope = 2, **more) -> Nope:
    nonlocal y
    y = v
    return v + w + k
log.append(inner(n))
---
def inner():
    global K
    return K + n
log.append(inner())
---
def inner[T](v: T) -> T:
    return v
log.append(inner(n))
---
def inner():
    yield n
    yield from d["list"]
log.extend(inner())
---
async def inner():
    async with x as y: return [v async for v in y]
    await n
log.append(inner.__name__)
---
@np.vectorize
def inner(v):
    return v + n
y = inner(x)
---
class Inner(Point):
    k: int = n
    o.y: int
    z = k + 1
    def total(self): return self.a + n
    def __repr__(self): return f"{super().__init__} {__class__.__name__}"
y = Inner(n, 2).total(), Inner.z
---
class Inner[T]:
    v = n
y = Inner.v
---
class Inner(metaclass=type):
    o.y: Nope
"""

BLOCKS = {
    "alone": "{form}",
    "if": "if x[0] > -5:\n    {form}\nelse:\n    n = 2",
    "else": "if x.sum() > 1e6:\n    y = 1\nelse:\n    {form}",
    "for": "for i in range(2):\n    {form}",
    "for else": "for i in d['list']:\n    pass\nelse:\n    {form}",
    "while": "count = 0\nwhile count < 2:\n    count += 1\n    {form}",
    "while else": "while n > 99:\n    n = 1\nelse:\n    {form}",
    "try": "try:\n    {form}\nexcept (NameError, LookupError) as e:\n    log.append(str(e))",
    "except": "try:\n    n = d['missing']\nexcept KeyError:\n    {form}",
    "except star": "try:\n    n = d['missing']\nexcept* KeyError:\n    {form}",
    "finally": "try:\n    n += 1\nfinally:\n    {form}",
    "with": "with Point(n, 2) as w:\n    {form}",
    "match": "match n:\n    case 3:\n        {form}\n    case _:\n        pass",
    "def": "def block(y, z):\n    {form}\nlog.append(block(n, x))",
    "class": "class Block:\n    {form}\nlog.append(Block.__name__)",
}
AROUND = {"compiled": "{}", "before": "TABLE.clear()\n{}", "after": "y = x * 2\n{}\nTABLE.clear()"}
FORMS = [line for line in SIMPLE.splitlines() if line]
FORMS += [text.strip("\n") for text in COMPOUND.split("---\n")]
RESULT = "return x, n, y, z, o.__dict__, d, log"


def program(form: str, block: str, around: str) -> Callable[..., Any] | None:
    """The function with a statement in a block; None where that is no syntax of this Python."""
    before, after = BLOCKS[block].split("{form}")
    indent = " " * len(before.rpartition("\n")[2])
    body = before + textwrap.indent(form, indent).lstrip() + after
    body = AROUND[around].format(body)
    body = textwrap.indent(f"y = z = n\n{body}\n{RESULT}", "    ")
    name = f"<{around}: {block}: {form}>"
    found: dict[str, Any] = dict(NAMES)
    for kind in ("def", "async def"):
        text = f"{kind} program(x, n, o, d, log):\n{body}\n"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        try:
            exec(compile(text, name, "exec", dont_inherit=True), found)
        except SyntaxError:
            continue
        return found["program"]  # type: ignore[no-any-return]
    return None


def outcome(function: Callable[..., Any]) -> tuple[Any, ...]:
    """What a call gives or raises, and what its arguments hold afterwards."""
    x, o = np.array([1.0, -2.0, 3.0]), Point(1, 2)
    o.y, o.p = 5, Point(6, 7)  # type: ignore[attr-defined]
    d: dict[Any, Any] = {"k": 1, "n": 9, "list": [1, 2, 3]}
    log: list[Any] = []
    result: Any
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = function(x, 3, o, d, log)
            if hasattr(result, "__next__"):
                result = [*result]
            if inspect.iscoroutine(result):
                result.send(None)
        except StopIteration as returned:
            result = returned.value
        except Exception as error:
            cause = error.__cause__
            result = type(error).__name__, str(error), type(cause).__name__, str(cause)
    return told(result), x, told(vars(o)), told(d), told(log)


def told(obj: Any) -> Any:
    """An object in a form in which two runs can be compared."""
    if isinstance(obj, Point):
        return type(obj).__name__, told(vars(obj))
    if isinstance(obj, list | tuple):
        return type(obj)(map(told, obj))
    if isinstance(obj, dict):
        return {key: told(value) for key, value in obj.items()}
    if isinstance(obj, np.ndarray | np.generic | int | float | str | bytes | None):
        return obj
    return type(obj).__name__


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("block", BLOCKS)
def test_a_statement_in_a_block(block: str) -> None:
    num_programs = 0
    arounds = [*AROUND]
    with no_faults() as reports:
        for at, form in enumerate(FORMS):
            around = arounds[(at + [*BLOCKS].index(block)) % len(arounds)]
            function = program(form, block, around)
            if function is None:
                continue
            num_programs += 1
            fused = decorate(function, jit=False, reports=reports)
            for _ in range(2):
                where = f"{function.__code__.co_filename}"
                assert_same(outcome(function), outcome(fused), where=where)
    assert num_programs > 100
