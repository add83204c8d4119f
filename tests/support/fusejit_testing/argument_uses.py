"""Ways of using an argument, and places where it may stand: for tests of what serves a call.

A way takes an array, a value ``g``, and the first value of its kind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit_testing.argument_kinds import Fixed, Plain, Settings


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
