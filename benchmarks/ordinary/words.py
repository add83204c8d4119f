"""Texts: words counted, compared, enciphered; numbers parsed out of lines."""

import json
import math
import string
from collections import Counter, defaultdict

import numpy as np

from benchmarks.ordinary.inputs import csv_text, ini_text, json_lines, log_text, text
from benchmarks.programs.program import Program


def word_counts(text):
    counts = {}
    for word in text.lower().split():
        word = word.strip(".,;!?")
        counts[word] = counts.get(word, 0) + 1
    words = sorted(counts)
    return words, np.array([counts[w] for w in words])


def tokenize(document):
    return [w.strip(string.punctuation) for w in document.lower().split()]


def tf_idf(documents):
    tokens = [tokenize(d) for d in documents]
    vocabulary = sorted({w for t in tokens for w in t})
    index = {w: i for i, w in enumerate(vocabulary)}
    tf = np.zeros((len(documents), len(vocabulary)))
    for row, words in enumerate(tokens):
        for word, count in Counter(words).items():
            tf[row, index[word]] = count / len(words)
    df = (tf > 0).sum(axis=0)
    idf = np.log(len(documents) / df) + 1
    weights = tf * idf
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    return vocabulary, weights


def bigram_probabilities(text):
    words = tokenize(text)
    follow = defaultdict(Counter)
    for a, b in zip(words, words[1:]):
        follow[a][b] += 1
    best = {}
    for word, counter in follow.items():
        total = sum(counter.values())
        nxt, count = min(counter.items(), key=lambda item: (-item[1], item[0]))
        best[word] = (nxt, count / total)
    return best


def edit_distance(a, b):
    d = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    d[:, 0] = np.arange(len(a) + 1)
    d[0, :] = np.arange(len(b) + 1)
    for i, ca in enumerate(a, start=1):
        for j, cb in enumerate(b, start=1):
            cost = 0 if ca == cb else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[-1, -1], d


def longest_common_subsequence(a, b):
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] == b[j]:
                table[i + 1][j + 1] = table[i][j] + 1
            else:
                table[i + 1][j + 1] = max(table[i][j + 1], table[i + 1][j])
    i, j = len(a), len(b)
    letters = []
    while i and j:
        if a[i - 1] == b[j - 1]:
            letters.append(a[i - 1])
            i, j = i - 1, j - 1
        elif table[i - 1][j] >= table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return "".join(reversed(letters))


def shift(letter, k):
    if letter not in string.ascii_lowercase:
        return letter
    return chr((ord(letter) - ord("a") + k) % 26 + ord("a"))


def letter_frequencies(text):
    counts = np.zeros(26)
    for letter in text:
        if "a" <= letter <= "z":
            counts[ord(letter) - ord("a")] += 1
    return counts / counts.sum()


def caesar_break(text):
    """Encode with a secret shift, then find the shift by the frequencies of the letters."""
    plain = text.lower()
    expected = letter_frequencies(plain)
    secret = "".join(shift(c, 7) for c in plain)
    best, best_error = 0, float("inf")
    for k in range(26):
        attempt = "".join(shift(c, -k) for c in secret)
        error = ((letter_frequencies(attempt) - expected) ** 2).sum()
        if error < best_error:
            best, best_error = k, error
    return best, best_error, secret


def vigenere(text, key):
    codes = np.array([ord(c) - 97 for c in text.lower() if c.isalpha() and c.isascii()])
    keys = np.array([ord(c) - 97 for c in key])
    repeated = np.tile(keys, len(codes) // len(keys) + 1)[: len(codes)]
    encoded = (codes + repeated) % 26
    decoded = (encoded - repeated) % 26
    assert (decoded == codes).all()
    return "".join(chr(c + 97) for c in encoded)


def csv_summary(text):
    lines = text.strip().splitlines()
    header = lines[0].split(",")
    columns = {name: [] for name in header}
    skipped = 0
    for line in lines[1:]:
        fields = line.split(",")
        try:
            values = [float(f) for f in fields]
        except ValueError:
            skipped += 1
            continue
        for name, value in zip(header, values):
            columns[name].append(value)
    table = {name: np.array(values) for name, values in columns.items()}
    summary = {name: (x.mean(), x.std(), x.min(), x.max()) for name, x in table.items()}
    return table, summary, skipped


def parse_log_line(line):
    time, level, rest = line.split(" ", 2)
    hours, minutes, seconds = time.split(":")
    fields = dict(part.split("=") for part in rest.split() if "=" in part)
    return int(hours) * 3600 + int(minutes) * 60 + int(seconds), level, fields


def log_statistics(text):
    times, latencies = [], []
    levels = Counter()
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        time, level, fields = parse_log_line(line)
        levels[level] += 1
        if "ms" in fields:
            times.append(time)
            latencies.append(float(fields["ms"]))
    times = np.array(times)
    latencies = np.array(latencies)
    gaps = np.diff(times)
    quantiles = np.percentile(latencies, [50, 90, 99])
    return dict(levels), gaps, quantiles, latencies[latencies > quantiles[1]]


def read_ini(text):
    config, section = {}, None
    for line in text.splitlines():
        line = line.partition(";")[0].strip()
        if not line:
            continue
        if line.startswith("["):
            section = config.setdefault(line[1:-1], {})
        else:
            key, value = (part.strip() for part in line.split("=", 1))
            section[key] = value
    return config


def ini_oscillator(text):
    config = read_ini(text)
    t = np.linspace(0, float(config["time"]["end"]), int(config["time"]["points"]))
    total = np.zeros_like(t)
    for name in config:
        if name.startswith("wave"):
            wave = {k: float(v) for k, v in config[name].items()}
            total += wave["amplitude"] * np.sin(wave["frequency"] * t + wave.get("phase", 0.0))
    return config, total


def json_positions(lines):
    tracks = {}
    for line in lines:
        record = json.loads(line)
        tracks.setdefault(record["id"], []).append(record["position"])
    lengths = {}
    for name, positions in sorted(tracks.items()):
        steps = np.diff(np.array(positions), axis=0)
        lengths[name] = np.sqrt((steps**2).sum(axis=1)).sum()
    return lengths


def tokens_of(source):
    tokens, i = [], 0
    while i < len(source):
        c = source[i]
        if c.isspace():
            i += 1
        elif c.isdigit() or c == ".":
            j = i
            while j < len(source) and (source[j].isdigit() or source[j] == "."):
                j += 1
            tokens.append(("number", float(source[i:j])))
            i = j
        elif c.isalpha():
            tokens.append(("name", c))
            i += 1
        elif c in "+-*/()":
            tokens.append(("operator", c))
            i += 1
        else:
            raise SyntaxError(f"unexpected {c!r} at {i}")
    return tokens


class Parser:
    def __init__(self, tokens, variables):
        self.tokens = tokens
        self.variables = variables
        self.position = 0

    def peek(self):
        if self.position < len(self.tokens):
            return self.tokens[self.position][1]
        return None

    def take(self):
        token = self.tokens[self.position]
        self.position += 1
        return token

    def expression(self):
        value = self.term()
        while self.peek() in ("+", "-"):
            if self.take()[1] == "+":
                value = value + self.term()
            else:
                value = value - self.term()
        return value

    def term(self):
        value = self.factor()
        while self.peek() in ("*", "/"):
            if self.take()[1] == "*":
                value = value * self.factor()
            else:
                value = value / self.factor()
        return value

    def factor(self):
        kind, value = self.take()
        if kind == "number":
            return value
        if kind == "name":
            return self.variables[value]
        if value == "-":
            return -self.factor()
        inner = self.expression()
        self.take()
        return inner


def evaluate_formulas(formulas, variables):
    results = []
    for formula in formulas:
        try:
            results.append(Parser(tokens_of(formula), variables).expression())
        except (SyntaxError, KeyError) as error:
            results.append(f"{type(error).__name__}: {error}")
    return results


def bag_of_words_similarity(documents):
    vocabulary = {}
    rows = []
    for document in documents:
        row = []
        for word in tokenize(document):
            row.append(vocabulary.setdefault(word, len(vocabulary)))
        rows.append(row)
    vectors = np.zeros((len(rows), len(vocabulary)))
    for i, row in enumerate(rows):
        for j in row:
            vectors[i, j] += 1
    best, pair = -math.inf, None
    for i in range(len(vectors)):
        for j in range(i + 1, len(vectors)):
            a, b = vectors[i], vectors[j]
            score = a @ b / math.sqrt((a @ a) * (b @ b))
            if score > best:
                best, pair = score, (i, j)
    return best, pair


def aligned(a, b, gap):
    """The best alignment of two sequences, by Needleman and Wunsch."""
    n, m = len(a), len(b)
    table = np.zeros((n + 1, m + 1))
    for i in range(1, n + 1):
        table[i, 0] = table[i - 1, 0] - gap
    for j in range(1, m + 1):
        table[0, j] = table[0, j - 1] - gap
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            same = 1.0 if a[i - 1] == b[j - 1] else -1.0
            table[i, j] = max(
                table[i - 1, j - 1] + same, table[i - 1, j] - gap, table[i, j - 1] - gap
            )
    i, j = n, m
    pairs = []
    while i > 0 and j > 0:
        same = 1.0 if a[i - 1] == b[j - 1] else -1.0
        if table[i, j] == table[i - 1, j - 1] + same:
            i, j = i - 1, j - 1
            pairs.append((i, j))
        elif table[i, j] == table[i - 1, j] - gap:
            i -= 1
        else:
            j -= 1
    return table[n, m], pairs[::-1]


def numbers_in_text(text):
    numbers = []
    for word in text.split():
        word = word.strip(".,;:()")
        if word.replace(".", "", 1).replace("-", "", 1).isdigit():
            numbers.append(float(word))
    values = np.array(numbers)
    return len(values), values.sum(), np.sort(values)[::-1][:5]


def formulas_of(rng, n):
    forms = ["x + 2 * y", "(x - y) * (x + y)", "-x / (1 + y * y)", "2 * (x", "x ? y", "z + 1"]
    names = {"x": rng.random(n), "y": rng.random(n)}
    return forms[:3] + [f"{k} * x + {k + 1}.5 * y" for k in range(4)] + forms[4:], names


def documents(rng, n):
    return ([text(rng, 20 + n // 4) for _ in range(3 + n // 20)],)


PROGRAMS = (
    Program(word_counts, lambda rng, n: (text(rng, n),), (20, 300), 20_000),
    Program(tf_idf, documents, (10, 100), 1_000),
    Program(bigram_probabilities, lambda rng, n: (text(rng, n),), (20, 300), 10_000),
    Program(edit_distance, lambda rng, n: (text(rng, n), text(rng, n)), (2, 6), 40),
    Program(longest_common_subsequence, lambda rng, n: (text(rng, n), text(rng, n)), (2, 9), 60),
    Program(
        aligned,
        lambda rng, n: (rng.integers(0, 4, n), rng.integers(0, 4, n + n // 6), 1.5),
        (4, 120),
        600,
    ),
    Program(caesar_break, lambda rng, n: (text(rng, n),), (5, 15), 400),
    Program(vigenere, lambda rng, n: (text(rng, n), "lemon"), (10, 200), 5_000),
    Program(csv_summary, lambda rng, n: (csv_text(rng, n),), (10, 100), 5_000),
    Program(log_statistics, lambda rng, n: (log_text(rng, n),), (20, 200), 5_000),
    Program(ini_oscillator, lambda rng, n: (ini_text(rng, n),), (10, 100), 100_000),
    Program(json_positions, lambda rng, n: (json_lines(rng, n),), (20, 200), 5_000),
    Program(evaluate_formulas, formulas_of, (8, 100), 100_000),
    Program(bag_of_words_similarity, documents, (10, 100), 500),
    Program(numbers_in_text, lambda rng, n: (text(rng, n) + " 12.5, 7 " * 4,), (20, 300), 20_000),
)
