"""Simulations: events in heaps and queues, agents, cells in sets, walks kept in lists."""

import heapq
from collections import deque

import numpy as np

from benchmarks.programs.program import Program


def single_server_queue(arrivals, services):
    """When each customer leaves a queue with one server."""
    free = 0.0
    departures, waits = [], []
    for arrival, service in zip(arrivals, services):
        start = max(arrival, free)
        waits.append(start - arrival)
        free = start + service
        departures.append(free)
    return np.array(departures), np.mean(waits), max(waits)


def bank(arrivals, services, tellers):
    events = [(t, 0, k) for k, t in enumerate(arrivals)]
    heapq.heapify(events)
    queue = deque()
    idle = tellers
    waits = np.zeros(len(arrivals))
    longest = 0
    while events:
        time, kind, customer = heapq.heappop(events)
        if kind == 0:
            queue.append((time, customer))
            longest = max(longest, len(queue))
        else:
            idle += 1
        while idle and queue:
            came, customer = queue.popleft()
            idle -= 1
            waits[customer] = time - came
            heapq.heappush(events, (time + services[customer], 1, customer))
    return waits.mean(), waits.max(), longest


class Elevator:
    def __init__(self, floors):
        self.floors = floors
        self.position = 0
        self.direction = 1
        self.stops = set()
        self.travelled = 0

    def call(self, floor):
        if not 0 <= floor < self.floors:
            raise ValueError(f"no floor {floor}")
        self.stops.add(floor)

    def step(self):
        if not self.stops:
            return None
        if self.position in self.stops:
            self.stops.remove(self.position)
            return self.position
        ahead = [f for f in self.stops if (f - self.position) * self.direction > 0]
        if not ahead:
            self.direction = -self.direction
        self.position += self.direction
        self.travelled += 1
        return None


def ride(calls, floors):
    lift = Elevator(floors)
    served = []
    refused = 0
    for time, floor in enumerate(calls):
        try:
            lift.call(int(floor))
        except ValueError:
            refused += 1
        stopped = lift.step()
        if stopped is not None:
            served.append((time, stopped))
    while lift.stops:
        lift.step()
    return np.array(served).reshape(-1, 2), lift.travelled, refused


def epidemic(contacts, days, infect, seed):
    rng = np.random.default_rng(seed)
    n = len(contacts)
    state = ["S"] * n
    state[0] = "I"
    sick_for = [0] * n
    history = []
    for _ in range(days):
        newly = set()
        for person in range(n):
            if state[person] != "I":
                continue
            for other in contacts[person]:
                if state[other] == "S" and rng.random() < infect:
                    newly.add(other)
            sick_for[person] += 1
            if sick_for[person] > 4:
                state[person] = "R"
        for person in newly:
            state[person] = "I"
        history.append([state.count(s) for s in "SIR"])
    return np.array(history)


def life_on_a_set(cells, steps):
    alive = {(int(r), int(c)) for r, c in cells}
    sizes = []
    for _ in range(steps):
        counts = {}
        for r, c in alive:
            for dr in (-1, 0, 1):
                for dc in (-1, 0, 1):
                    if dr or dc:
                        place = (r + dr, c + dc)
                        counts[place] = counts.get(place, 0) + 1
        alive = {p for p, n in counts.items() if n == 3 or (n == 2 and p in alive)}
        sizes.append(len(alive))
    return sorted(alive), np.array(sizes)


def rule_table(number):
    return {(a, b, c): number >> (4 * a + 2 * b + c) & 1
            for a in (0, 1) for b in (0, 1) for c in (0, 1)}  # fmt: skip


def elementary_automaton(start, number, steps):
    rule = rule_table(number)
    row = list(start)
    rows = [row]
    for _ in range(steps):
        n = len(row)
        row = [rule[row[i - 1], row[i], row[(i + 1) % n]] for i in range(n)]
        rows.append(row)
    picture = np.array(rows)
    for line in picture[:3]:
        print("".join("#" if cell else "." for cell in line))
    return picture, picture.sum(axis=1)


def random_walk(n, seed):
    rng = np.random.default_rng(seed)
    x, y = 0, 0
    path = [(x, y)]
    for _ in range(n):
        step = rng.integers(4)
        if step == 0:
            x += 1
        elif step == 1:
            x -= 1
        elif step == 2:
            y += 1
        else:
            y -= 1
        path.append((x, y))
    path = np.array(path)
    return path, np.hypot(*path[-1]), len(set(map(tuple, path.tolist())))


def random_walk_of_array_steps(steps):
    position = np.zeros(2)
    track = [position.copy()]
    for step in steps:
        position = position + step
        if np.abs(position).max() > 5:
            position = -0.5 * position
        track.append(position)
    return np.array(track)


def inventory(demands, capacity, reorder, delay):
    stock, on_order = capacity, []
    levels, lost = [], 0
    for day, demand in enumerate(demands):
        arrived = [quantity for due, quantity in on_order if due == day]
        on_order = [(due, quantity) for due, quantity in on_order if due > day]
        stock = min(capacity, stock + sum(arrived))
        sold = min(stock, demand)
        lost += demand - sold
        stock -= sold
        if stock < reorder and not on_order:
            on_order.append((day + delay, capacity - stock))
        levels.append(stock)
    return np.array(levels), lost


class Particle:
    def __init__(self, position, velocity):
        self.position = position
        self.velocity = velocity

    def move(self, dt):
        self.position = self.position + self.velocity * dt
        for axis in range(2):
            if not 0 <= self.position[axis] <= 1:
                self.velocity[axis] *= -1

    def energy(self):
        return 0.5 * (self.velocity @ self.velocity)


def particles_in_a_box(positions, velocities, steps):
    particles = [Particle(p, v.copy()) for p, v in zip(positions, velocities)]
    energies = []
    for _ in range(steps):
        for particle in particles:
            particle.move(0.05)
        energies.append(sum(p.energy() for p in particles))
    return np.array([p.position for p in particles]), energies


def traffic(length, cars, steps, seed):
    """Nagel and Schreckenberg's cars on a ring."""
    rng = np.random.default_rng(seed)
    road = -np.ones(length, dtype=int)
    road[rng.choice(length, cars, replace=False)] = 0
    flow = []
    for _ in range(steps):
        new = -np.ones(length, dtype=int)
        moved = 0
        for i in range(length):
            v = road[i]
            if v < 0:
                continue
            gap = 1
            while gap <= v + 1 and road[(i + gap) % length] < 0:
                gap += 1
            v = min(v + 1, 5, gap - 1)
            if v > 0 and rng.random() < 0.2:
                v -= 1
            new[(i + v) % length] = v
            moved += v
        road = new
        flow.append(moved / length)
    return road, np.array(flow)


def customers(rng, n):
    return np.cumsum(rng.exponential(1.0, n)), rng.exponential(0.9, n)


def meetings(rng, n):
    return ([rng.integers(0, n, 4).tolist() for _ in range(n)], 12, 0.3, 7)


PROGRAMS = (
    Program(single_server_queue, customers, (10, 200), 10_000, True),
    Program(bank, lambda rng, n: (*(a.tolist() for a in customers(rng, n)), 2), (10, 100), 2_000),
    Program(ride, lambda rng, n: (rng.integers(-1, 12, n), 11), (12, 120), 3_000, True),
    Program(epidemic, meetings, (8, 60), 500, True),
    Program(life_on_a_set, lambda rng, n: (rng.integers(0, n, (3 * n, 2)), 5), (5, 12), 60, True),
    Program(
        elementary_automaton,
        lambda rng, n: (rng.integers(0, 2, n).tolist(), 110, n // 2),
        (8, 40),
        200,
        True,
    ),
    Program(random_walk, lambda rng, n: (n, 11), (10, 200), 5_000, True),
    Program(random_walk_of_array_steps, lambda rng, n: (rng.normal(size=(n, 2)),), (8, 100), 2_000),
    Program(inventory, lambda rng, n: (rng.poisson(4, n).tolist(), 30, 12, 3), (9, 90), 9_000),
    Program(
        particles_in_a_box,
        lambda rng, n: (rng.random((3, 2)), rng.normal(size=(3, 2)), n),
        (3, 8),
        300,
    ),
    Program(traffic, lambda rng, n: (n, n // 3, 10, 5), (12, 60), 300, True),
)
