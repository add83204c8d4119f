"""Objects of the user's classes in lists, dictionaries and each other: numbers of a pool."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from fusejit.tracer.lists.list_memory import FIRST_CAPACITY
from fusejit_testing.oracle import decorate, run


class Agent:
    def __init__(self, x: float, v: float) -> None:
        self.x = x
        self.v = v
        self.hits = 0

    def step(self, dt: float) -> None:
        self.x += self.v * dt
        if self.x > 10:
            self.v = -self.v
            self.hits += 1

    @property
    def energy(self) -> float:
        return self.v * self.v / 2


@dataclass
class Customer:
    arrival: float
    service: float
    start: float = 0.0

    @property
    def wait(self) -> float:
        return self.start - self.arrival


@dataclass(order=True)
class Pair:
    a: int
    b: float = 0.0
    note: str = field(default="", compare=False)


@dataclass
class Order:
    id: int
    lines: list[Any] = field(default_factory=list)
    total: float = 0.0

    def add(self, name: str, price: float) -> None:
        self.lines.append((name, price))
        self.total += price


class Node:
    __slots__ = ("next", "value")

    def __init__(self, value: int) -> None:
        self.value = value
        self.next: Any = None


class Tree:
    def __init__(self, key: int) -> None:
        self.key = key
        self.left: Any = None
        self.right: Any = None


def moved(n: int) -> Any:
    agents = []
    for i in range(n):
        agents.append(Agent(i * 0.5, 1.0 + i * 0.1))
    for _ in range(20):
        for agent in agents:
            agent.step(0.5)
    return sum(a.x for a in agents), sum(a.hits for a in agents), max(a.energy for a in agents)


def returned(n: int) -> Any:
    agents = [Agent(i * 1.5, 1.0) for i in range(n)]
    for k in range(3 * n):
        agents[k % n].step(0.5)
    return agents


def best(n: int) -> Any:
    agents = [Agent(float(i * 7 % 5), 2.0) for i in range(n)]
    found = None
    for agent in agents:
        if found is None or agent.x > found.x:
            found = agent
    found.hits += 5
    return found, agents, agents[0] is found, [a.hits for a in agents]


def perhaps(n: int) -> Any:
    agents = [Agent(i, 1.0) for i in range(n)]
    found = None
    for agent in agents:
        if agent.x > 7:
            found = agent
    return found, len(agents)


def several_lists(n: int) -> Any:
    agents = [Agent(i, 1.0) for i in range(n)]
    even = [a for a in agents if a.x % 2 == 0]
    even[0].hits = 99
    first = agents[:2]
    first[0].v = -1.0
    agents.append(agents[0])
    return agents, even, first


def filtered(n: int) -> Any:
    agents = [Agent(float(i % 7), 1.0) for i in range(n)]
    for _ in range(5):
        for agent in agents:
            agent.step(1.0)
        agents = [a for a in agents if a.x < 9]
        if len(agents) < n:
            agents.append(Agent(0.0, 2.0))
    return agents


def removed(n: int) -> Any:
    agents = [Agent(i, 1.0) for i in range(n)]
    one = agents[1]
    agents.remove(one)
    is_there = one in agents
    place = agents.index(agents[2])
    return is_there, place, agents[0] == one, agents[0] == agents[0], agents[0] is not one, agents


def sorted_by_key(n: int) -> Any:
    agents = [Agent((i * 7) % 10, 1.0 * i) for i in range(n)]
    agents.sort(key=lambda a: a.x)
    return [a.v for a in agents], sorted(agents, key=lambda a: -a.v)[0].x


def compared(n: int) -> Any:
    pairs = [Pair((i * 7) % 5, float(i), "p") for i in range(n)]
    pairs.sort()
    wanted = Pair(1, 3.0, "other")
    return pairs, min(pairs), wanted in pairs, pairs[0] < pairs[1], pairs[0] == Pair(0, 0.0)


def grouped(n: int) -> Any:
    orders = {}
    for i in range(n):
        key = i % 3
        if key not in orders:
            orders[key] = Order(key)
        orders[key].add("ab"[i % 2], i * 0.5)
    return orders


def in_tuples(n: int) -> Any:
    found = []
    for i in range(n):
        found.append((i, Agent(i, 1)))
    for k, agent in found:
        agent.x += k
    return found


def linked(n: int) -> Any:
    head = None
    for i in range(n):
        node = Node(i * 3 % 7)
        node.next = head
        head = node
    total = k = 0
    node = head
    while node is not None:
        total += node.value * k
        k += 1
        node = node.next
    return total, k, head


def tree(n: int) -> Any:
    root = Tree(50)
    for i in range(n):
        key = (i * 37) % 101
        node = root
        while True:
            if key < node.key:
                if node.left is None:
                    node.left = Tree(key)
                    break
                node = node.left
            elif key > node.key:
                if node.right is None:
                    node.right = Tree(key)
                    break
                node = node.right
            else:
                break
    depth = count = 0
    stack = [(root, 1)]
    while stack:
        node, d = stack.pop()
        count += 1
        depth = max(depth, d)
        if node.left is not None:
            stack.append((node.left, d + 1))
        if node.right is not None:
            stack.append((node.right, d + 1))
    return depth, count


def queue(n: int) -> Any:
    events: list[Any] = []
    for i in range(n):
        heapq.heappush(events, (i * 0.5, i, "arrive", Customer(i * 0.5, (i * 7) % 5 + 0.5)))
    line: deque[Any] = deque()
    free, longest, counter, busy, now = 2, 0, n, 0.0, 0.0
    served = []
    while events:
        now, _, kind, customer = heapq.heappop(events)
        if kind == "arrive":
            line.append(customer)
            longest = max(longest, len(line))
        else:
            free += 1
            served.append(customer)
        while free > 0 and line:
            customer = line.popleft()
            customer.start = now
            free -= 1
            busy += customer.service
            heapq.heappush(events, (now + customer.service, counter, "leave", customer))
            counter += 1
    waits = [c.wait for c in served]
    return sum(waits) / len(waits), max(waits), longest, busy / (2 * now), served


class Vector:
    def __init__(self, x: float, y: float) -> None:
        self.x = x
        self.y = y

    def __add__(self, other: Any) -> Any:
        return Vector(self.x + other.x, self.y + other.y)

    def dot(self, other: Any) -> Any:
        return self.x * other.x + self.y * other.y


class Particle:
    def __init__(self, place: Vector, speed: Vector) -> None:
        self.place = place
        self.speed = speed


def of_vectors(n: int) -> Any:
    particles = [Particle(Vector(float(i), 0.0), Vector(1.0, float(i))) for i in range(n)]
    energy, total = 0.0, Vector(0.0, 0.0)
    for _ in range(4):
        for p in particles:
            p.place = p.place + p.speed
            total = total + p.speed
            energy += p.speed.dot(p.speed)
    return energy, particles, total.x


def sums_of_pairs(n: int) -> Any:
    vectors = [Vector(float(i), 1.0) for i in range(n)]
    total, last = 0.0, Vector(0.0, 0.0)
    for a in vectors:
        for b in vectors:
            c = a + b
            total += c.dot(a)
            last = last + c
    return total, last.x, vectors[-1]


def swapped(n: int) -> Any:
    one, other = Agent(1.0, 2.0), Agent(3.0, 4.0)
    for _ in range(n):
        one, other = other, one
        one.hits += 1
        other.x += one.v
    return one, other


def chained(n: int) -> Any:
    nodes = [Node(i) for i in range(n)]
    for i in range(n - 1):
        if i % 3 != 2:
            nodes[i].next = nodes[i + 1]
    return nodes


def last_of(node: Any) -> Any:
    while node.next is not None:
        node = node.next
    return node


def which_one(n: int) -> Any:
    """Which object an attribute holds that may be None."""
    nodes = chained(n)
    found = [node.next is nodes[1] for node in nodes], [nodes[3] is not node.next for node in nodes]
    pairs = [one.next is other.next for one in nodes for other in nodes]
    return found, pairs, [last_of(node) is last_of(last_of(node)) for node in nodes]


def of_which_class(n: int) -> Any:
    """The class of what may be None."""
    nodes = chained(n)
    kinds = [isinstance(node.next, Node) for node in nodes]
    others = [isinstance(node.next, (Tree, int)) for node in nodes]
    nothing = [isinstance(node.next, type(None)) for node in nodes]
    large = [isinstance(node.next, Node) and node.next.value > 1 for node in nodes]
    return kinds, others, nothing, large, [callable(node.next) for node in nodes]


def among_others(n: int) -> Any:
    following = [node.next for node in chained(n)]
    is_there = None in following
    count, place = following.count(None), following.index(None)
    following.remove(None)
    return is_there, count, place, following


def found_before(n: int) -> Any:
    nodes = chained(n)
    found = previous = None
    for node in nodes:
        if node.value == 1:
            found = node
    for node in nodes:
        if previous is not None and previous is found:
            return node.value, previous is found
        previous = node
    return None


PROGRAMS = [
    *(which_one, of_which_class, among_others, found_before),
    *(moved, returned, best, perhaps, several_lists, filtered, removed, sorted_by_key, compared),
    *(grouped, in_tuples, linked, tree, queue, swapped, of_vectors, sums_of_pairs),
]


def shown(obj: Any, seen: dict[int, int] | None = None) -> str:
    """A text of all that a result holds, in which one object has one number."""
    seen = {} if seen is None else seen
    if isinstance(obj, (list, tuple, deque)):
        return f"{type(obj).__name__}[{', '.join(shown(item, seen) for item in obj)}]"
    if isinstance(obj, dict):
        return f"{{{', '.join(f'{k!r}: {shown(v, seen)}' for k, v in obj.items())}}}"
    names = [*getattr(obj, "__dict__", ()), *getattr(type(obj), "__slots__", ())]
    if not names:
        return repr(obj)
    if id(obj) in seen:
        return f"#{seen[id(obj)]}"
    seen[id(obj)] = len(seen)
    held = ", ".join(f"{name}={shown(getattr(obj, name), seen)}" for name in names)
    return f"#{seen[id(obj)]} {type(obj).__name__}({held})"


@pytest.mark.parametrize("function", PROGRAMS)
def test_objects_in_lists(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False, fullgraph=True)
    for n in (4, 9, 30):
        assert shown(fused(n)) == shown(function(n))


@pytest.mark.parametrize("function", [returned, linked, grouped])
def test_jitted(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=True, fullgraph=True)
    for n in (4, 90):
        assert shown(fused(n)) == shown(function(n))


def test_objects_that_nothing_keeps_take_no_memory() -> None:
    fused = decorate(sums_of_pairs, jit=False, fullgraph=True)
    assert shown(fused(30)) == shown(sums_of_pairs(30))  # 900 sums
    assert max(fused.variants[0].traced.capacities[0]) == FIRST_CAPACITY


class Odd:
    """Whose constructor does not set all attributes."""

    def __init__(self, x: float) -> None:
        if x > 2:
            self.big = x
        self.x = x


def without_all_attributes(n: int) -> Any:
    found = [Odd(float(i)) for i in range(n)]
    return sum(one.big for one in found if one.x > 2)


class Registered:
    """That others can see before all of its attributes are set."""

    def __init__(self, others: list[Any], x: int) -> None:
        if others:
            others[-1].following = self
        others.append(self)
        self.x = others[0].x if x > 2 else x
        self.following: Any = None


def seen_too_early(n: int) -> Any:
    found: list[Any] = []
    for i in range(n):
        Registered(found, i)
    return [one.x for one in found], [one.following is None for one in found]


class Counted:
    made = 0

    def __init__(self) -> None:
        self.x = 1


def with_a_default_of_the_class(n: int) -> Any:
    found = [Counted() for _ in range(n)]
    for one in found:
        one.made += 1
    return [one.made for one in found]


def with_a_new_attribute(n: int) -> Any:
    agents = [Agent(i, 1.0) for i in range(n)]
    for agent in agents:
        agent.seen = True  # type: ignore[attr-defined]
    return agents


def ordered_without_order(n: int) -> Any:
    heap: list[Any] = []
    for i in range(n):
        heapq.heappush(heap, (i % 3, Agent(i, 1.0)))
    return len(heap)


def shown_as_text(n: int) -> Any:
    pairs = [Pair(i, 1.0) for i in range(n)]
    return [str(pair) for pair in pairs]


def looked_into(n: int) -> Any:
    agents = [Agent(i, 1.0) for i in range(n)]
    return [sorted(vars(agent).items()) for agent in agents]


def as_keys(n: int) -> Any:
    agents = [Agent(i % 3, 1.0) for i in range(n)]
    counts = dict.fromkeys(agents, 0)
    for agent in agents:
        counts[agent] += 1
    return list(counts.values())


class Shape:
    def __init__(self, r: float) -> None:
        self.r = r

    def area(self) -> float:
        return 3 * self.r * self.r


class Square(Shape):
    def area(self) -> float:
        return self.r * self.r


def of_two_classes(n: int) -> Any:
    shapes = [Shape(i) if i % 2 else Square(i) for i in range(n)]
    return sum(shape.area() for shape in shapes)


LEFT_TO_PYTHON = [
    *(without_all_attributes, with_a_default_of_the_class, with_a_new_attribute, seen_too_early),
    *(ordered_without_order, shown_as_text, looked_into, as_keys, of_two_classes),
]


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("function", LEFT_TO_PYTHON)
def test_what_python_may_do(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False)
    for n in (3, 5, 12):
        wanted, found = run(function, (n,)), run(fused, (n,))
        assert repr(found.error) == repr(wanted.error)
        assert shown(found.result) == shown(wanted.result)
