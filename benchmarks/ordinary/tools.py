"""What Python brings: dataclasses, named tuples, formats, sort keys, itertools, decorators."""

import functools
import itertools
import operator
from collections import Counter, defaultdict, deque, namedtuple
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from benchmarks.ordinary.inputs import WORDS
from benchmarks.programs.program import Program


@dataclass
class Body:
    name: str
    mass: float
    position: np.ndarray
    velocity: np.ndarray = field(default_factory=lambda: np.zeros(2))

    @property
    def momentum(self):
        return self.mass * self.velocity

    def kinetic_energy(self):
        return 0.5 * self.mass * float(self.velocity @ self.velocity)


def collide(bodies, steps):
    for _ in range(steps):
        for a, b in itertools.combinations(bodies, 2):
            d = b.position - a.position
            pull = 0.01 * d / (d @ d + 0.1)
            a.velocity = a.velocity + pull * b.mass
            b.velocity = b.velocity - pull * a.mass
        for body in bodies:
            body.position = body.position + 0.1 * body.velocity
    total = sum(body.momentum for body in bodies)
    return {b.name: b.kinetic_energy() for b in bodies}, total


def solar_system(masses, places):
    bodies = [Body(f"b{k}", m, p) for k, (m, p) in enumerate(zip(masses, places))]
    energies, momentum = collide(bodies, 3)
    return energies, np.abs(momentum).max() < 1e-9, bodies[0].position


Reading = namedtuple("Reading", "station day value")


def station_report(values):
    readings = [Reading(f"s{k % 3}", k // 3, v) for k, v in enumerate(values)]
    ordered = sorted(readings, key=lambda r: (r.station, -r.value))
    lines = []
    for station, group in itertools.groupby(ordered, key=operator.attrgetter("station")):
        group = list(group)
        x = np.array([r.value for r in group])
        lines.append(f"{station:>4} {len(x):3d} {x.mean():8.3f} ± {x.std():.3f}")
    print("\n".join(lines))
    return ordered[0], ordered[-1]._replace(value=0.0)


def best_parameters(x, y):
    grid = itertools.product([1, 2, 3], [0.0, 0.1, 1.0])
    scores = {}
    for degree, ridge in grid:
        A = np.vander(x, degree + 1)
        w = np.linalg.solve(A.T @ A + ridge * np.eye(degree + 1), A.T @ y)
        scores[degree, ridge] = float(((A @ w - y) ** 2).mean())
    best = min(scores, key=scores.get)
    for key, score in sorted(scores.items(), key=lambda item: item[1])[:2]:
        print(f"degree={key[0]} ridge={key[1]:g}: {score:.4f}")
    return best, len(scores)


def compose(*functions):
    return functools.reduce(lambda f, g: lambda x: g(f(x)), functions)


def image_pipeline(image):
    steps = compose(
        lambda x: x.astype(float),
        lambda x: (x - x.mean()) / (x.std() + 1e-9),
        functools.partial(np.clip, a_min=-1.0, a_max=1.0),
        lambda x: np.pad(x, 1, mode="edge"),
    )
    result = steps(image)
    running = list(itertools.accumulate(result[0], max))
    return result, running


def counted(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return function(*args, **kwargs)

    wrapper.calls = 0
    return wrapper


@counted
def rosenbrock(x):
    return sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def pattern_search(start, step):
    rosenbrock.calls = 0
    x, best = np.array(start), rosenbrock(np.array(start))
    while step > 0.05:
        improved = False
        for i, sign in itertools.product(range(len(x)), (1, -1)):
            trial = x.copy()
            trial[i] += sign * step
            value = rosenbrock(trial)
            if value < best:
                x, best, improved = trial, value, True
        if not improved:
            step /= 2
    return x, best, rosenbrock.calls


@contextmanager
def section(name, log):
    log.append(f"begin {name}")
    try:
        yield log
    except ZeroDivisionError as error:
        log.append(f"{name}: {error}")
    finally:
        log.append(f"end {name}")


def logged_statistics(groups):
    log, means = [], []
    for name, values in groups.items():
        with section(name, log):
            if not len(values):
                raise ZeroDivisionError("empty group")
            means.append(values.sum() / len(values))
            log.append(f"mean {means[-1]:.2f}")
    return log, means


def make_counter(bins):
    counts = np.zeros(bins, dtype=int)
    total = 0

    def add(value):
        nonlocal total
        counts[min(int(value * bins), bins - 1)] += 1
        total += 1
        return total

    def fractions():
        return counts / total

    return add, fractions


def histogram_by_closure(values):
    add, fractions = make_counter(4)
    totals = [add(v) for v in values]
    return totals[-1], fractions()


def anagrams(words):
    groups = defaultdict(list)
    for word in words:
        groups["".join(sorted(word.lower()))].append(word)
    sizes = Counter(len(g) for g in groups.values())
    longest = max(groups.values(), key=len)
    table = np.array(sorted(sizes.items()))
    return longest, table, sizes.most_common(1)


def parse_options(arguments):
    options = {"size": 10, "kind": "mean", "verbose": False, "scale": 1.0}
    rest = deque(arguments)
    while rest:
        name = rest.popleft()
        if not name.startswith("--") or name[2:] not in options:
            raise SystemExit(f"unknown option {name}")
        default = options[name[2:]]
        options[name[2:]] = True if isinstance(default, bool) else type(default)(rest.popleft())
    return options


def command(arguments, x):
    options = parse_options(arguments)
    reducers = {"mean": np.mean, "max": np.max, "median": np.median}
    chunks = np.array_split(x, options["size"])
    values = [options["scale"] * reducers[options["kind"]](c) for c in chunks if len(c)]
    if options["verbose"]:
        print(f"{options['kind']} of {len(values)} chunks", *(f"{v:.2f}" for v in values))
    return np.array(values)


def memoize(function):
    cache = {}

    @functools.wraps(function)
    def wrapper(n):
        if n not in cache:
            cache[n] = function(n)
        return cache[n]

    return wrapper


@memoize
def legendre(n):
    if n == 0:
        return np.array([1.0])
    if n == 1:
        return np.array([0.0, 1.0])
    up = np.append(0.0, legendre(n - 1)) * (2 * n - 1)
    down = np.append(legendre(n - 2), [0.0, 0.0]) * (n - 1)
    return (up - down) / n


def legendre_values(x, n):
    return np.array([np.polynomial.polynomial.polyval(x, legendre(k)) for k in range(n)])


def ranking(scores):
    table = [(name, np.mean(s), max(s)) for name, s in scores.items()]
    table.sort(key=lambda row: (-row[1], row[0]))
    width = max(len(name) for name, *_ in table)
    lines = [
        f"{i}. {name:<{width}} {mean:6.2f} {top:5.1f}"
        for i, (name, mean, top) in enumerate(table, 1)
    ]
    return lines, [name for name, *_ in table]


def scores_of(rng, n):
    return ({f"{WORDS[k % 30]}{k}": rng.integers(0, 9, 5).astype(float) for k in range(n)},)


def groups_of(rng, n):
    return ({f"g{k}": rng.random(k % 4) for k in range(n)},)


OPTIONS = ["--size", "4", "--kind", "max", "--verbose", "--scale", "2.5"]

PROGRAMS = (
    Program(solar_system, lambda rng, n: (rng.random(n).tolist(), rng.random((n, 2))), (3, 5), 40),
    Program(station_report, lambda rng, n: (rng.random(n).tolist(),), (9, 60), 9_000),
    Program(best_parameters, lambda rng, n: (rng.random(n), rng.random(n)), (8, 60), 20_000),
    Program(image_pipeline, lambda rng, n: (rng.integers(0, 255, (n, n)),), (4, 30), 500),
    Program(pattern_search, lambda rng, n: ([0.5] * n, 0.4), (2, 4), 10),
    Program(logged_statistics, groups_of, (5, 40), 4_000),
    Program(histogram_by_closure, lambda rng, n: (rng.random(n).tolist(),), (9, 90), 20_000),
    Program(anagrams, lambda rng, n: ([WORDS[k] for k in rng.integers(0, 30, n)],), (9, 90), 9_000),
    Program(command, lambda rng, n: (OPTIONS, rng.random(n)), (9, 90), 90_000),
    Program(legendre_values, lambda rng, n: (rng.random(n), 3 + n // 10), (5, 40), 200),
    Program(ranking, scores_of, (5, 40), 2_000),
)
