"""Attributes that loops and conditionals change: numbers, arrays and lists of objects."""

from collections import deque
from dataclasses import dataclass

import numpy as np
import pytest

from fusejit_testing.oracle import check, decorate


class Account:
    def __init__(self, balance):
        self.balance = balance
        self.count = 0

    def deposit(self, amount):
        if amount <= 0:
            return False
        self.balance += amount
        self.count += 1
        return True

    def withdraw(self, amount):
        if amount > self.balance:
            return False
        self.balance -= amount
        return True


class Generator:
    __slots__ = ("state",)

    def __init__(self, seed):
        self.state = seed

    def draw(self):
        self.state = (1103515245 * self.state + 12345) % 2147483648
        return self.state


class RunningMean:
    def __init__(self, size):
        self.size = size
        self.values = deque()
        self.total = 0.0

    def add(self, value):
        self.values.append(value)
        self.total += value
        if len(self.values) > self.size:
            self.total -= self.values.popleft()
        return self.mean

    @property
    def mean(self):
        return self.total / len(self.values) if self.values else float("nan")


class Parser:
    def __init__(self, text):
        self.text = text
        self.pos = 0

    def number(self):
        value = 0
        while self.pos < len(self.text) and self.text[self.pos].isdigit():
            value = value * 10 + int(self.text[self.pos])
            self.pos += 1
        return value

    def total(self):
        total = self.number()
        while self.pos < len(self.text):
            self.pos += 1
            total += self.number()
        return total


@dataclass
class Elevator:
    floor: int = 0
    moved: int = 0
    is_up: bool = True


class Box:
    pass


class Limited:
    """Its attribute is a property, which stores another one."""

    def __init__(self):
        self._level = 0.0

    @property
    def level(self):
        return self._level

    @level.setter
    def level(self, value):
        self._level = min(value, 10.0)


def bank(amounts):
    account, done = Account(100.0), 0
    for k in range(len(amounts)):
        if amounts[k] > 0:
            done += account.deposit(amounts[k])
        else:
            done += account.withdraw(-amounts[k])
    return account.balance, account.count, done


def drawn(n):
    generator, out = Generator(42), np.zeros(n)
    for k in range(n):
        out[k] = generator.draw() / 2147483648
    return out, generator.state


def walk(n):
    generator, x = Generator(7), 0
    while x < n:
        if generator.draw() % 3 > 0:
            x += 1
        else:
            x -= 1
        if generator.state % 1000 == 0:
            break
    return x, generator.state


def smooth(values):
    running = RunningMean(3)
    return np.array([running.add(v) for v in values])


def parsed(text):
    return Parser(text).total()


def elevator(calls):
    lift = Elevator()
    for call in calls:
        while lift.floor != call:
            if lift.floor < call:
                lift.floor += 1
                lift.is_up = True
            else:
                lift.floor -= 1
                lift.is_up = False
            lift.moved += 1
    return lift.moved, lift.is_up, lift.floor


def best(x):
    box = Box()
    box.best, box.place = None, -1
    for k in range(len(x)):
        if box.best is None or x[k] > box.best:
            box.best, box.place = x[k], k
    return box.best, box.place


def two(x):
    a, b = Account(0.0), Account(10.0)
    for v in x:
        if v > 0:
            a.deposit(v)
            b.withdraw(v)
    return a.balance, a.count, b.balance


def exchanged(x):
    a, b = Account(0.0), Account(10.0)
    for v in x:
        a.balance, b.balance = b.balance, a.balance + v
    return a.balance, b.balance


def array_bound_again(x):
    box = Box()
    box.u = x.copy()
    for _ in range(len(x)):
        box.u = box.u * 0.5 + 1
    return box.u


def with_a_setter(x):
    limited = Limited()
    for v in x:
        limited.level = limited.level + v
    return limited.level


def one_of_two_names(x):
    a = Account(0.0)
    b = a
    for v in x:
        a.balance += v
        b.count += 1
    return a.count, b.balance, a is b


def in_an_expression(x):
    account = Account(3.0)
    done = [account.deposit(v) if v > 1 else account.withdraw(1.0) for v in x]
    return done, account.balance


def in_nested_loops(x):
    box = Box()
    box.total = 0
    for i in range(len(x)):
        box.row = 0.0
        for j in range(i):
            box.row += x[j]
            if box.row > 5:
                box.total += 1
                break
    return box.total, box.row


X = np.array([5.0, -3.0, 2.0, -200.0, 7.0, 1.0])
WHOLE = [
    (bank, X),
    (bank, X.tolist()),
    (drawn, 9),
    (walk, 30),
    (smooth, X.tolist()),
    (parsed, "12+345+6789"),
    (elevator, [3, 1, 4, 1, 5, 9, 2]),
    (best, X),
    (two, X),
    (exchanged, X),
    (array_bound_again, X),
    (with_a_setter, X),
    (one_of_two_names, X),
    (in_an_expression, X),
    (in_nested_loops, X),
]


@pytest.mark.parametrize(("function", "argument"), WHOLE)
def test_whole(function, argument):
    check(function, (argument,), jit=True, variants=None)
    decorate(function, jit=False, fullgraph=True)(argument)


def new_in_a_branch(x):
    box = Box()
    for v in x:
        if v > 6:
            box.found = v
    return getattr(box, "found", None)


def taken_away(x):
    box = Box()
    box.a = 1.0
    for v in x:
        if v > 6:
            del box.a
    return hasattr(box, "a")


def in_a_condition(x):
    generator = Generator(3)
    count = 0
    while generator.draw() % 7 > 0 and count < len(x):
        count += 1
    return count, generator.state


@pytest.mark.parametrize("function", [new_in_a_branch, taken_away, in_a_condition])
def test_right(function):
    check(function, (X,), variants=None)


class Meter:
    def __init__(self):
        self.total = 0.0
        self.count = 0

    def add_all(self, x):
        for v in x:
            self.total += v
            self.count += 1
        return self.total


def test_of_an_argument():
    ours, theirs = Meter(), Meter()
    added = decorate(Meter.add_all, jit=False)
    for _ in range(3):
        assert added(ours, X) == theirs.add_all(X)
        assert vars(ours) == vars(theirs)


class Scanner:
    def __init__(self, text):
        self.text = text
        self.pos = 0

    def sign(self):
        if self.pos < len(self.text) and self.text[self.pos] == "-":
            self.pos += 1
            return -self.sign()
        value = 0
        while self.pos < len(self.text) and self.text[self.pos].isdigit():
            value = value * 10 + int(self.text[self.pos])
            self.pos += 1
        return value

    def peek(self):
        while self.pos < len(self.text) and self.text[self.pos] == " ":
            self.pos += 1
        return self.text[self.pos] if self.pos < len(self.text) else ""

    def total(self):
        total = 0
        while self.peek() in ("+", "-"):
            op = self.peek()
            self.pos += 1
            total = total + 1 if op == "+" else total - 1
        return total


def signed(text):
    return Scanner(text).sign()


def balance(text):
    return Scanner(text).total()


def first_written_in_an_inner_loop(x):
    box = Box()
    box.n = 0
    seen = []
    for i in range(len(x)):
        if x[i] > 0:
            k = 0
            while k < i:
                box.n += k
                k += 1
        seen.append(box.n)
    return seen


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (signed, "--" * 10 + "123"),
        (signed, "-77"),
        (balance, "+ + - +  -"),
        (first_written_in_an_inner_loop, X),
    ],
)
def test_of_parsers(function, argument):
    check(function, (argument,), variants=None)
