"""Names that loops and conditionals bind to new objects: carried as what their attributes hold."""

import numpy as np
import pytest

from fusejit_testing.oracle import check, decorate


class Vec:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y)

    def __mul__(self, factor):
        return Vec(self.x * factor, self.y * factor)

    __rmul__ = __mul__

    def __abs__(self):
        return (self.x * self.x + self.y * self.y) ** 0.5


class Slotted:
    __slots__ = ("count", "value")

    def __init__(self, value, count=0):
        self.value, self.count = value, count

    def next(self, v):
        return Slotted(self.value + v, self.count + 1)


class Dual:
    def __init__(self, value, slope=0.0):
        self.value, self.slope = value, slope

    def __add__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.value + other.value, self.slope + other.slope)

    def __mul__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        slope = self.value * other.slope + self.slope * other.value
        return Dual(self.value * other.value, slope)

    __radd__, __rmul__ = __add__, __mul__


def orbit(x, n=9):
    place, speed = Vec(x[0] + 5.0, 0.0), Vec(0.0, 1.0)
    for _ in range(n):
        force = -1.0 / abs(place) ** 3 * place
        speed += force * 0.01
        place += speed * 0.01
    return place.x, place.y, abs(speed)


def counted(x):
    state = Slotted(0.0)
    for v in x:
        state = state.next(v)
    return state.value, state.count


def derived(x):
    t = Dual(0.5, 1.0)
    total = Dual(0.0)
    for c in x:
        total = total * t + c
    return total.value, total.slope


def chosen(x):
    best = Vec(0.0, 0.0)
    for k in range(len(x)):
        if x[k] > best.x:
            best = Vec(x[k], k)
    return best.x, best.y


def exchanged(x):
    a, b = Vec(1.0, 2.0), Vec(3.0, 4.0)
    for v in x:
        a, b = b, a + b * v
    return a.x, a.y, b.x, b.y


def last_one(x):
    for v in x:
        one = Vec(v, 2 * v)
    return one.x + one.y


def in_a_while(x):
    p, k = Vec(0.0, 0.0), 0
    while abs(p) < 5 and k < len(x):
        p = p + Vec(x[k], 1.0)
        k += 1
    return p.x, p.y, k


def nested(x):
    total = Vec(0.0, 0.0)
    for i in range(len(x)):
        row = Vec(0.0, 1.0)
        for j in range(i):
            row = row + Vec(x[j], i * j)
        total = total + row * x[i]
    return total.x, total.y


def attribute_of_another(x):
    class Body:
        pass

    body = Body()
    body.place, body.mass = Vec(0.0, 0.0), 2.0
    for v in x:
        body.place = body.place + Vec(v, body.mass)
    return body.place.x, body.place.y


X = np.array([1.0, -3.0, 2.5, 0.5, 4.0, 1.5])
COMPILED = [
    *(orbit, counted, derived, chosen, exchanged, last_one, in_a_while, nested),
    attribute_of_another,
]


@pytest.mark.parametrize("function", COMPILED)
def test_compiled(function):
    check(function, (X,), jit=True, variants=None)
    compiled = decorate(function, jit=False, fullgraph=True)
    for x in (X, np.arange(300.0) / 300, X[::-1].copy()):
        assert repr(compiled(x)) == repr(function(x))


def changed_by_another_name(x):
    p = q = Vec(0.0, 0.0)
    for v in x:
        q.x += v
        p = p + Vec(1.0, q.x)
    return p.x, p.y, q.x


def changed_after_it(x):
    p = q = Vec(0.0, 0.0)
    for v in x:
        if v > 5:
            p = Vec(v, v)
    q.x = 7.0
    return p.x


def changed_in_the_loop(x):
    p = Vec(0.0, 0.0)
    for v in x:
        p = p + Vec(v, 1.0)
        p.x += 1.0
    return p.x, p.y


def is_the_first(x):
    p = first = Vec(0.0, 0.0)
    for v in x:
        if v > 3:
            p = Vec(v, v)
    return p is first, p == first, p in [first]


def as_a_key(x):
    p = first = Vec(0.0, 0.0)
    names = {first: 1.0}
    for v in x:
        if v > 3:
            p = Vec(v, v)
    return names.get(p, -1.0)


def two_names(x):
    p = Vec(0.0, 0.0)
    for v in x:
        old = p
        p = p + Vec(v, 1.0)
        if v > 2:
            p = old
    old.x = 100.0
    return p.x, p.y


def two_classes(x):
    p = Vec(0.0, 0.0)
    for v in x:
        p = Vec(v, v) if v > 0 else Slotted(v)
    return type(p).__name__


def with_a_list(x):
    class Bag:
        def __init__(self, items):
            self.items = items

    bag = Bag([0.0])
    for v in x:
        bag = Bag([*bag.items, v])
    return bag.items


def in_a_conditional(x):
    p = q = Vec(1.0, 2.0)
    if x[0] > 2:
        p = Vec(3.0, 4.0)
    q.x = 9.0
    return p.x, q.x


def outer_change(x):
    q = Vec(0.0, 0.0)
    p = q
    for i in range(len(x)):
        q.x += 1.0
        for j in range(i - 3):
            p = p + Vec(x[j], 1.0)
    return p.x, p.y, q.x


@pytest.mark.filterwarnings("ignore::fusejit.notices.FuseWarning")
@pytest.mark.parametrize(
    "function",
    [
        *(changed_by_another_name, changed_after_it, changed_in_the_loop, is_the_first, as_a_key),
        *(two_names, two_classes, with_a_list, in_a_conditional, outer_change),
    ],
)
def test_right(function):
    compiled = decorate(function, jit=False)
    for x in (X, X[::-1].copy(), X / 10, np.arange(300.0) / 300):
        assert repr(compiled(x)) == repr(function(x))
