"""Every kind of argument in every way of use: no call is served with another call's value.

Each cell of the matrix is one kind of argument, one way of using it, and one place where it stands
(a parameter, a tuple, an attribute, a closure cell, ..). The decorated function is called with the
first value of the kind, with the second, and with the first again; and in the other order. Value,
type, exception and, where Python hands out one object, identity are those of the undecorated
function.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import numpy as np
import pytest

from fusejit_testing.argument_kinds import KINDS, Fixed, Plain, Settings
from fusejit_testing.oracle import decorate, no_faults


# ------------------------------------------------------------------------------------- ways of use
def branch(a: Any, g: Any, first: Any) -> Any:
    return a * 2 if g else a + 3


def greater(a: Any, g: Any, first: Any) -> Any:
    return a * 2 if g > 1 else a + 3


def equal(a: Any, g: Any, first: Any) -> Any:
    return a * 2 if g == first else a + 3


def same(a: Any, g: Any, first: Any) -> Any:
    return a * 2 if g is first else a + 3


def member(a: Any, g: Any, first: Any) -> Any:
    return a * 2 if g in (first, 7) else a + 3


def member_of_set(a: Any, g: Any, first: Any) -> Any:
    return a * 2 if g in {first, 7} else a + 3


def contains(a: Any, g: Any, first: Any) -> Any:
    return a * 2 if 1 in g else a + 3


def times(a: Any, g: Any, first: Any) -> Any:
    return a * g


def plus(a: Any, g: Any, first: Any) -> Any:
    return a + 1, g + 1


def choice(a: Any, g: Any, first: Any) -> Any:
    return np.where(g > 1, a, -a)


def hashed(a: Any, g: Any, first: Any) -> Any:
    return a + 1, hash(g), len({g, first})


def distinct(a: Any, g: Any, first: Any) -> Any:
    return a * len({g, first}), len({g: 1, first: 2}), len({(v, 1) for v in (g, first)})


def found(a: Any, g: Any, first: Any) -> Any:
    return a * [first, g].index(g), [g, first].count(first)


def compared_within(a: Any, g: Any, first: Any) -> Any:
    return a * 2 if (g, 1) == (first, 1) else a + 3


def less(a: Any, g: Any, first: Any) -> Any:
    return a * 2 if first < g else a + 3


def ordered(a: Any, g: Any, first: Any) -> Any:
    return a + 1, max(g, first), sorted([g, first])


def negated(a: Any, g: Any, first: Any) -> Any:
    return (a * 2 if not g else a + 3), g or 1, -g


def element(a: Any, g: Any, first: Any) -> Any:
    return a[g] + 1


def stored(a: Any, g: Any, first: Any) -> Any:
    b = a.copy()
    b[0] = g
    return b


def filled(a: Any, g: Any, first: Any) -> Any:
    return np.full((2,), g), np.array([g, g])


def text_of_several(a: Any, g: Any, first: Any) -> Any:
    shown = "%s" % (g,)  # noqa: UP031
    return a + 1, shown, "{}".format(g), str([g]), "-".join(map(str, (g, g)))  # noqa: UP032


def unpacked(a: Any, g: Any, first: Any) -> Any:
    x, y = g
    return a * x + y


def power(a: Any, g: Any, first: Any) -> Any:
    return a**g, round(g), abs(g)


def bits(a: Any, g: Any, first: Any) -> Any:
    return a + (g | 4), g & 1


def kept(a: Any, g: Any, first: Any) -> Any:
    made = {"value": g, "pair": [g, (g, first)]}
    return a + 1, made


def caught(a: Any, g: Any, first: Any) -> Any:
    try:
        return a + (1, 2)[g]
    except (IndexError, TypeError) as error:
        return a - 1, str(error)


def repeated(a: Any, g: Any, first: Any) -> Any:
    k = 0
    while k < g:
        k += 1
    return a + k


def lookup(a: Any, g: Any, first: Any) -> Any:
    return a * (3, 5, 7)[g]


def key(a: Any, g: Any, first: Any) -> Any:
    return a * {first: 2}.get(g, 3)


def part(a: Any, g: Any, first: Any) -> Any:
    return a[:, :g] + 1


def shape(a: Any, g: Any, first: Any) -> Any:
    return np.zeros(g) + a[0, 0]


def axis(a: Any, g: Any, first: Any) -> Any:
    return a.sum(axis=g)


def dtype(a: Any, g: Any, first: Any) -> Any:
    return a.astype(g)


def keyword(a: Any, g: Any, first: Any) -> Any:
    return np.sum(a, 0, keepdims=g)


def text(a: Any, g: Any, first: Any) -> Any:
    return a + 1, f"{g}", f"{g!r:>5}", str(g)


def attribute(a: Any, g: Any, first: Any) -> Any:
    return a * g.value


def name(a: Any, g: Any, first: Any) -> Any:
    return a + 1, g.name, type(g)


def real(a: Any, g: Any, first: Any) -> Any:
    return a * g.real


def instance(a: Any, g: Any, first: Any) -> Any:
    return a * 2 if isinstance(g, int) else a + 3


def converted(a: Any, g: Any, first: Any) -> Any:
    return a * float(g), int(g)


def length(a: Any, g: Any, first: Any) -> Any:
    return a * len(g)


def items(a: Any, g: Any, first: Any) -> Any:
    for v in g:
        a = a * v
    return a


def called(a: Any, g: Any, first: Any) -> Any:
    return g(a)


def method(a: Any, g: Any, first: Any) -> Any:
    return getattr(a, g)()


def counted(a: Any, g: Any, first: Any) -> Any:
    total = a
    for k in range(g):
        total = total + k
    return total


def returned(a: Any, g: Any, first: Any) -> Any:
    return a + 1, g


def returned_alone(a: Any, g: Any, first: Any) -> Any:
    return g


def inner(a: Any, g: Any, first: Any) -> Any:
    def inside() -> Any:
        return a * 2 if g == first else a + 3

    return inside()


def matched(a: Any, g: Any, first: Any) -> Any:
    match g:
        case 2:
            return a * 2
        case "sum":
            return a.sum()
    return a + 3


WAYS = [
    *(branch, greater, equal, same, member, member_of_set, contains, times, plus, choice, element),
    *(
        hashed,
        distinct,
        found,
        compared_within,
        less,
        ordered,
        negated,
        stored,
        filled,
        text_of_several,
    ),
    *(unpacked, power, bits, kept, caught, repeated),
    *(lookup, key, part, shape, axis, dtype, keyword, text, attribute, name, real, instance),
    *(converted, length, items, called, method, counted, returned, returned_alone, inner, matched),
]


# --------------------------------------------------------------------------- where the value stands
def in_tuple(a: Any, t: Any, first: Any) -> Any:
    return (a * 2 if t[0] == first else a + 3), f"{t[0]}", t[0], t


def in_list(a: Any, t: Any, first: Any) -> Any:
    return (a * 2 if t[0] == first else a + 3), f"{t[0]}", t[0], t


def in_dict(a: Any, t: Any, first: Any) -> Any:
    return (a * 2 if t["k"] == first else a + 3), f"{t['k']}", t["k"], t


def among_all(a: Any, first: Any, *t: Any) -> Any:
    return (a * 2 if t[0] == first else a + 3), f"{t[0]}", t[0]


def by_keyword(a: Any, first: Any, *, g: Any) -> Any:
    return (a * 2 if g == first else a + 3), f"{g}", g


def by_any_keyword(a: Any, first: Any, **t: Any) -> Any:
    return (a * 2 if t["g"] == first else a + 3), f"{t['g']}", t["g"]


def in_attribute(a: Any, o: Any, first: Any) -> Any:
    return (a * 2 if o.value == first else a + 3), f"{o.value}", o.value


PLACES: list[tuple[Callable[..., Any], Callable[[Any], Any]]] = [
    (in_tuple, lambda g: ((g, 1),)),
    (in_list, lambda g: ([g, 1],)),
    (in_dict, lambda g: ({"k": g},)),
    (in_attribute, lambda g: (Plain(g),)),
    (in_attribute, lambda g: (Settings(g),)),
    (in_attribute, lambda g: (Fixed(g),)),
]


def captured(values: dict[str, Any], first: Any) -> Callable[..., Any]:
    """A function whose cell holds one value, and then another."""
    g = None

    def in_closure(a: Any, label: str) -> Any:
        return (a * 2 if g == first else a + 3), f"{g}", g

    def decorated_or_not(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(a: Any, label: str) -> Any:
            nonlocal g
            g = values[label]
            return function(a, "")

        return call

    in_closure.through = decorated_or_not  # type: ignore[attr-defined]
    return in_closure


# ------------------------------------------------------------------------------------- comparison
Call = tuple[tuple[Any, ...], dict[str, Any]]
A = np.arange(6.0).reshape(2, 3) + 1


def outcome(function: Callable[..., Any], call: Call) -> Any:
    """What a call returns, or its exception."""
    args, kwargs = call
    with np.errstate(all="ignore"):
        try:
            return function(*args, **kwargs)
        except Exception as error:
            return error


def difference(actual: Any, expected: Any, again: Any) -> str | None:
    """How two outcomes differ; ``again`` is that of the undecorated function a second time."""
    if expected is again and expected is not actual:
        return f"{actual!r} is not the object {expected!r}"
    if type(actual) is not type(expected):
        return f"{actual!r} instead of {expected!r}"
    if isinstance(expected, BaseException):
        return None if str(actual) == str(expected) else f"{actual!r} instead of {expected!r}"
    if isinstance(expected, list | tuple) and expected is not again:
        if len(actual) != len(expected):
            return f"{actual!r} instead of {expected!r}"
        parts = map(difference, actual, expected, again)
        return next((part for part in parts if part), None)
    if isinstance(expected, np.ndarray | np.generic):
        agree = actual.dtype == expected.dtype and actual.shape == expected.shape
        agree = agree and actual.strides == expected.strides
        bits = operator.methodcaller("tolist" if expected.dtype.hasobject else "tobytes")
        agree = agree and bits(actual) == bits(expected)
        return None if agree else f"{actual!r} instead of {expected!r}"
    return None if repr(actual) == repr(expected) else f"{actual!r} instead of {expected!r}"


def failures(
    function: Callable[..., Any], calls: dict[str, Call], folder: Any, *, jit: bool = False
) -> list[str]:
    """What differs where a decorated function is called with the first, second, first value."""
    differences = []
    one, other = calls
    for order in ((one, other, one), (other, one, other)):
        decorated = decorate(function, jit=jit, reports=folder)
        through = getattr(function, "through", lambda called: called)
        for at, label in enumerate(order):
            expected, again = (outcome(through(function), calls[label]) for _ in range(2))
            actual = outcome(through(decorated), calls[label])
            message = difference(actual, expected, again)
            if message:
                differences.append(
                    f"{function.__name__}, call {at} with the {label} value: {message}"
                )
    return differences


@pytest.mark.parametrize("kind", KINDS)
def test_ways_of_use(kind: str) -> None:
    first, second = KINDS[kind]
    differences = []
    with warnings.catch_warnings(), no_faults() as folder:
        warnings.simplefilter("ignore")
        for way in WAYS:
            calls = {"first": ((A, first, first), {}), "second": ((A, second, first), {})}
            differences += failures(way, calls, folder)
    assert not differences, "\n".join(differences)


@pytest.mark.parametrize("kind", KINDS)
def test_places(kind: str) -> None:
    values = dict(zip(("first", "second"), KINDS[kind], strict=True))
    first = values["first"]
    differences = []
    with warnings.catch_warnings(), no_faults() as folder:
        warnings.simplefilter("ignore")
        for function, stands in PLACES:
            calls = {k: ((A, *stands(v), first), {}) for k, v in values.items()}
            differences += failures(function, calls, folder)
        differences += failures(
            among_all, {k: ((A, first, v), {}) for k, v in values.items()}, folder
        )
        for function in (by_keyword, by_any_keyword):
            calls = {k: ((A, first), {"g": v}) for k, v in values.items()}
            differences += failures(function, calls, folder)
        calls = {k: ((A, k), {}) for k in values}
        differences += failures(captured(values, first), calls, folder)
    assert not differences, "\n".join(differences)


def sourceless(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function as it is where nobody finds its source."""

    def moved(code: CodeType) -> CodeType:
        consts = (moved(c) if isinstance(c, CodeType) else c for c in code.co_consts)
        return code.replace(co_filename="<nowhere>", co_consts=tuple(consts))

    return FunctionType(moved(function.__code__), globals(), function.__name__)


@pytest.mark.parametrize("kind", KINDS)
def test_functions_without_source(kind: str) -> None:
    first, second = KINDS[kind]
    differences = []
    with warnings.catch_warnings(), no_faults() as folder:
        warnings.simplefilter("ignore")
        for way in (branch, equal, same, distinct, text, attribute, instance, called, returned):
            calls = {"first": ((A, first, first), {}), "second": ((A, second, first), {})}
            differences += failures(sourceless(way), calls, folder)
    assert not differences, "\n".join(differences)


@pytest.mark.parametrize("kind", ["IntEnum", "float subclass", "text subclass", "frozen dataclass"])
def test_compiled(kind: str) -> None:
    """What native code checks in front of a kernel is what a launcher of Python checks."""
    first, second = KINDS[kind]
    differences = []
    with warnings.catch_warnings(), no_faults() as folder:
        warnings.simplefilter("ignore")
        for way in (equal, same, returned, text, in_tuple):
            given = [(v, 1) if way is in_tuple else v for v in (first, second)]
            calls = {k: ((A, v, first), {}) for k, v in zip("12", given, strict=True)}
            differences += failures(way, calls, folder, jit=True)
    assert not differences, "\n".join(differences)
