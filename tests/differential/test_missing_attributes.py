"""Attributes that loops and conditionals give to objects first, and heads of loops that store."""

import math

import numpy as np
import pytest

from fusejit_testing.oracle import check, decorate


class Box:
    pass


class Stump:
    def fit(self, x, y):
        self.error = math.inf
        for place in range(len(x)):
            for sign in (1, -1):
                error = 0.0
                for k in range(len(x)):
                    error += y[k] != (sign if x[k] <= x[place] else -sign)
                if error < self.error:
                    self.error, self.place, self.sign = error, place, sign
        return self


def fitted(x):
    stump = Stump().fit(x, np.where(x > 1, 1.0, -1.0))
    return stump.error, stump.place, stump.sign


def found(x):
    box = Box()
    for k in range(len(x)):
        if x[k] > 1.5:
            box.place = k
            break
    return box.place


def in_a_conditional(x):
    box = Box()
    if x[0] > 0:
        box.value = x[0]
        box.count = 1
    if x[1] > 0:
        box.value = x[1]
        box.count = 2
    return box.value, box.count


def asked(x):
    box = Box()
    for v in x:
        if v > 1.5:
            box.value = v
    return box.value if hasattr(box, "value") else -1.0


def in_a_while(x):
    box = Box()
    k = 0
    while k < len(x):
        if x[k] > 0:
            box.last = k
        k += 1
    box.next = box.last + 1
    return box.next


def changed_later(x):
    box = Box()
    for k in range(len(x)):
        if x[k] > 1.5:
            box.place = k
    box.place = 7
    return box.place


def counted(x):
    box = Box()
    for box.k in range(len(x)):
        if x[box.k] > 1.5:
            break
    return box.k


def into_items(x):
    out = np.zeros(2)
    for k, out[0] in enumerate(x):
        out[1] += out[0] * k
    return out


def into_attributes(x):
    box = Box()
    total = 0.0
    for box.place, box.value in enumerate(x):
        total += box.place * box.value
    return total, box.place, box.value


class Slots:
    __slots__ = ("row", "total")


def of_slots(x):
    slots = Slots()
    slots.total = 0.0
    for v in x:
        slots.row = x * v
        slots.total += slots.row.sum()
    return slots.total


class Tally:
    count = 0
    total = 0.0

    def add(self, v):
        self.count += 1
        self.total += v


class Five(Tally):
    count = 5


def of_the_class(x):
    tally = Tally()
    for v in x:
        tally.add(v)
    return tally.count, tally.total


def of_the_class_in_a_conditional(x):
    tally, other = Five(), Five()
    for v in x:
        if v > 1:
            tally.count += 1
    if x[0] > 0:
        other.count = 3
    return tally.count, other.count, Five().count


X = np.array([1.0, -3.0, 2.5, 0.5])
COMPILED = [
    *(fitted, found, in_a_conditional, asked, in_a_while, changed_later, counted),
    *(into_items, into_attributes, of_the_class, of_the_class_in_a_conditional, of_slots),
]


@pytest.mark.parametrize("function", COMPILED)
def test_compiled(function):
    check(function, (X,), jit=True, variants=None)
    decorate(function, jit=False, fullgraph=True)(X)


@pytest.mark.filterwarnings("ignore::fusejit.notices.FuseWarning")
@pytest.mark.parametrize("function", COMPILED)
def test_where_nothing_is_found(function):
    compiled = decorate(function, jit=False)
    for x in (X, -abs(X), X, np.zeros(2)):
        outcomes = []
        for f in (compiled, function):
            try:
                outcomes.append(repr(f(x)))
            except (AttributeError, TypeError) as error:
                outcomes.append(repr(error))
        assert outcomes[0] == outcomes[1]


def all_of_them(x):
    box = Box()
    box.count = 0
    for v in x:
        if v > 1.5:
            box.value = v
    return sorted(vars(box))


def dictionary(x):
    box = Box()
    box.count = 0
    for v in x:
        if v > 1.5:
            box.value = v
    return sorted(box.__dict__)


def taken_away(x):
    box = Box()
    for v in x:
        if v > 1.5:
            box.value = v
    del box.value
    return hasattr(box, "value")


def none_or_number(x):
    box = Box()
    for v in x:
        if v > 1.5:
            box.value = v
        if v < 0:
            box.value = None
    return box.value


def matched(x):
    box = Box()
    for v in x:
        if v > 1.5:
            box.value = v
    match box:
        case Box(value=value):
            return value
    return -1.0


def class_beside_it(x):
    tally = Tally()
    for v in x:
        if v > 1.5:
            tally.count += 1
    return tally.count, sorted(tally.__dict__), type(tally).count


def not_its_own(x):
    tally = Tally()
    for v in x:
        if v > 1.5:
            tally.count += 1
    del tally.count
    return tally.count


def returned(x):
    box = Box()
    for v in x:
        if v > 5:
            box.value = v
    return vars_of(box), box


def vars_of(box):
    return getattr(box, "value", None)


@pytest.mark.filterwarnings("ignore::fusejit.notices.FuseWarning")
@pytest.mark.parametrize(
    "function",
    [
        all_of_them,
        dictionary,
        taken_away,
        none_or_number,
        matched,
        class_beside_it,
        not_its_own,
        returned,
    ],
)
def test_left_to_python(function):
    compiled = decorate(function, jit=False)
    for x in (X, -abs(X), X):
        outcomes = []
        for f in (compiled, function):
            try:
                made = f(x)
                is_box = isinstance(made, tuple) and isinstance(made[1], Box)
                outcomes.append(repr((made[0], vars(made[1])) if is_box else made))
            except AttributeError as error:
                outcomes.append(repr(error))
        assert outcomes[0] == outcomes[1]


def test_a_class_that_is_changed():
    class Level:
        height = 1

    def climbed(x):
        level = Level()
        for v in x:
            if v > 0:
                level.height += 1
        return level.height

    compiled = decorate(climbed, jit=False)
    assert compiled(X) == climbed(X) == 4
    Level.height = 10
    assert compiled(X) == climbed(X) == 13
