"""Strings of several characters that a call makes or is given: each has a number in kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit.tracer.strings.table_methods import code_of
from fusejit_testing.oracle import check, compare_outcomes, decorate, run

RNG = np.random.default_rng(8)
WORDS = [
    *("the", "quick", "brown", "Fox", "jumps", "over", "tac", "the", "lazy", "dog", "and", "the"),
    *("cat", "sat", "on", "the", "mat", "a", "act", "xyz"),
]


def text_of(count: int, separator: str = " ") -> str:
    return separator.join(WORDS[k] for k in RNG.integers(0, len(WORDS), count))


TEXTS = [(text_of(n),) for n in (9, 14)]
OTHERS = [
    *("", "a", " ", "  the  cat\t\nsat ", "étude é the"),
    *("\ud800\ud800 \ud800\ud800", "x\0y x\0y z"),
]


# ----------------------------------------------------------------------------------------- programs
def windows(text: Any) -> Any:
    counts = {}
    for i in range(len(text) - 2):
        part = text[i : i + 3]
        if part in counts:
            counts[part] += 1
        else:
            counts[part] = 1
    return counts


def words_by_characters(text: Any) -> Any:
    found = []
    word = ""
    for c in text:
        if c == " ":
            if word:
                found.append(word)
            word = ""
        else:
            word += c
    if word:
        found.append(word)
    return found


def longest(text: Any) -> Any:
    best = ""
    for word in text.split():
        if len(word) > len(best):
            best = word
    return best, best[::-1]


def without_repeats(text: Any) -> Any:
    seen = set()
    found = []
    for word in text.split(" "):
        if word not in seen:
            seen.add(word)
            found.append(word)
    return found, seen


def anagrams(text: Any) -> Any:
    groups = {}
    for word in text.split():
        groups.setdefault("".join(sorted(word)), []).append(word)
    return [group for group in groups.values() if len(group) > 1]


def tokens(text: Any) -> Any:
    found = []
    i = 0
    while i < len(text):
        c = text[i]
        if c.isalpha():
            start = i
            while i < len(text) and text[i].isalpha():
                i += 1
            found.append(("word", text[start:i]))
        elif c.isspace():
            i += 1
        else:
            found.append(("other", c))
            i += 1
    return found


def translated(text: Any) -> Any:
    made = []
    for word in text.split():
        made.append(word[1:] + word[0] + "ay")
    return " ".join(made)


def palindromes(text: Any) -> Any:
    best = ""
    count = 0
    for i in range(len(text) - 2):
        part = text[i : i + 3]
        if part == part[::-1]:
            count += 1
            if part > best:
                best = part
    return count, best


def in_order(text: Any) -> Any:
    words = text.split()
    words.sort()
    return words, words.count("the"), sorted(words, reverse=True), sorted(words, key=len)


def codes(text: Any) -> Any:
    known = {"a": 0}
    current = ""
    out = []
    for c in text:
        following = current + c
        if following in known:
            current = following
        else:
            known[following] = len(known)
            out.append(known.get(current, -1))
            current = c
    return out, len(known)


def rebound(text: Any) -> Any:
    out = ""
    for word in text.split():
        if word == "cat":
            word = "dog"
        elif word.startswith("th"):
            word = word.upper()
        out += word + " "
    return out.rstrip()


def asked(text: Any) -> Any:
    n = 0
    for word in text.replace("the", "a").split():
        if "at" in word:
            n += 1
        if word.endswith("x") or word < "c":
            n += 10
        n += 100 * word.count("o") + word.find("u")
    return n


def cases(text: Any) -> Any:
    counts = {}
    for word in text.split():
        low = word.lower()
        counts[low] = counts.get(low, 0) + 1
        if word.isupper() or not word.isalpha() or word.islower():
            counts["other"] = counts.get("other", 0) + 1
    return counts, max(counts.values(), default=0)


def pairs_of_words(text: Any) -> Any:
    follow = {}
    previous = ""
    for word in text.split():
        if previous:
            follow[(previous, word)] = follow.get((previous, word), 0) + 1
        previous = word
    return follow


def compared(text: Any) -> Any:
    words = text.split()
    found = []
    for i in range(1, len(words)):
        a, b = words[i - 1], words[i]
        found.append((a < b, a <= b, a > b, a >= b, a == b, a != b))
    return found


def stripped(text: Any) -> Any:
    found = []
    for part in text.split("t"):
        found.append((part.strip(), part.lstrip(" a"), part.rstrip("e "), len(part)))
    return found


def chosen(text: Any) -> Any:
    words = text.split()
    last = "none"
    for word in words:
        if word[0] == "t" or word[-1] == "x":
            last = word
    return last


def optional(text: Any) -> Any:
    found = None
    for word in text.split():
        if len(word) == 5 and found is None:
            found = word
    return found


def many(text: Any) -> Any:
    """More strings than there is room for at first."""
    seen = {}
    for k in range(1, 9):
        for i in range(len(text) - k):
            seen[text[i : i + k]] = (k, i)
    return len(seen), seen


PROGRAMS = [
    *(windows, words_by_characters, longest, without_repeats, anagrams, tokens, translated),
    *(palindromes, in_order, codes, rebound, asked, cases, pairs_of_words, compared, stripped),
    *(chosen, optional),
]


@pytest.mark.parametrize("function", PROGRAMS)
def test_strings_that_are_made(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False, fullgraph=True)
    for args in TEXTS:
        compare_outcomes(run(function, args), run(fused, args))


@pytest.mark.parametrize("function", [words_by_characters, longest, compared])
def test_all_interpreters_agree(function: Callable[..., Any]) -> None:
    check(function, *TEXTS[:1], variants=None)


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("function", PROGRAMS)
def test_other_strings(function: Callable[..., Any]) -> None:
    """Also where Python raises, or a character has no place among those of ASCII."""
    fused = decorate(function, jit=False)
    for text in [*OTHERS, TEXTS[0][0]]:
        compare_outcomes(run(function, (text,)), run(fused, (text,)))


@pytest.mark.parametrize("function", [windows, tokens, many])
def test_jitted(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=True, fullgraph=True)
    for n in (12, 60, 9):
        args = (text_of(n),)
        compare_outcomes(run(function, args), run(fused, args))


def counted_words(text: Any) -> Any:
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts, "ab" in counts


def truths(text: Any) -> Any:
    found = []
    for word in text.split(" "):
        found.append((bool(word), not word, word or "none", bool(text[:1])))
    return found


def test_strings_with_one_hash() -> None:
    """And words between spaces of other alphabets."""
    assert code_of("ab") == code_of("`\u00e5")
    fused = decorate(counted_words, jit=True, fullgraph=True)
    many = " ".join(chr(97 - k) + chr(98 + 131 * k) for k in range(9))
    for text in ("ab `\u00e5 ab\u2003\u00e9t\u00e9\u3000`\u00e5 cd ab", many * 3, many[3:] + " ab"):
        compare_outcomes(run(counted_words, (text,)), run(fused, (text,)))


def test_truth_of_strings() -> None:
    fused = decorate(truths, jit=False, fullgraph=True)
    for args in TEXTS:
        compare_outcomes(run(truths, args), run(fused, args))


# ------------------------------------------------------------------------------ lists from outside
def counted(words: Any) -> Any:
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


def measured(words: Any) -> Any:
    best = ""
    for word in words:
        if len(word) > len(best):
            best = word
    return best, sum(len(word) for word in words), max(words), min(words)


def first_letters(words: Any) -> Any:
    made = []
    for word in words:
        made.append(word + "way" if word[0] in "aeiou" else word[1:] + word[0])
    return made


def looked_up(words: Any) -> Any:
    return words[2], words[-1], "cat" in words, words.index("the"), words.count("the"), words[1:3]


def same_words(words: Any) -> Any:
    n = 0
    for i in range(len(words)):
        for j in range(i):
            if words[i] == words[j]:
                n += 1
    return n


LISTS = [
    ([WORDS[k] for k in RNG.integers(0, len(WORDS), n)] + ["the", "cat"],) for n in (12, 30, 7)
]


@pytest.mark.parametrize("function", [counted, measured, first_letters, looked_up, same_words])
def test_lists_of_strings(function: Callable[..., Any]) -> None:
    assert_one_variant(function, LISTS)


def sold(records: Any) -> Any:
    total = 0.0
    amounts = {}
    for name, kind, amount in records:
        total += -amount if kind == "sell" else amount
        amounts[name] = amounts.get(name, 0.0) + amount
    return total, amounts


def reached(edges: Any) -> Any:
    graph = {}
    for a, b in edges:
        graph.setdefault(a, []).append(b)
        graph.setdefault(b, []).append(a)
    seen, queue, order = {"the"}, ["the"], []
    while queue:
        node = queue.pop(0)
        order.append(node)
        for other in graph[node]:
            if other not in seen:
                seen.add(other)
                queue.append(other)
    return order


def totals(rows: Any) -> Any:
    made = []
    for row in rows:
        n = 0
        for cell in row:
            if cell.isdigit():
                n += int(cell)
        made.append(n)
    return made


def evaluated(operations: Any) -> Any:
    stack = []
    for one in operations:
        if one == "+":
            stack.append(stack.pop() + stack.pop())
        elif one == "*":
            stack.append(stack.pop() * stack.pop())
        else:
            stack.append(int(one))
    return stack[-1]


def records(n: int) -> list[tuple[str, str, float]]:
    names = [WORDS[k] for k in RNG.integers(0, 6, n)]
    kinds = [("buy", "sell")[k] for k in RNG.integers(0, 2, n)]
    return [*zip(names, kinds, RNG.random(n).tolist(), strict=True)]


def edges(n: int) -> list[tuple[str, str]]:
    a, b = RNG.integers(0, 9, (2, n))
    return [("the", WORDS[3]), *((WORDS[i], WORDS[j]) for i, j in zip(a, b, strict=True))]


SUM = ["3", "4", "+", "2", "*", "7", "1", "+", "*"]
OTHER_SUM = ["-3", "+44", "+", "2", "*"]
CELLS = [["1", "x", "22"], ["3"], [], ["4", "", "5", "66"], ["-7"]]


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (sold, [(records(9),), (records(20),)]),
        (reached, [(edges(9),), (edges(15),)]),
        (totals, [(CELLS,), (CELLS[:3] * 2,)]),
        (
            evaluated,
            [(SUM,), (OTHER_SUM,)],
        ),
    ],
)
def test_strings_in_items(function: Callable[..., Any], calls: Any) -> None:
    assert_one_variant(function, calls)


def assert_one_variant(function: Callable[..., Any], calls: Any) -> None:
    """Assert that one variant serves all calls, whatever the strings."""
    fused = decorate(function, jit=False, fullgraph=True)
    for args in calls:
        compare_outcomes(run(function, args), run(fused, args))
    assert len(fused.variants) == 1


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize(
    ("function", "items"),
    [
        (evaluated, ["3", "x", "4", "5", "6", "+"]),
        (evaluated, ["3", "", "4", "5", "6", "+"]),
        (evaluated, ["3", " 7 ", "1_0", "5", "٣", "+"]),
        (evaluated, ["3", str(10**30), "1", "5", "9" * 18, "*"]),
        (counted, ["a", 1, "b", "c", None, "a"]),
        (counted, ["é", "\ud800", "é", "", "", "a"]),
        (first_letters, ["ab", "", "cd", "ef", "gh", "x"]),
        (looked_up, ["ab", "cd", "ef", "gh", "ij"]),
    ],
)
def test_what_python_does(function: Callable[..., Any], items: Any) -> None:
    """Errors, other kinds of items, and numbers that are written in other ways."""
    fused = decorate(function, jit=False)
    good = LISTS[0] if function is not evaluated else (SUM,)
    for args in (good, (items,), good):
        compare_outcomes(run(function, args), run(fused, args))


def integers(words: Any) -> Any:
    found = []
    for word in words:
        found.append(int(word))
    return found


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize(
    "odd",
    [
        *("-", "+", "", "  ", " - ", "- 5", "--5", "1_0", "0x1", "\u0663", "5.", "1 2"),
        *("9223372036854775807", "9223372036854775808", "\u20035\u2003"),
    ],
)
def test_integers(odd: str) -> None:
    """Signs without digits are no zero."""
    fused = decorate(integers, jit=False)
    good = ["1", " 2 ", "-3", "+4", "\t5\n", "007"]
    for words in (good, [*good, odd], [odd, *good]):
        compare_outcomes(run(integers, (words,)), run(fused, (words,)))


def test_integers_are_compiled() -> None:
    assert_one_variant(integers, [(["1", " 2 ", "-3", "+4", "\t5\n", "007"],)])


# ----------------------------------------------------------------------------- lists in two lists
def kept_groups(n: Any) -> Any:
    groups = {}
    for i in range(n):
        groups.setdefault(i % 3, []).append(i)
    return [group for group in groups.values() if len(group) > 2]


def changed_after(n: Any) -> Any:
    groups = {}
    for i in range(n):
        groups.setdefault(i % 3, []).append(i)
    found = [group for group in groups.values() if len(group) > 2]
    groups[0].append(100)
    return found


def changed_there(n: Any) -> Any:
    rows = [[] for _ in range(3)]
    for i in range(n):
        rows[i % 3].append(i)
    found = []
    for row in rows:
        found.append(row)
    found[0].append(5)
    return sum(rows[0]), len(found)


def both_returned(n: Any) -> Any:
    rows = [[] for _ in range(3)]
    for i in range(n):
        rows[i % 3].append(i)
    found = []
    for row in rows:
        if len(row) > 1:
            found.append(row)
    return found, rows


def changed_in_the_loop(n: Any) -> Any:
    rows = [[] for _ in range(3)]
    found = []
    for i in range(n):
        rows[i % 3].append(i)
        if i % 4 == 0:
            found.append(rows[i % 3])
    return found


def moved_then_changed(n: Any) -> Any:
    rows = [[] for _ in range(3)]
    for i in range(n):
        rows[i % 3].append(i)
    found = []
    for row in rows:
        found.append(row)
    best = [[1]]
    if n > 3:
        best = found
    best[0].append(5)
    return sum(rows[0])


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize(
    "function",
    [
        *(kept_groups, changed_after, changed_there, both_returned, changed_in_the_loop),
        moved_then_changed,
    ],
)
def test_lists_that_are_in_two_lists(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False)
    for n in (10, 11, 2, 30):
        expected, actual = run(function, (n,)), run(fused, (n,))
        compare_outcomes(expected, actual)


def test_lists_that_are_moved_are_compiled() -> None:
    check(kept_groups, (10,), (30,), variants=None)


# ----------------------------------------------------------------------------------- other sources
def digits(n: Any) -> Any:
    total = 0
    for i in range(n):
        text = str(i * 37 - 50)
        if text == text[::-1]:
            total += i
        for c in text:
            if c != "-":
                total += int(c)
    return total


def keys_of_numbers(xs: Any) -> Any:
    counts = {}
    for x in xs:
        key = str(x) + "," + str(x % 7)
        counts[key] = counts.get(key, 0) + 1
    return counts


def numbers_as_text(xs: Any) -> Any:
    found = []
    for x in xs:
        found.append(str(x))
    return found


def prices(words: Any, costs: Any) -> Any:
    total = 0
    for word in words:
        total += costs.get(word, 0)
        if word in costs:
            total += 100
    return total


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (digits, (40,)),
        (keys_of_numbers, ([-3, 5, 0, 99, -3, 2**62],)),
        (numbers_as_text, (np.array([0, -128, 127, 9], np.int8),)),
        (numbers_as_text, ([0, 10, -(2**63) + 1, 2**63 - 1, 7],)),
        (prices, (LISTS[0][0], {"the": 1, "dog": 7, "zz": 3})),
    ],
)
def test_numbers_and_dictionaries(function: Callable[..., Any], args: Any) -> None:
    fused = decorate(function, jit=False, fullgraph=True)
    compare_outcomes(run(function, args), run(fused, args))


# ------------------------------------------------------------------------------------- f-strings
def smallest_part(text: Any) -> Any:
    best = "zzz"
    for i in range(len(text) - 2):
        part = text[i : i + 3]
        best = min(best, part, part[::-1])
    return best


def packed(text: Any) -> Any:
    out = []
    n = 0
    previous = ""
    for c in text:
        if c == previous:
            n += 1
        else:
            if n:
                out.append(f"{n}{previous}")
            previous, n = c, 1
    out.append(f"{n}{previous!s}!")
    return "".join(out), f"<{previous}:{len(text)}>"


def keyed(text: Any) -> Any:
    counts = {}
    for i in range(len(text)):
        key = f"{i % 3},{text[i]}"
        counts[key] = counts.get(key, 0) + 1
    return counts


ROMAN = [
    *((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L")),
    *((40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")),
]


def roman(number: Any) -> Any:
    result = ""
    for value, symbol in ROMAN:
        while number >= value:
            result += symbol
            number -= value
    return result


def romans(text: Any) -> Any:
    found = []
    for k in range(len(text)):
        found.append(roman(k * k * 7))
    return found, max(found, key=len)


def repeated(text: Any) -> Any:
    text = text + "\n"
    out = []
    i = 0
    while i < len(text):
        out.append(text[i] * (i % 3) + "-" * len(out) + text[: i % 4] * 2)
        i += 1
    return "".join(out)


@pytest.mark.parametrize("function", [smallest_part, packed, keyed, romans, repeated])
def test_strings_of_several_parts(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False, fullgraph=True)
    for args in TEXTS:
        compare_outcomes(run(function, args), run(fused, args))


def shown(x: Any, n: Any) -> Any:
    out = []
    for i in range(n):
        out.append(f"{x[i]:.2f}")
    return out, f"{n:>5}|{x.sum()!r}|{x.dtype}", f"{{{n}}}"


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_formats_are_python_s() -> None:
    fused = decorate(shown, jit=False)
    for n in (3, 2, 4):
        args = (np.arange(4.0) / 3, n)
        compare_outcomes(run(shown, args), run(fused, args))


# ----------------------------------------------------------------------- a list of a list returned
def last_row(n: Any) -> Any:
    rows = [[1]]
    for _ in range(n):
        row = rows[-1]
        rows.append([1] + [row[i] + row[i + 1] for i in range(len(row) - 1)] + [1])
    return rows[-1]


def last_row_and_all(n: Any) -> Any:
    rows = [[1]]
    for k in range(n):
        rows.append([k, k + 1])
    return rows[-1], rows


def one_row_twice(n: Any) -> Any:
    rows = [[1]]
    for k in range(n):
        rows.append([k, k + 1])
    return rows[-1], rows[n]


def test_a_row_is_returned() -> None:
    check(last_row, (3,), (6,), variants=None)


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_rows_that_are_one_object() -> None:
    rows, more = decorate(last_row_and_all, jit=False), decorate(one_row_twice, jit=False)
    for n in (6, 9):
        last, whole = rows(n)
        assert last is whole[-1]
        assert (last, whole) == last_row_and_all(n)
        first, second = more(n)
        assert first is second
