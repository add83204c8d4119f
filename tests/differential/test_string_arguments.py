"""Loops over string arguments: characters, parts, comparisons, methods, keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check, compare_outcomes, decorate, run

RNG = np.random.default_rng(4)


def word(alphabet: str, size: int) -> str:
    return "".join(RNG.choice([*alphabet], size))


SIZES = [(7, 6), (15, 9), (7, 7), (20, 1)]  # the interpreter is slow
PAIRS = [(word("abcde()1+ ", m), word("abc", n)) for m, n in SIZES]
TEXTS = [(word("IVXLCDM", n),) for n in (7, 25, 9)]
MIXED = [(word("IVX ab([])", n),) for n in (9, 25, 40)]
VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
BRACKETS = {")": "(", "]": "[", "}": "{"}
COST = {0: 1.5, 1: 2.5, 2: 0.25}


def levenshtein(a: Any, b: Any) -> Any:
    prev = list(range(len(b) + 1))
    for i, ca in enumerate(a):
        cur = [i + 1]
        for j, cb in enumerate(b):
            cur.append(min(prev[j + 1] + 1, cur[j] + 1, prev[j] + (ca != cb)))
        prev = cur
    return prev[-1]


def common_length(a: Any, b: Any) -> Any:
    m, n = len(a), len(b)
    dp = [[0] * (n + 1) for _ in range(m + 1)]
    for i in range(m):
        for j in range(n):
            if a[i] == b[j]:
                dp[i + 1][j + 1] = dp[i][j] + 1
            else:
                dp[i + 1][j + 1] = max(dp[i][j + 1], dp[i + 1][j])
    return dp[m][n]


def common_length_in_an_array(a: Any, b: Any) -> Any:
    dp = np.zeros((len(a) + 1, len(b) + 1), int)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            if a[i - 1] == b[j - 1]:
                dp[i, j] = dp[i - 1, j - 1] + 1
            else:
                dp[i, j] = max(dp[i - 1, j], dp[i, j - 1])
    return dp[-1, -1]


def hamming(a: Any, b: Any) -> Any:
    return sum(x != y for x, y in zip(a, b, strict=False))


def runs(a: Any, b: Any) -> Any:
    out = []
    for c in a:
        if out and out[-1][0] == c:
            out[-1] = (c, out[-1][1] + 1)
        else:
            out.append((c, 1))
    return out


def runs_by_ends(a: Any, b: Any) -> Any:
    out = []
    i = 0
    while i < len(a):
        j = i
        while j < len(a) and a[j] == a[i]:
            j += 1
        out.append((a[i], j - i))
        i = j
    return out


def counts(a: Any, b: Any) -> Any:
    d = {}
    for c in a:
        d[c] = d.get(c, 0) + 1
    return d


def vowels(a: Any, b: Any) -> Any:
    n = 0
    for c in a:
        if c in "aeiou":
            n += 1
    return n


def caesar(a: Any, b: Any) -> Any:
    out = []
    for c in a:
        if c.isalpha():
            out.append(chr((ord(c) - 97 + 3) % 26 + 97))
        else:
            out.append(c)
    return out


def palindrome(a: Any, b: Any) -> Any:
    return a == a[::-1], b[1:] == b[1:], a[:2] == b[:2]


def longest_palindrome(a: Any, b: Any) -> Any:
    best = 0
    for i in range(len(a)):
        for j in range(i, len(a)):
            if a[i : j + 1] == a[i : j + 1][::-1]:
                best = max(best, j + 1 - i)
    return best


def brackets(a: Any, b: Any) -> Any:
    stack = []
    for c in a:
        if c == "(":
            stack.append(c)
        elif c == ")":
            if not stack:
                return False
            stack.pop()
    return not stack


def places(a: Any, b: Any) -> Any:
    return b in a, a.find(b), a.count(b), a.count("a"), a.startswith("ab"), a.endswith(b)


def borders(a: Any, b: Any) -> Any:
    out = [0] * len(a)
    k = 0
    for i in range(1, len(a)):
        while k > 0 and a[i] != a[k]:
            k = out[k - 1]
        if a[i] == a[k]:
            k += 1
        out[i] = k
    return out


def number(a: Any, b: Any) -> Any:
    n = 0
    for c in a:
        if c.isdigit():
            n = n * 10 % 1000003 + int(c)
    return n


def most_frequent(a: Any, b: Any) -> Any:
    best, who = 0, None
    for c in a:
        k = a.count(c)
        if k > best:
            best, who = k, c
    return who, best


def first_unique(a: Any, b: Any) -> Any:
    for c in a:
        if a.count(c) == 1:
            return c
    return None


def ends(a: Any, b: Any) -> Any:
    return a[0], a[-1], len(a)


def hash_of(a: Any, b: Any) -> Any:
    h = 5381
    for c in a:
        h = (h * 33 + ord(c)) % 4294967296
    return h


def parse(a: Any, b: Any) -> Any:
    total, num, sign = 0, 0, 1
    for c in a:
        if c.isdigit():
            num = num * 10 + int(c)
        elif c == "+" or c == "-":
            total += sign * num
            num = 0
            sign = 1 if c == "+" else -1
    return total + sign * num


def upper(a: Any, b: Any) -> Any:
    return [c.upper() for c in a if c != " "]


def roman(a: Any) -> Any:
    total = 0
    for i in range(len(a)):
        v = VALUES[a[i]]
        if i + 1 < len(a) and v < VALUES[a[i + 1]]:
            total -= v
        else:
            total += v
    return total


def roman_local(a: Any) -> Any:
    values = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
    total, prev = 0, 0
    for c in reversed(a):
        v = values[c]
        total += v if v >= prev else -v
        prev = v
    return total


def total_value(a: Any) -> Any:
    n = 0
    for c in a:
        n += VALUES[c]
    return n


def costs(a: Any) -> Any:
    s = 0.0
    x = np.arange(len(a)) % 3
    for i in range(len(x)):
        s += COST[x[i]]
    return s


def missing(a: Any) -> Any:
    n = 0
    for c in a:
        if c in VALUES:
            n += VALUES.get(c, 0)
        n += VALUES.get(c, 7)
    return n


def balanced(a: Any) -> Any:
    stack = []
    for c in a:
        if c in BRACKETS.values():
            stack.append(c)
        elif c in BRACKETS and (not stack or stack.pop() != BRACKETS[c]):
            return False
    return not stack


def balanced_local(a: Any) -> Any:
    pairs = {")": "(", "]": "[", "}": "{"}
    stack = []
    for c in a:
        if c in "([{":
            stack.append(c)
        elif c in pairs and (not stack or stack.pop() != pairs[c]):
            return False
    return not stack


def grouped(a: Any) -> Any:
    d = {}
    for c in a:
        d.setdefault(c, []).append(len(d))
    return d


def first_places(a: Any) -> Any:
    out = []
    for i, c in enumerate(a):
        if c not in a[:i]:
            out.append(c)
    return out


def largest(a: Any) -> Any:
    best = ""
    for c in a:
        if c > best:
            best = c
    return best


def sorted_characters(a: Any) -> Any:
    return sorted(a)


def reversed_characters(a: Any) -> Any:
    xs = list(a)
    xs.reverse()
    return xs


def is_palindrome(a: Any) -> Any:
    i, j = 0, len(a) - 1
    while i < j:
        if a[i] != a[j]:
            return False
        i += 1
        j -= 1
    return True


def window(a: Any) -> Any:
    last = {}
    start = best = 0
    for i, c in enumerate(a):
        if c in last and last[c] >= start:
            start = last[c] + 1
        last[c] = i
        best = max(best, i - start + 1)
    return best


def num_words(a: Any) -> Any:
    mode = "out"
    words = 0
    for c in a:
        if c == " ":
            mode = "out"
        elif mode == "out":
            mode = "in"
            words += 1
    return words


def morse(a: Any) -> Any:
    codes = {"I": "..", "V": "...-", "X": "-..-"}
    out = []
    for c in a:
        if c in codes:
            out.append(codes[c])
    return out


def compare_runs(a: Any) -> Any:
    n = 0
    for i in range(1, len(a)):
        if a[i] == a[i - 1]:
            n += 1
        elif a[i] < a[i - 1]:
            n -= 1
    return n


def found_keys(a: Any, d: Any = None) -> Any:
    if d is None:
        d = {3: 1, 4: 9}
    s = 0
    for i in range(len(a)):
        s += d.get(i, 0) + (i in d)
    return s


@pytest.mark.parametrize(
    "function",
    [
        levenshtein,
        common_length,
        common_length_in_an_array,
        hamming,
        runs,
        runs_by_ends,
        counts,
        vowels,
        caesar,
        palindrome,
        longest_palindrome,
        brackets,
        places,
        borders,
        number,
        most_frequent,
        first_unique,
        ends,
        hash_of,
        parse,
        upper,
    ],
)
def test_of_two_strings(function: Callable[..., Any]) -> None:
    check(function, *PAIRS, variants=None)


@pytest.mark.parametrize("function", [roman, roman_local, total_value, costs])
def test_of_one_string(function: Callable[..., Any]) -> None:
    check(function, *TEXTS, variants=None)


@pytest.mark.parametrize(
    "function",
    [
        missing,
        balanced,
        balanced_local,
        grouped,
        first_places,
        largest,
        sorted_characters,
        reversed_characters,
        is_palindrome,
        window,
        num_words,
        morse,
        compare_runs,
        found_keys,
    ],
)
def test_of_mixed_characters(function: Callable[..., Any]) -> None:
    check(function, *MIXED, variants=None)


@pytest.mark.parametrize("function", [levenshtein, counts, longest_palindrome, parse])
def test_jitted(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=True, fullgraph=True)
    for m, n in [(7, 6), (40, 9), (130, 140), (64, 1)]:
        args = word("abcde()1+ ", m), word("abc", n)
        compare_outcomes(run(function, args), run(fused, args))


@pytest.mark.parametrize("function", [roman, balanced_local, window])
def test_jitted_of_one_string(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=True)
    for n in (7, 40, 2000, 9):
        for alphabet in ("IVXLCDM", "([]{})"):
            args = (word(alphabet, n),)
            compare_outcomes(run(function, args), run(fused, args))


OTHERS = [
    "",
    "a",
    "\u00e9tude",
    "\U0001f600 and \ud800",
    "x\0y",
    "\u0660\u00b2",
    "STRASSE \u00df",
    "abcabc",
]


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize(
    "function",
    [
        levenshtein,
        common_length,
        common_length_in_an_array,
        hamming,
        runs,
        runs_by_ends,
        counts,
        vowels,
        caesar,
        palindrome,
        longest_palindrome,
        brackets,
        places,
        borders,
        number,
        most_frequent,
        first_unique,
        ends,
        hash_of,
        parse,
        upper,
    ],
)
def test_beyond_ascii_and_nothing(function: Callable[..., Any]) -> None:
    """Whatever the kernel leaves to Python: kinds of characters beyond ASCII, say."""
    fused = decorate(function, jit=False)
    for text in OTHERS:
        for other in (OTHERS[0], text, OTHERS[-1]):
            compare_outcomes(run(function, (text, other)), run(fused, (text, other)))


def test_one_variant_serves_strings_of_all_lengths() -> None:
    fused = check(levenshtein, *PAIRS)
    assert len(fused.variants) == 1


def test_a_string_that_is_a_setting_stays_a_constant() -> None:
    def scaled(x: Any, mode: str = "forward") -> Any:
        return x * 2 if mode == "forward" else x / 2

    fused = decorate(scaled, jit=False)
    for mode in ("forward", "backward") * 2:
        np.testing.assert_array_equal(fused(np.arange(3.0), mode), scaled(np.arange(3.0), mode))
    assert len(fused.variants) == 2


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_methods_with_more_arguments() -> None:
    def function(text: Any, part: Any) -> Any:
        found = []
        for character in text:
            found.append(text.find(character, 2) + text.count(part, 1, 4))
        return found, text.startswith(("a", "b"))

    fused = decorate(function, jit=False)
    for args in PAIRS:
        compare_outcomes(run(function, args), run(fused, args))
