"""Attributes of objects from outside that loops and conditionals change: written back once."""

import copy

import numpy as np
import pytest

from fusejit_testing.oracle import decorate


class Meter:
    def __init__(self, total=0.0, count=0, last=None):
        self.total, self.count, self.last = total, count, last
        self.values = np.zeros(3)

    def add_all(self, x):
        for v in x:
            self.total += v
            self.count += 1
        return self.total

    def tell(self, x):
        if x[0] > 2:
            self.count += 1
        elif x[0] < 0:
            self.count -= 1
        return self.count

    def keep_large(self, x):
        for v in x:
            if v > 2:
                self.last = float(v)
        return self.last

    def add(self, v):
        self.total += v

    def through_methods(self, x):
        for v in x:
            self.add(v)
            self.add(2 * v)
        self.add(1.0)
        return self.count

    def begun_outside(self, x):
        self.total = 0.0
        self.count = 0
        for v in x:
            self.total = self.total + v
        self.total = self.total / len(x)
        return self.total

    def until(self, x):
        self.count = 0
        while self.count < len(x) and x[self.count] > 0:
            self.total += x[self.count]
            self.count += 1
        return self.total

    def in_place(self, x):
        for k in range(len(x)):
            self.values[k] += x[k]
            self.total += self.values[k]
        return self.values.sum()

    def nested(self, x):
        for i in range(len(x)):
            for j in range(i):
                self.total += x[i] * x[j]
                if self.total > 5:
                    self.count += 1
        return self.count


class Slotted:
    __slots__ = ("total",)

    def __init__(self):
        self.total = 1.0

    def add_all(self, x):
        for v in x:
            self.total *= v
        return self.total


class Level:
    def __init__(self):
        self._level = 1.0
        self.meter = Meter()

    @property
    def level(self):
        return self._level

    @level.setter
    def level(self, value):
        self._level = min(value, 5.0)

    def raise_it(self, x):
        for v in x:
            self.level = self.level + v
        return self.level

    def measure(self, x):
        for v in x:
            self.meter.total += v
        return self.meter.total


X = np.array([1.0, 3.0, 2.5])
OTHERS = [X, X[::-1].copy(), -X, X[:1].copy(), X * 10]
COMPILED = [
    (Meter, "add_all"),
    (Meter, "tell"),
    (Meter, "keep_large"),
    (Meter, "through_methods"),
    (Meter, "begun_outside"),
    (Meter, "until"),
    (Meter, "in_place"),
    (Meter, "nested"),
    (Slotted, "add_all"),
    (Level, "raise_it"),
    (Level, "measure"),
]


def state(obj):
    names = getattr(obj, "__slots__", None) or vars(obj)
    parts = {name: getattr(obj, name) for name in names}
    return {n: state(p) if isinstance(p, Meter) else p for n, p in parts.items()}


def same(left, right):
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    return type(left) is type(right) and repr(left) == repr(right)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize(("kind", "name"), COMPILED)
def test_compiled(kind, name, jit):
    method = vars(kind)[name]
    compiled = decorate(method, jit=jit)
    ours, theirs = kind(), kind()
    for x in OTHERS:
        assert same(compiled(ours, x), method(theirs, x))
        assert same(state(ours), state(theirs))
    assert compiled.variants, compiled.explain(ours, X)


def clipped(meter, x):
    for k in range(len(x)):
        meter.total += x[k]
        x[k] = 0.0
        if meter.total > 5:
            raise ValueError("too much")
    return meter.total


def beyond_the_end(meter, x, n):
    for k in range(n):
        x[k] = meter.total
        meter.total += 1.0


def raising(meter, x):
    for v in x:
        meter.total += v
        if meter.total > 5:
            raise ValueError("too much")


def beyond_64_bits(meter, x):
    for _ in x:
        meter.count = meter.count * 2**30 + 1
    return meter.count


def of_two(meter, x, other):
    for v in x:
        meter.total += v
        other.total -= 2 * v
    return meter.total, other.total


def read_of_another(meter, x, other):
    for v in x:
        meter.total = other.total + v
    return meter.total


def late(meter, x):
    for v in x:
        if v > 2:
            meter.found = v
    return getattr(meter, "found", None)


def taken_away(meter, x):
    for v in x:
        if v > 2 and hasattr(meter, "last"):
            del meter.last


def of_a_list(meters, x):
    for v in x:
        for meter in meters:
            meter.total += v


def texts(meter, x):
    for v in x:
        meter.last = "large" if v > 2 else "small"
    return meter.last


CALLS = [
    (clipped, lambda: (Meter(), X.copy())),
    (clipped, lambda: (Meter(), np.zeros(3))),
    (beyond_the_end, lambda: (Meter(), X.copy(), 3)),
    (beyond_the_end, lambda: (Meter(), X.copy(), 5)),
    (raising, lambda: (Meter(), X)),
    (raising, lambda: (Meter(), np.zeros(3))),
    (beyond_64_bits, lambda: (Meter(count=1), X[:1])),
    (beyond_64_bits, lambda: (Meter(count=1), X)),
    (of_two, lambda: (Meter(), X, Meter())),
    (of_two, lambda: (m := Meter(), X, m)),
    (read_of_another, lambda: (Meter(), X, Meter())),
    (read_of_another, lambda: (m := Meter(), X, m)),
    (late, lambda: (Meter(), X)),
    (taken_away, lambda: (Meter(), X)),
    (of_a_list, lambda: ([Meter(), Meter()], X)),
    (of_a_list, lambda: ([m := Meter(), m], X)),
    (texts, lambda: (Meter(), X)),
]


@pytest.mark.filterwarnings("ignore::fusejit.notices.FuseWarning")
@pytest.mark.parametrize("function", dict.fromkeys(f for f, _ in CALLS))
def test_right(function):
    compiled = decorate(function, jit=False)
    makers = [make for f, make in CALLS if f is function]
    for make in [*makers, *makers[::-1]]:
        ours = make()
        theirs = copy.deepcopy(ours)
        outcomes = []
        for f, args in ((compiled, ours), (function, theirs)):
            try:
                outcomes.append(f(*args))
            except (ValueError, IndexError) as error:
                outcomes.append(repr(error))
        assert same(*outcomes)
        for left, right in zip(ours, theirs, strict=True):
            pairs = zip(left, right, strict=True) if isinstance(left, list) else [(left, right)]
            for a, b in pairs:
                assert same(*(map(state, (a, b)) if isinstance(a, Meter) else (a, b)))


class Counter:
    """The attribute is the class's until an object is given its own."""

    count = 0

    def count_large(self, x):
        for v in x:
            if v > 2:
                self.count += 1


def test_an_attribute_of_the_class_alone():
    compiled = decorate(Counter.count_large, jit=False)
    for x in (np.zeros(2), X, X, np.zeros(2)):
        ours, theirs = Counter(), Counter()
        for _ in range(2):
            compiled(ours, x)
            theirs.count_large(x)
            assert vars(ours) == vars(theirs)


def test_a_class_that_gets_the_attribute_later():
    class Tally:
        def __init__(self):
            self.count = 0

    def count_large(tally, x):
        for v in x:
            if v > 2:
                tally.count += 1

    compiled = decorate(count_large, jit=False)
    tally = Tally()
    compiled(tally, X)
    assert tally.count == 2
    Tally.count = 40
    bare = object.__new__(Tally)
    compiled(bare, np.zeros(2))
    assert vars(bare) == {}
    compiled(bare, X)
    assert bare.count == 42
