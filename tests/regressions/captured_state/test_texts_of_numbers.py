"""f"{x.shape}" showed "<traced number ..>": only a number's own text was replaced.

Only the text of a number itself was Python's. Tuples, dicts, slices, ranges, exceptions and what
else Python puts into text by itself asked the sample inputs for theirs: ``(<traced number s0 =
2>,)`` was printed, and printed again for other sizes. The text of 0.0 served -0.0 as well.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from fusejit.ir.host import HostExpr, Path
from fusejit.tracer.builder.trace import Trace, activated
from fusejit.tracer.values.symbolic_number import affine_number
from fusejit_testing.oracle import decorate

Pair = namedtuple("Pair", "first second")
PERCENT = "%s and %r"
ITEMS = "{0[0]} {n}"
BRACES = "{} and {!r}, {:>9}"


@dataclass
class Record:
    shape: Any
    number: Any


class Shown:
    def __init__(self, number: Any) -> None:
        self.number = number

    def __repr__(self) -> str:
        return f"Shown({self.number})"


def tuples_in_f_strings(x: Any, a: Any) -> Any:
    print(f"{x.shape} {x.shape!r:>20} {(a, [x.size])} {(x[0], a)}")
    return x * a


def dicts_in_f_strings(x: Any, a: Any) -> Any:
    print(f"{ {'shape': x.shape, 'a': {'a': a}} } { {x.size: a} } {{}}")
    return x * a


def slices_and_ranges(x: Any, a: Any) -> Any:
    print(f"{slice(0, x.size)} {range(x.size)}")
    print(slice(x.size, None), {"a": slice(None, a)})
    return str(slice(x.size)), repr(range(x.size)), str([range(2, x.size)])


def self_documenting(x: Any, a: Any) -> Any:
    print(f"{x.shape=} {a=!r:>8} {x.sum()=:.2f}")
    return x


def computed_formats(x: Any, a: Any) -> Any:
    print(f"{x.size:>{len(str(a)) + 3}}|{a:{x.size}.3f}")
    return x * a


def made_by_str(x: Any, a: Any) -> Any:
    return str(a), repr(x.shape), str({x.shape: a}), str({"n": [x.size]}), str(-a), ascii((a,))


def made_by_percent(x: Any, a: Any) -> Any:
    return PERCENT % (x.shape, a), "%(a)s" % {"a": [x.size]}, "%d" % x.size  # noqa: UP031


def made_by_format(x: Any, a: Any) -> Any:
    made = "{} {}".format
    return BRACES.format(x.shape, a, a), made(x.size, a), ITEMS.format(x.shape, n=(a,))


def joined(x: Any, a: Any) -> Any:
    return "x".join(map(str, x.shape)), ";".join(str(v) for v in (*x.shape, a)), ["a", str(a)]


def objects(x: Any, a: Any) -> Any:
    print(Record(x.shape, a), Pair(x.size, a), f"{Pair(a, 1)}")
    return str(Shown(a)), repr(Pair(x.shape, a)), str([Record(x.size, 1)])


def keys(x: Any, a: Any) -> Any:
    made = {x.shape: a, f"n{x.size}": x * a}
    made[(x.size, "k")] = a
    return made


def raised(x: Any, a: Any) -> Any:
    raise ValueError("bad shape", x.shape, {"a": [a]})


def raised_text(x: Any, a: Any) -> Any:
    if x.ndim == 1:
        raise ValueError(f"bad shape {x.shape}, {a}")
    return x


def raised_for_elements(x: Any, a: Any) -> Any:
    if x.min() < 0:
        raise ValueError(f"negative in {x.shape}, {a}")
    return x * a


def asserted(x: Any, a: Any) -> Any:
    if x.size <= 3:  # pytest rewrites `assert`
        raise AssertionError((x.shape, a))
    return x * a


def caught(x: Any, a: Any) -> Any:
    try:
        raise KeyError("bad", x.shape, a)
    except KeyError as error:
        return str(error), repr(error), error.args


def missing_key(x: Any, a: Any) -> Any:
    try:
        return {}[x.size]
    except KeyError as error:
        return str(error), x * a


def warned(x: Any, a: Any) -> Any:
    warnings.warn(f"shape {x.shape} {a}", RuntimeWarning, stacklevel=1)
    return x * a


def in_generators(x: Any, a: Any) -> Any:
    pairs = [("n", x.size), ("a", a)]
    return [PERCENT % pair for pair in pairs], [f"{k}: {v}" for k, v in pairs]


def compared(x: Any, a: Any) -> Any:
    name = f"{x.shape}"
    return x * a if name == "(4,)" else x + a


def derived(x: Any, a: Any) -> Any:
    return str(x.size * 1.5), f"{x.size > 3}", f"{(x.size > 3, a > 1)}", str(np.float64(a))


def of_kernels(x: Any, a: Any) -> Any:
    y = x[x > 1]
    print(f"{y.shape} {(len(y), a)} {(int(x.argmax()), x.sum())}")
    return y * a


def digits(x: Any, a: Any) -> Any:
    return round(a, 1), x


PROGRAMS: list[Callable[..., Any]] = [
    tuples_in_f_strings,
    dicts_in_f_strings,
    slices_and_ranges,
    self_documenting,
    computed_formats,
    made_by_str,
    made_by_percent,
    made_by_format,
    joined,
    objects,
    keys,
    raised,
    raised_text,
    raised_for_elements,
    asserted,
    caught,
    missing_key,
    warned,
    in_generators,
    compared,
    derived,
    of_kernels,
    digits,
]
CALLS = [
    (np.arange(3.0), 2.5),
    (np.arange(4.0), 0.0),
    (np.arange(4.0), -0.0),
    (np.arange(4.0), float("nan")),
    (np.arange(4.0), 0.0),
    (-np.arange(5.0), 1e300),
    (np.arange(3.0), 7),
    (np.arange(3.0), True),
    (np.arange(3.0), np.float32(0.1)),
]


def seen(function: Callable[..., Any], x: Any, a: Any) -> tuple[str, str, list[str]]:
    """What a call shows: result or exception, what it prints, its warnings."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            result = repr(function(x.copy(), a))
        except Exception as error:
            result = f"{type(error).__name__} {error.args!r}"
    return result, output.getvalue(), sorted(str(w.message) for w in found)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_texts_are_those_of_the_call(program: Callable[..., Any]) -> None:
    fused = decorate(program, jit=False)
    with np.errstate(all="ignore"):
        for x, a in CALLS:
            assert seen(fused, x, a) == seen(program, x, a), (x, a)


def test_texts_make_two_variants_at_most() -> None:
    """The second number that is shown leaves the text to Python."""

    def labelled(x: Any) -> Any:
        return f"{x.shape}", x * 2

    fused = decorate(labelled, jit=False)
    for n in range(2, 9):
        assert fused(np.ones(n))[0] == f"({n},)"
    assert len(fused.variants) == 1
    assert fused.variants.segmented is not None
    whole = decorate(labelled, jit=False, fullgraph=True)
    assert [whole(np.ones(n))[0] for n in (2, 3)] == ["(2,)", "(3,)"]
    assert len(whole.variants) == 2


def test_texts_about_stand_ins_are_ours_behind_the_trace() -> None:
    trace = Trace("f")
    with activated(trace):
        number = affine_number(trace, trace.symbol(HostExpr.size(Path("arg", "x"), 0), 3))
        assert repr(number) == str(number) == f"{number}" == "3"
        assert trace.graph.guards
    assert repr(number).startswith("<traced number")
