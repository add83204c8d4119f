"""Codes and tables: compression, checksums, polynomials, interpolation, numbers by hand."""

import heapq
from collections import Counter

import numpy as np

from benchmarks.ordinary.inputs import text
from benchmarks.programs.program import Program


def run_lengths(values):
    runs = []
    for v in values:
        if runs and runs[-1][0] == v:
            runs[-1][1] += 1
        else:
            runs.append([v, 1])
    return runs


def run_length_image(image):
    encoded = [run_lengths(row) for row in image.tolist()]
    decoded = np.zeros_like(image)
    for r, runs in enumerate(encoded):
        c = 0
        for value, length in runs:
            decoded[r, c : c + length] = value
            c += length
    stored = sum(2 * len(runs) for runs in encoded)
    return encoded, np.array_equal(decoded, image), stored / image.size


def huffman_codes(text):
    heap = [(n, i, c) for i, (c, n) in enumerate(sorted(Counter(text).items()))]
    heapq.heapify(heap)
    number = len(heap)
    while len(heap) > 1:
        n1, _, left = heapq.heappop(heap)
        n2, _, right = heapq.heappop(heap)
        heapq.heappush(heap, (n1 + n2, number, (left, right)))
        number += 1
    codes = {}

    def walk(node, prefix):
        if isinstance(node, str):
            codes[node] = prefix or "0"
        else:
            walk(node[0], prefix + "0")
            walk(node[1], prefix + "1")

    walk(heap[0][2], "")
    return codes


def compress_text(text):
    codes = huffman_codes(text)
    bits = "".join(codes[c] for c in text)
    packed = np.packbits(np.array([int(b) for b in bits], dtype=np.uint8))
    back = {code: c for c, code in codes.items()}
    decoded, word = [], ""
    for bit in bits:
        word += bit
        if word in back:
            decoded.append(back[word])
            word = ""
    return packed, "".join(decoded) == text, len(bits) / (8 * len(text))


def lzw(text):
    table = {chr(i): i for i in range(128)}
    word, output = "", []
    for c in text:
        if word + c in table:
            word += c
        else:
            output.append(table[word])
            table[word + c] = len(table)
            word = c
    output.append(table[word])
    return np.array(output, dtype=np.uint16), len(table)


ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def base64(data):
    out = []
    for i in range(0, len(data), 3):
        chunk = data[i : i + 3]
        number = int.from_bytes(chunk.ljust(3, b"\0"), "big")
        letters = [ALPHABET[number >> shift & 63] for shift in (18, 12, 6, 0)]
        out.append("".join(letters[: len(chunk) + 1]).ljust(4, "="))
    return "".join(out)


def encode_samples(samples):
    encoded = base64(samples.astype("<f4").tobytes())
    return encoded, Counter(encoded).most_common(2)


def crc32(data):
    table = []
    for i in range(256):
        for _ in range(8):
            i = i >> 1 ^ 0xEDB88320 if i & 1 else i >> 1
        table.append(i)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def checksums(x):
    data = x.tobytes()
    a, b = 1, 0
    for byte in data:
        a = (a + byte) % 65521
        b = (b + a) % 65521
    return crc32(data), b << 16 | a, f"{crc32(data[:4]):08x}"


def multiply(p, q):
    result = [0] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            result[i + j] += a * b
    return result


def horner(p, x):
    value = 0
    for coefficient in reversed(p):
        value = value * x + coefficient
    return value


def polynomial_from_roots(roots, x):
    p = [1]
    for r in roots:
        p = multiply(p, [-r, 1])
    slope = [k * c for k, c in enumerate(p)][1:]
    return p, horner(p, x), horner(slope, x)


class Table:
    """Linear interpolation between given points."""

    def __init__(self, xs, ys):
        pairs = sorted(zip(xs, ys))
        self.xs = [x for x, _ in pairs]
        self.ys = [y for _, y in pairs]

    def __call__(self, x):
        if x <= self.xs[0]:
            return self.ys[0]
        for (x0, y0), (x1, y1) in zip(zip(self.xs, self.ys), zip(self.xs[1:], self.ys[1:])):
            if x <= x1:
                return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
        return self.ys[-1]


def interpolate(xs, ys, points):
    table = Table(xs, ys)
    values = np.array([table(p) for p in points])
    return values, np.abs(values - np.interp(points, table.xs, table.ys)).max() < 1e-12


def newton_polynomial(xs, ys, points):
    table = [list(ys)]
    for order in range(1, len(xs)):
        last = table[-1]
        table.append(
            [(last[i + 1] - last[i]) / (xs[i + order] - xs[i]) for i in range(len(last) - 1)]
        )
    value = np.zeros_like(points)
    for k in range(len(xs) - 1, -1, -1):
        value = value * (points - xs[k]) + table[k][0]
    return [row[0] for row in table], value


ROMAN = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
         (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]  # fmt: skip


def to_roman(n):
    letters = ""
    for value, symbol in ROMAN:
        while n >= value:
            letters += symbol
            n -= value
    return letters


def roman_lengths(numbers):
    words = [to_roman(int(n)) for n in numbers]
    return words, np.array([len(w) for w in words])


def diff_lines(a, b):
    a, b = a.split(), b.split()
    common = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    for i in range(len(a) - 1, -1, -1):
        for j in range(len(b) - 1, -1, -1):
            if a[i] == b[j]:
                common[i, j] = 1 + common[i + 1, j + 1]
            else:
                common[i, j] = max(common[i + 1, j], common[i, j + 1])
    i = j = 0
    script = []
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            i, j = i + 1, j + 1
        elif common[i + 1, j] >= common[i, j + 1]:
            script.append(f"- {a[i]}")
            i += 1
        else:
            script.append(f"+ {b[j]}")
            j += 1
    return script + [f"- {w}" for w in a[i:]] + [f"+ {w}" for w in b[j:]]


def knots(rng, n):
    return rng.random(n).tolist(), rng.random(n).tolist(), np.linspace(-0.1, 1.1, 2 * n)


def nodes(rng, n):
    return np.linspace(0, 1, 4).tolist(), rng.random(4).tolist(), rng.random(n)


PROGRAMS = (
    Program(run_length_image, lambda rng, n: (rng.integers(0, 2, (n, n)),), (5, 20), 150),
    Program(compress_text, lambda rng, n: (text(rng, n),), (9, 60), 3_000),
    Program(lzw, lambda rng, n: (text(rng, n),), (9, 60), 3_000, True),
    Program(encode_samples, lambda rng, n: (rng.random(n),), (5, 60), 5_000, True),
    Program(checksums, lambda rng, n: (rng.integers(0, 99, n),), (3, 8), 1_000, True),
    Program(
        polynomial_from_roots, lambda rng, n: (rng.integers(-4, 4, n).tolist(), 2), (4, 12), 99
    ),
    Program(interpolate, knots, (4, 8), 200),
    Program(newton_polynomial, nodes, (5, 50), 50_000),
    Program(roman_lengths, lambda rng, n: (rng.integers(1, 3000, n),), (5, 60), 5_000, True),
    Program(diff_lines, lambda rng, n: (text(rng, n), text(rng, n)), (5, 20), 200, True),
)
