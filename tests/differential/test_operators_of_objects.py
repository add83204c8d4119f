"""Operators, and functions of Python's, on objects of plain classes, which are methods."""

import math
import operator

import numpy as np
import pytest

from fusejit_testing.oracle import check, decorate


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        if not isinstance(other, Vector):
            return NotImplemented
        return Vector(self.x + other.x, self.y + other.y)

    def __radd__(self, other):
        return self if other == 0 else NotImplemented

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor)

    def __rmul__(self, factor):
        return Vector(factor * self.x, factor * self.y)

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __abs__(self):
        return math.hypot(self.x, self.y)

    def __eq__(self, other):
        return self.x == other.x and self.y == other.y

    def __lt__(self, other):
        return abs(self) < abs(other)

    def __getitem__(self, place):
        return (self.x, self.y)[place]

    def __bool__(self):
        return bool(self.x != 0 or self.y != 0)

    def __call__(self, t):
        return self.x + t * self.y


class Longer(Vector):
    """Its reflected method comes first."""

    def __radd__(self, other):
        return Longer(other.x + 10 * self.x, other.y + 10 * self.y)

    def __gt__(self, other):
        return 2 * abs(self) > abs(other)


class Polynomial:
    def __init__(self, coefficients):
        self.c = coefficients

    def __len__(self):
        return len(self.c)

    def __getitem__(self, k):
        return self.c[k]

    def __setitem__(self, k, value):
        self.c[k] = value

    def __iadd__(self, other):
        for k in range(len(other)):
            self.c[k] = self.c[k] + other[k]
        return self

    def __iter__(self):
        return iter(self.c)

    def __call__(self, x):
        total = 0.0
        for c in self.c:
            total = total * x + c
        return total


class Countdown:
    def __init__(self, start):
        self.left = start

    def __iter__(self):
        return self

    def __next__(self):
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        return self.left


class Row:
    """Only its items say how many there are."""

    def __init__(self, items):
        self.items = items

    def __getitem__(self, place):
        return self.items[place]


def arithmetic(x):
    a, b = Vector(x[0], x[1]), Vector(x[2], 1.0)
    c = 2.0 * (a + b) - -a * x[3]
    c += b
    return c.x, c.y, a @ b, abs(c)


def reflected(x):
    a = Vector(x[0], x[1])
    b = sum([a, a * 2, x[0] * a])
    return b.x, b.y, (x[1] * a).y


def subclass_first(x):
    c = Vector(x[0], x[1]) + Longer(x[2], x[3])
    d = Longer(x[2], x[3]) + Vector(x[0], x[1])
    return c.x, c.y, type(c).__name__, d.x, type(d).__name__


def compared(x):
    a, b = Vector(x[0], x[1]), Vector(x[2], x[3])
    return a == b, a != b, a < b, a > b, Longer(x[0], x[1]) > b, b < Longer(x[0], x[1])


def chosen(x):
    a, b = Vector(x[0], x[1]), Vector(x[2], x[3])
    small = 1 if a < b else 2
    if a:
        small += 10
    if not b and a:
        small += 100
    return small, bool(a)


def called(x):
    a = Vector(x[0], x[1])
    return a(x[2]), list(map(a, (1.0, 2.0))), a[0], a[1]


def of_operator(x):
    a, b = Vector(x[0], x[1]), Vector(x[2], x[3])
    return operator.add(a, b).x, operator.neg(a).y, operator.eq(a, b), operator.lt(a, b)


def in_loops(x):
    place, speed = Vector(0.0, 0.0), Vector(1.0, 0.5)
    for v in x:
        speed = speed - Vector(v, place.x) * 0.1
        place = place + speed * 0.5
    return place.x, place.y, abs(speed)


def container(x):
    p = Polynomial([x[0], x[1], x[2]])
    q = p
    p += Polynomial([x[3], 1.0, 2.0])
    p[1] = p[1] + 0.5
    total = 0.0
    for c in p:
        total += c
    return total, len(p), p(2.0), p is q, list(p), max(p), min(p), sum(p)


def of_arrays(x):
    p = Polynomial(x.copy())
    p[0] = 7.0
    return len(p), p[0] + p[-1], p(0.5), sum(p)


def attribute_augmented(x):
    p = Polynomial([Vector(x[0], x[1])])
    p.c[0] += Vector(1.0, x[2])
    p.last = p[0]
    p.last += p[0]
    return p[0].x, p[0].y, p.last.x, p.last.y


def comprehensions(x):
    p = Polynomial([x[0], x[1]])
    return (
        [2 * c for c in p],
        {k: 2 * c for k, c in enumerate(p)},
        [a + b for a, b in zip(p, p, strict=True)],
    )


def stepped(x):
    total = 0.0
    for k in Countdown(3):
        total += k * x[k]
    return total, list(Countdown(4)), [k + 1 for k in Countdown(2)]


def by_place(x):
    return [2 * v for v in Row([x[0], x[1]])], sum(Row((x[2], x[3])))


class Interval:
    def __init__(self, low, high):
        self.low, self.high = low, high

    def __contains__(self, value):
        return self.low <= value <= self.high

    def __iter__(self):
        yield self.low
        yield self.high


class Ring:
    def __init__(self, size):
        self.data, self.start, self.count = np.zeros(size), 0, 0

    def push(self, value):
        self.data[(self.start + self.count) % len(self.data)] = value
        if self.count == len(self.data):
            self.start = (self.start + 1) % len(self.data)
        else:
            self.count += 1

    def __len__(self):
        return self.count

    def __iter__(self):
        """The values, the oldest first."""
        for k in range(self.count):
            yield self.data[(self.start + k) % len(self.data)]


class Pairs:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        for k, v in enumerate(self.items):
            yield k * v


class Same:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        yield from self.items


def last_values(x):
    ring, spans = Ring(3), []
    for v in x:
        ring.push(v)
        spans.append(max(ring) - min(ring))
    total = 0.0
    for v in ring:
        total += v
    return spans, total, len(ring)


def generated(x):
    total = 0.0
    for v in Pairs(x):
        total += v
    for v in Same(x):
        total += v
    return total, sum(Pairs(x)), [2 * v for v in Same(x)]


def changed_meanwhile(x):
    ring = Ring(2)
    ring.push(x[0])
    ring.push(x[1])
    total = 0.0
    for v in ring:
        total += v
        ring.push(total)
    later = zip(ring, x, strict=False)
    ring.push(100.0)
    return total, [a + b for a, b in later], [next(iter(ring)), next(iter(ring))]


def in_an_interval(x):
    inside = Interval(0.0, 3.5)
    return [v in inside for v in (x[0], x[1])], x[2] not in inside


def taken_apart(x):
    low, high = Interval(x[0], x[1])
    first, *rest = Polynomial([x[2], low, high])
    return math.hypot(*Interval(x[2], x[3])), [*Interval(low, high)], first, rest


X = np.array([3.0, 4.0, -1.0, 2.0])
FUNCTIONS = [
    arithmetic,
    reflected,
    subclass_first,
    compared,
    chosen,
    called,
    of_operator,
    in_loops,
    container,
    of_arrays,
    attribute_augmented,
    comprehensions,
    stepped,
    by_place,
    last_values,
    generated,
    changed_meanwhile,
    in_an_interval,
    taken_apart,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_whole(function):
    check(function, (X,), jit=True, variants=None)
    for x in (X, np.array([0.0, 0.0, 0.0, 0.0]), np.array([1.0, 1.0, 1.0, 1.0])):
        assert repr(decorate(function, jit=False, fullgraph=True)(x)) == repr(function(x))


class Money(float):
    def __add__(self, other):
        return Money(100.0)

    def __rmul__(self, other):
        return Money(7.0)

    def __eq__(self, other):
        return NotImplemented


def numbers_of_a_subclass(x):
    m, n = Money(2.0), len(x)
    return x[0] * m, n * m, m + x[1], n == m, m == n, m == 2.0


def missing(x):
    return Vector(x[0], x[1]) + 1.0


def missing_reflected(x):
    return 1.0 + Vector(x[0], x[1])


def missing_comparison(x):
    return Polynomial([x[0]]) < Polynomial([x[1]])


def negative_length(x):
    class Odd:
        def __len__(self):
            return int(x[2])

    return len(Odd())


def not_a_bool(x):
    class Odd:
        def __bool__(self):
            return 3

    return 1 if Odd() else x[0]


def no_iterator(x):
    class Odd:
        def __iter__(self):
            return [x[0]]

    return [2 * v for v in Odd()]


def caught(x):
    try:
        return Vector(x[0], x[1]) + 1.0
    except TypeError as error:
        return str(error)


def array_on_the_left(x):
    return (x * Vector(1.0, 2.0))[1].x, (x[0] * Vector(1.0, 2.0)).x


def in_containers(x):
    a = Vector(x[0], x[1])
    return a in [Vector(x[0], x[1])], [a, 1] == [Vector(x[0], x[1]), 1]


@pytest.mark.parametrize(
    "function",
    [
        numbers_of_a_subclass,
        *(missing, missing_reflected, missing_comparison, negative_length, not_a_bool),
        *(no_iterator, caught, array_on_the_left, in_containers),
    ],
)
def test_left_to_python(function):
    check(function, (X,), variants=None)


def test_of_a_class_that_is_changed():
    class Money:
        def __init__(self, amount):
            self.amount = amount

        def __add__(self, other):
            return NotImplemented

    class Other(Money):
        __add__ = None  # set below

    del Other.__add__

    def total(a, b):
        try:
            return a + b
        except TypeError:
            return -1.0

    compiled = decorate(total, jit=False)
    a, b = Money(1.0), Other(2.0)
    assert compiled(a, b) == total(a, b) == -1.0
    Other.__radd__ = lambda self, other: self.amount - other.amount
    assert compiled(a, b) == total(a, b) == 1.0
    Other.__radd__ = lambda self, other: self.amount * 5
    assert compiled(a, b) == total(a, b) == 10.0


def test_of_arguments():
    def moved(a, b, t):
        return (a + b * t).x, a == b, bool(a)

    compiled = decorate(moved, jit=False, fullgraph=True)
    for a, b in ((Vector(1.0, 2.0), Vector(3.0, 4.0)), (Vector(0.0, 0.0), Vector(0.0, 0.0))):
        assert compiled(a, b, 0.5) == moved(a, b, 0.5)
