"""Where objects in lists and made inside have their attributes: classes, slots, descriptors."""

import functools
import importlib
import random
import warnings

import pytest

from fusejit_testing.oracle import decorate


class Doubled:
    """A descriptor of the program's that answers for the attribute."""

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, obj, kind=None):
        return self if obj is None else 2 * vars(obj)[self.name]

    def __set__(self, obj, value):
        vars(obj)[self.name] = value


class Gauge:
    level = Doubled()

    def __init__(self, level):
        self.level = level

    @functools.cached_property
    def square(self):
        return self.level * self.level


class Body:
    mass = 1.5
    seen = False

    def __init__(self, x):
        self.x = x

    def weight(self):
        return 9.0 * self.mass

    def __repr__(self):
        return f"Body({sorted(vars(self).items())})"


class Base:
    __slots__ = ("a",)


class Derived(Base):
    __slots__ = ("b",)

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __repr__(self):
        return f"Derived({self.a}, {self.b})"


def gauges(n):
    return [Gauge(0.5 * k) for k in range(n)]


def bodies(n):
    return [Body(1.5 * k) for k in range(n)]


def own_masses(n):
    made = bodies(n)
    for k, body in enumerate(made):
        if k % 2:
            body.mass = float(k)
            body.weight = functools.partial(float, k)
    return made


def derived(n):
    return [Derived(1.5 * k, k) for k in range(n)]


def levels(gs):
    return [g.level for g in gs]


def levels_of_new_ones(gs):
    made = [Gauge(g.level) for g in gs]
    total = 0.0
    for g in made:
        g.level = g.level + 1
        total += g.level
    return total


def cached(gs):
    total = 0.0
    for g in gs:
        total += g.square
        g.level = 0.0
        total += g.square
    return total


def masses(bs):
    total = 0.0
    for b in bs:
        total += b.mass
    return total


def weights(bs):
    return [b.weight() for b in bs]


def new_attribute(bs):
    for b in bs:
        b.fresh = b.x + 1
    return sum(b.fresh for b in bs)


def marked(bs):
    count = 0
    for b in bs:
        if not b.seen:
            b.seen = True
            count += 1
    return count


def absent(bs):
    return sum(getattr(b, "z", 2) for b in bs)


def of_base_class(ss):
    for s in ss:
        s.a += s.b
    return max(ss, key=lambda s: s.a, default=None)


def in_dict(bs):
    total = 0.0
    for b in bs:
        total += b.__dict__["x"]
    return total


CASES = [
    *((function, gauges) for function in (levels, levels_of_new_ones, cached)),
    *((function, bodies) for function in (masses, weights, new_attribute, marked, absent, in_dict)),
    *((function, own_masses) for function in (masses, weights, new_attribute)),
    *((function, derived) for function in (of_base_class, absent)),
]


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize(("function", "make"), CASES)
def test_as_python(function, make):
    compiled = decorate(function, jit=False, tiering=False)
    for n in (5, 9, 0, 30):
        ours, theirs = make(n), make(n)
        for _ in range(2):
            assert repr(compiled(ours)) == repr(function(theirs))
            assert repr(ours) == repr(theirs) or function in (levels, levels_of_new_ones, cached)


def test_new_attributes_are_no_fault():
    compiled = decorate(new_attribute, jit=False, tiering=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiled(bodies(6)) == new_attribute(bodies(6))
        assert compiled(bodies(9)) == new_attribute(bodies(9))
    assert "internal error" not in repr(compiled.variants)


HELPER = """
class Part:
    def __init__(self, x):
        self.x = x

PARTS = [Part(1.0 * k) for k in range(9)]

def total(scale):
    found = 0.0
    for part in PARTS:
        found += scale * part.x
        part.x += 1
    return found
"""


def test_a_list_of_a_helpers_module_is_compiled_once(tmp_path, monkeypatch):
    (tmp_path / "module_with_parts.py").write_text(HELPER)
    monkeypatch.syspath_prepend(tmp_path)
    helper = importlib.import_module("module_with_parts")

    def twice(scale):
        return 2 * helper.total(scale)

    compiled = decorate(twice, jit=False, tiering=False)
    expected = 36.0
    for scale in (2.0, 3.0, 4.0, 5.0):
        assert compiled(scale) == 2 * scale * expected
        expected += 9
    assert len(compiled.variants) == 1


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_a_list_that_holds_itself():
    def first(xs):
        total = 0
        for x in xs[:-1]:
            total += x
        return total

    compiled = decorate(first, jit=False, tiering=False)
    xs = [1, 2, 3]
    xs.append(xs)
    assert compiled(xs) == first(xs) == 6
    ys = [4, [5]]
    ys[1][0] = ys
    assert compiled(ys) == first(ys) == 4
    assert "internal error" not in repr(compiled.variants)


def test_an_argument_that_a_generator_has_not():
    def walk(n):
        rng = random.Random(seed=n)
        return rng.random()

    compiled = decorate(walk, jit=False, tiering=False)
    for function in (walk, compiled):
        with pytest.raises(TypeError, match="keyword"):
            function(3)
