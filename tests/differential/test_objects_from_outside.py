"""Lists of objects of a user's class as arguments: kernels read and write their attributes."""

from dataclasses import dataclass

import pytest

from fusejit_testing.oracle import decorate


class Particle:
    limit = 9.0

    def __init__(self, x, v, name):
        self.x, self.v, self.name = x, v, name
        self.history = []

    def move(self, dt):
        self.x += self.v * dt
        if self.x < 0:
            self.x = -self.x
            self.v = -self.v

    @property
    def energy(self):
        return 0.5 * self.v**2

    def __repr__(self):
        return f"Particle({self.x!r}, {self.v!r}, {self.name!r}, {self.history})"


@dataclass
class Item:
    sku: str
    quantity: int
    price: float = 1.0


class Slot:
    __slots__ = ("a", "b", "tag")

    def __init__(self, a, b):
        self.a, self.b, self.tag = a, b, (a, None if a % 3 else b)

    def __repr__(self):
        return f"Slot({self.a!r}, {self.b!r}, {self.tag!r})"


def particles(n):
    return [
        Particle((k * 7.3) % 10 - 2, ((k * 3) % 7) - 3.0, "abc"[k % 3] * (k % 2 + 1))
        for k in range(n)
    ]


def items(n):
    return [Item("abc"[k % 3], k, 0.5 * k) for k in range(n)]


def slots(n):
    return [Slot(k, 2.5 * k) for k in range(n)]


def twice(n):
    made = slots(n)
    return made + made[:3]


def step(ps):
    for p in ps:
        p.move(0.1)


def energy(ps):
    return sum(p.energy for p in ps)


def fastest(ps):
    return max(ps, key=lambda p: abs(p.v)), min(p.x for p in ps)


def in_order(ps):
    return sorted(ps, key=lambda p: (p.name, p.x))


def names(ps):
    return [p.name for p in ps if p.x > 3]


def invoice(items):
    total = 0.0
    for item in items:
        if item.sku == "a":
            total += item.quantity * item.price
        else:
            item.quantity += 1
    return total


def collide(ps):
    hits = 0
    for i in range(len(ps)):
        for j in range(i + 1, len(ps)):
            if abs(ps[i].x - ps[j].x) < 0.5 and ps[i] is not ps[j]:
                ps[i].v, ps[j].v = ps[j].v, ps[i].v
                hits += 1
    return hits


def chosen(ps):
    return [p for p in ps if p.v > 0], ps, ps[-1], len(ps)


def others(ps):
    made = []
    for p in ps:
        if p.x > 2:
            made.append(Item(p.name, 3, p.x))
    return made


def found(ps):
    for p in ps:
        if p.name == "b":
            return p
    return None


def best(ps):
    best = None
    for p in ps:
        if best is None or p.x > best.x:
            best = p
    best.v = -1.0
    return best


def grouped(ps):
    groups = {}
    for p in ps:
        groups.setdefault(p.name, []).append(p)
    return groups


def of_class(ps):
    return sum(p.x > p.limit for p in ps), isinstance(ps[0], Particle)


def slotted(ss):
    total = 0.0
    for s in ss:
        s.a += s.b
        first, second = s.tag
        if second is not None:
            total += first * second
            s.tag = (first + 1, None)
    return max(s.a for s in ss), total


def by_place(ss):
    k, total = 0, 0.0
    while k < len(ss):
        total += ss[k].b
        ss[k].b = 0.0
        k += 2
    return total, ss[len(ss) // 2]


CASES = [
    *[(one, particles) for one in (step, energy, fastest, in_order, names, collide, chosen)],
    *[(one, particles) for one in (others, found, best, grouped, of_class)],
    (invoice, items),
    *[(one, slots) for one in (slotted, by_place)],
    *[(one, twice) for one in (slotted, by_place)],
]


def places(result, objects):
    """The objects of a result by their places in a list."""
    known = {id(obj): place for place, obj in enumerate(objects)}
    pending, found = [result], []
    while pending:
        one = pending.pop()
        found.append(known.get(id(one)))
        pending += one.values() if isinstance(one, dict) else ()
        pending += one if isinstance(one, list | tuple) else ()
    return found


@pytest.mark.parametrize(("function", "make"), CASES)
def test_as_python(function, make):
    compiled = decorate(function, jit=False, fullgraph=True, tiering=False)
    for n in (8, 40, 5, 40, 9):
        ours, theirs = make(n), make(n)
        histories = [getattr(obj, "history", None) for obj in ours]
        result, expected = compiled(ours), function(theirs)
        assert repr(result) == repr(expected)
        assert repr(ours) == repr(theirs)
        assert places(result, ours) == places(expected, theirs)
        assert all(getattr(o, "history", None) is h for o, h in zip(ours, histories, strict=True))
    assert len(compiled.variants) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda ps: setattr(ps[3], "x", 7),
        lambda ps: setattr(ps[3], "x", None),
        lambda ps: setattr(ps[3], "name", 3),
        lambda ps: setattr(ps[3], "move", lambda dt: None),
        lambda ps: setattr(ps[3], "limit", -1.0),
        lambda ps: delattr(ps[3], "v"),
        lambda ps: ps.append(Item("a", 1)),
        lambda ps: ps.append(ps[2]),
        lambda ps: ps.insert(2, None),
        lambda ps: ps.clear(),
    ],
)
@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_other_lists_later(change):
    def run(ps):
        for p in ps:
            p.move(0.5)
        return sum(p.x > p.limit for p in ps), [p.name for p in ps]

    compiled = decorate(run, jit=False, tiering=False)
    compiled(particles(9))
    ours, theirs = particles(9), particles(9)
    change(ours)
    change(theirs)
    outcomes = []
    for function, ps in ((compiled, ours), (run, theirs)):
        try:
            outcomes.append(repr(function(ps)))
        except (AttributeError, TypeError) as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]
    assert repr([vars(p) for p in ours if p]).count("x") == repr(
        [vars(p) for p in theirs if p]
    ).count("x")
    assert [getattr(p, "x", 0) for p in ours] == [getattr(p, "x", 0) for p in theirs]


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_an_object_that_may_be_one_of_the_list():
    def run(ps, other):
        for p in ps:
            if p.x > other.x:
                other.x = p.x + 1
        return other.x

    compiled = decorate(run, jit=False, tiering=False)
    for place in (None, 3, 0, 8):
        ours, theirs = particles(9), particles(9)
        extra = [Particle(1.0, 1.0, "z") if place is None else ps[place] for ps in (ours, theirs)]
        assert compiled(ours, extra[0]) == run(theirs, extra[1])
        assert repr(ours) == repr(theirs)


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_two_lists():
    def run(ps, qs):
        for p in ps:
            p.x += 1
        for q in qs:
            q.x *= 2

    compiled = decorate(run, jit=False, tiering=False)
    for start in (0, 5, 9):
        ours, theirs = particles(9), particles(9)
        compiled(ours, ours[start:] + particles(6))
        run(theirs, theirs[start:] + particles(6))
        assert repr(ours) == repr(theirs)


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_exceptions_leave_what_python_leaves():
    def run(ps, out):
        for k, p in enumerate(ps):
            out[k] = p.x
            p.x = 1 / p.v

    compiled = decorate(run, jit=False, tiering=False)
    for n in (7, 30):
        ours, theirs = particles(n), particles(n)
        sums = [0.0] * n, [0.0] * n
        for function, ps, out in ((compiled, ours, sums[0]), (run, theirs, sums[1])):
            with pytest.raises(ZeroDivisionError):
                function(ps, out)
        assert repr(ours) == repr(theirs)
        assert sums[0] == sums[1]


def test_a_method_that_is_replaced():
    class Local:
        def __init__(self, x):
            self.x = x

        def worth(self):
            return self.x

    def run(objects):
        return sum(one.worth() for one in objects)

    compiled = decorate(run, jit=False, tiering=False)
    objects = [Local(k) for k in range(9)]
    assert compiled(objects) == run(objects) == 36
    Local.worth = lambda self: 2 * self.x
    assert compiled(objects) == run(objects) == 72
    Local.x = property(lambda self: 1)
    assert compiled(objects) == run(objects) == 18


class World:
    def __init__(self, n):
        self.particles = particles(n)
        self.time, self.hits = 0.0, 0

    def step(self, dt):
        for p in self.particles:
            p.move(dt)
            if p.x > 5:
                self.hits += 1
        self.time += dt

    def run(self, steps):
        for _ in range(steps):
            self.step(0.1)
        return sum(p.energy for p in self.particles)

    def fastest(self, _):
        return max(self.particles, key=lambda p: p.v)

    def __repr__(self):
        return f"World({self.particles}, {self.time}, {self.hits})"


class Universe:
    def __init__(self, n):
        self.world = World(n)

    def momentum(self, start):
        for p in self.world.particles:
            start += p.v
        return start

    def __repr__(self):
        return f"Universe({self.world})"


@pytest.mark.parametrize(
    ("method", "make"),
    [
        *[(one, World) for one in (World.step, World.run, World.fastest)],
        (Universe.momentum, Universe),
    ],
)
def test_lists_in_attributes(method, make):
    compiled = decorate(method, jit=False, tiering=False)
    for n in (8, 40, 5, 40):
        ours, theirs = make(n), make(n)
        for _ in range(2):
            assert repr(compiled(ours, 3)) == repr(method(theirs, 3))
            assert repr(ours) == repr(theirs)
    assert len(compiled.variants) == 1


SHARED = particles(30)


def test_a_list_in_a_global():
    def run():
        total = 0.0
        for p in SHARED:
            total += p.x
            p.x += 1
        return total

    compiled = decorate(run, jit=False, fullgraph=True, tiering=False)
    before = sum(p.x for p in SHARED)
    assert compiled() == before
    SHARED[:] = particles(12)
    before = sum(p.x for p in SHARED)
    assert compiled() == before
    assert sum(p.x for p in SHARED) == pytest.approx(before + 12)
    assert len(compiled.variants) == 1


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("make", [particles, lambda n: [Slot(k, 1.0) for k in range(n)]])
def test_lists_of_ever_other_lengths(make):
    """Each short length was another variant; two of them show that the length varies."""

    def run(objects, least):
        count = 0
        for one in objects:
            if getattr(one, "x", 1) > least:
                count += 1
        return count

    compiled = decorate(run, jit=False, tiering=False)
    for n in (1, 2, 3, 0, 1, 4, 2, 9, 3, 0, 40, 4, 1, 2):
        assert compiled(make(n), 0) == run(make(n), 0)
    assert len(compiled.variants) <= 3


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_text_of_objects():
    """An internal error: Python made the text of an object that has no attributes of its own."""

    def run(items):
        best = None
        for item in items:
            if best is None or item.price > best.price:
                best = item
        return str(best), f"{best}", repr(items[0])

    compiled = decorate(run, jit=False, tiering=False)
    for n in (6, 9, 6):
        assert compiled(items(n)) == run(items(n))
    assert "internal error" not in repr(compiled.variants)
