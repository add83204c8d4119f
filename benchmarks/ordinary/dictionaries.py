"""Dictionaries of arrays: vectors of words, groups, parameters of networks, caches, options."""

import math

import numpy as np

from benchmarks.ordinary.inputs import WORDS, text
from benchmarks.programs.program import Program


def sentence_vector(sentence, vectors):
    total = np.zeros(8)
    count = 0
    for word in sentence.split():
        if word in vectors:
            total += vectors[word]
            count += 1
    return total / max(count, 1)


def most_similar(sentence, others, vectors):
    query = sentence_vector(sentence, vectors)
    scores = []
    for other in others:
        v = sentence_vector(other, vectors)
        scores.append(query @ v / (np.linalg.norm(query) * np.linalg.norm(v) + 1e-12))
    return int(np.argmax(scores)), np.array(scores)


def group_by(keys, values):
    groups = {}
    for key, value in zip(keys, values):
        if key not in groups:
            groups[key] = []
        groups[key].append(value)
    return {key: np.mean(group) for key, group in sorted(groups.items())}


def pivot_table(rows):
    cells = {}
    for row in rows:
        cells.setdefault((row["city"], row["year"]), []).append(row["sales"])
    cities = sorted({c for c, _ in cells})
    years = sorted({y for _, y in cells})
    table = np.full((len(cities), len(years)), np.nan)
    for (city, year), sales in cells.items():
        table[cities.index(city), years.index(year)] = sum(sales)
    return cities, years, table, np.nansum(table, axis=0)


def initialise(sizes, seed):
    rng = np.random.default_rng(seed)
    parameters = {}
    for layer, (m, n) in enumerate(zip(sizes[:-1], sizes[1:]), start=1):
        parameters[f"W{layer}"] = rng.normal(size=(m, n)) / math.sqrt(m)
        parameters[f"b{layer}"] = np.zeros(n)
    return parameters


def forward(x, parameters):
    cache = {"A0": x}
    layers = len(parameters) // 2
    for layer in range(1, layers + 1):
        z = cache[f"A{layer - 1}"] @ parameters[f"W{layer}"] + parameters[f"b{layer}"]
        cache[f"A{layer}"] = np.tanh(z) if layer < layers else z
    return cache[f"A{layers}"], cache


def backward(error, parameters, cache):
    gradients = {}
    for layer in range(len(parameters) // 2, 0, -1):
        a = cache[f"A{layer - 1}"]
        gradients[f"W{layer}"] = a.T @ error / len(a)
        gradients[f"b{layer}"] = error.mean(axis=0)
        error = error @ parameters[f"W{layer}"].T * (1 - a**2)
    return gradients


def train_network(x, y, hidden, epochs):
    parameters = initialise([x.shape[1], hidden, 1], seed=0)
    losses = []
    for _ in range(epochs):
        output, cache = forward(x, parameters)
        error = output - y[:, None]
        losses.append(np.mean(error**2))
        gradients = backward(error, parameters, cache)
        for name in parameters:
            parameters[name] -= 0.1 * gradients[name]
    return parameters, losses


cached_tables = {}


def sine_table(n):
    if n not in cached_tables:
        cached_tables[n] = np.sin(2 * np.pi * np.arange(n) / n)
    return cached_tables[n]


def synthesise(notes, rate):
    signal = []
    for pitch, length in notes:
        table = sine_table(rate)
        positions = (np.arange(length) * pitch) % rate
        signal.append(table[positions] * np.linspace(1, 0, length))
    return np.concatenate(signal), len(cached_tables)


DEFAULTS = {"window": "hann", "size": 8, "step": 4, "log": False}


def analyse(x, **options):
    unknown = set(options) - set(DEFAULTS)
    if unknown:
        raise TypeError(f"unknown options: {', '.join(sorted(unknown))}")
    settings = {**DEFAULTS, **options}
    n = settings["size"]
    if settings["window"] == "hann":
        window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(n) / n)
    elif settings["window"] == "none":
        window = np.ones(n)
    else:
        raise ValueError(f"unknown window {settings['window']!r}")
    power = [
        np.abs(np.fft.rfft(window * x[s : s + n])) ** 2
        for s in range(0, len(x) - n + 1, settings["step"])
    ]
    mean = np.mean(power, axis=0)
    return np.log10(mean + 1e-12) if settings["log"] else mean


def configured_spectra(x):
    results = []
    for options in ({}, {"window": "none", "log": True}, {"window": "flat"}, {"sise": 4}):
        try:
            results.append(analyse(x, **options))
        except (TypeError, ValueError) as error:
            results.append(str(error))
    return results


def centroids_by_label(points, labels):
    sums, counts = {}, {}
    for p, label in zip(points, labels):
        if label in sums:
            sums[label] += p
            counts[label] += 1
        else:
            sums[label] = p.copy()
            counts[label] = 1
    return {label: sums[label] / counts[label] for label in sums}


def sparse_product(a, b):
    """The product of matrices kept as dictionaries of their entries."""
    rows = {}
    for (k, j), value in b.items():
        rows.setdefault(k, []).append((j, value))
    product = {}
    for (i, k), value in a.items():
        for j, other in rows.get(k, ()):
            product[i, j] = product.get((i, j), 0.0) + value * other
    size = 1 + max(max(place) for place in product)
    dense = np.zeros((size, size))
    for place, value in product.items():
        dense[place] = value
    return dense


def normalise_columns(table):
    ranges = {}
    for name, column in table.items():
        if column.dtype.kind not in "if":
            continue
        low, high = column.min(), column.max()
        ranges[name] = (low, high)
        table[name] = (column - low) / (high - low) if high > low else column * 0.0
    return ranges


def vectors_of(rng, n):
    vectors = {w: rng.normal(size=8) for w in WORDS[:30]}
    return text(rng, n), [text(rng, n) for _ in range(4)], vectors


def sales(rng, n):
    cities = ["Oslo", "Rome", "Lima"]
    return (
        [
            {
                "city": cities[rng.integers(3)],
                "year": 2020 + k % 4,
                "sales": float(rng.integers(99)),
            }
            for k in range(n)
        ],
    )


def entries(rng, n):
    return tuple(
        {(int(i), int(j)): float(rng.random()) for i, j in rng.integers(0, n, (3 * n, 2))}
        for _ in range(2)
    )


def columns(rng, n):
    table = {"age": rng.integers(20, 60, n), "size": rng.random(n), "same": np.ones(n)}
    return ({**table, "name": np.array([f"n{k}" for k in range(n)])},)


PROGRAMS = (
    Program(most_similar, vectors_of, (5, 60), 2_000),
    Program(
        group_by,
        lambda rng, n: ([WORDS[k] for k in rng.integers(0, 9, n)], rng.random(n).tolist()),
        (9, 90),
        9_000,
    ),
    Program(pivot_table, sales, (12, 120), 9_000),
    Program(train_network, lambda rng, n: (rng.random((n, 3)), rng.random(n), 5, 6), (5, 40), 500),
    Program(
        synthesise,
        lambda rng, n: ([(int(p), n) for p in rng.integers(1, 9, 6)], 2 * n),
        (8, 100),
        5_000,
    ),
    Program(configured_spectra, lambda rng, n: (rng.normal(size=n),), (16, 80), 4_000),
    Program(
        centroids_by_label,
        lambda rng, n: (rng.random((n, 2)), rng.integers(0, 3, n).tolist()),
        (8, 80),
        5_000,
    ),
    Program(sparse_product, entries, (4, 20), 300),
    Program(normalise_columns, columns, (6, 60), 60_000),
)
