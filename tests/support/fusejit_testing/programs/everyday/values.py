"""Arguments of random programs: strings, lists, dictionaries, sets, and objects of their classes.

A variation has what is unusual: characters of other alphabets, large numbers, items of other types.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

_WORDS = (
    *("the", "cat", "Cat", "dog", "a", "ab", "aab", "12", "7", "-3", "the", "level", "noon"),
    *("act", "tac", "x1", "Fox", "w1", "w2", "w7", "n3"),
)
_ODD_WORDS = ("", "été", "ß", "😀😀", " ", "x\0y", "٣", "İ", " 5 ", "+4", "1_0", "a" * 40, "\n")
_SEPARATORS = (" ", " ", " ", ",", "  ", "\n", "-")
_SIZES = (0, 1, 2, 3, 4, 5, 6, 8, 13)
_LARGE = (64, 70, 90)
_ODD_NUMBERS = (2**31, -(2**40), 2**62, 2**63 - 1, -(2**63), 10**25, True)

Make = Callable[[random.Random, bool, Mapping[str, Any]], Any]


def size(rng: random.Random) -> int:
    """How many items something has."""
    return rng.choice(_SIZES)


def word(rng: random.Random, odd: bool) -> str:
    """A word, perhaps an unusual one."""
    return rng.choice(_ODD_WORDS if odd and rng.random() < 0.3 else _WORDS)


def text(rng: random.Random, odd: bool, _: Mapping[str, Any]) -> str:
    """Words with something between them."""
    separator = rng.choice(_SEPARATORS)
    return separator.join(word(rng, odd) for _ in range(size(rng)))


def words(rng: random.Random, odd: bool, _: Mapping[str, Any]) -> list[str]:
    """A list of words, many of them several times."""
    return [word(rng, odd) for _ in range(size(rng))]


def integer(rng: random.Random, odd: bool, _: Mapping[str, Any]) -> int:
    """A small number, or a variation."""
    return rng.choice(_ODD_NUMBERS) if odd and rng.random() < 0.3 else rng.randint(-2, 7)


def numbers(rng: random.Random, odd: bool, names: Mapping[str, Any]) -> list[Any]:
    """A list of small numbers."""
    made: list[Any] = [rng.randint(-4, 9) for _ in range(size(rng))]
    if odd and made and rng.random() < 0.5:
        made[rng.randrange(len(made))] = rng.choice((0.5, *_ODD_NUMBERS))
    return made


def grid(rng: random.Random, odd: bool, _: Mapping[str, Any]) -> list[list[int]]:
    """Rows of zeros and ones, all as long; in a variation some differ."""
    across = rng.randint(0, 5)
    rows = [[int(rng.random() < 0.6) for _ in range(across)] for _ in range(rng.randint(0, 4))]
    if odd and rows:
        rows[-1].append(2)
    return rows


def tree(rng: random.Random, odd: bool, names: Mapping[str, Any], depth: int = 0) -> Any:
    """Numbers in lists in lists."""
    if depth > 3 or (depth and rng.random() < 0.5):
        return word(rng, odd) if odd and rng.random() < 0.1 else rng.randint(-3, 9)
    return [tree(rng, odd, names, depth + 1) for _ in range(rng.randint(0, 3))]


def rows(rng: random.Random, odd: bool, names: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Pairs of a word and a number."""
    return [(word(rng, odd), integer(rng, odd, names)) for _ in range(size(rng))]


# ---------------------------------------------------------------------------------- dictionaries
def _count(rng: random.Random) -> int:
    return rng.choice(_LARGE if rng.random() < 0.5 else _SIZES)


def number_keys(rng: random.Random) -> list[Any]:
    """Keys of a dictionary, in no order."""
    return rng.sample(range(-2, 120), _count(rng))


def word_keys(rng: random.Random) -> list[Any]:
    """Names as keys of a dictionary."""
    made = dict.fromkeys([*_WORDS[:8], *(f"w{k}" for k in range(90))])
    return rng.sample(list(made), _count(rng))


def _of_keys(keys: Callable[[random.Random], list[Any]]) -> dict[str, Make]:
    """Makers of arguments with such keys."""

    def key(rng: random.Random, found: list[Any]) -> Any:
        return rng.choice(found) if found and rng.random() < 0.9 else keys(random.Random(3))[0]

    def table(rng: random.Random, odd: bool, _: Mapping[str, Any]) -> dict[Any, Any]:
        is_float = rng.random() < 0.3
        made: dict[Any, Any] = {
            k: rng.randint(-3, 20) * (0.5 if is_float else 1) for k in keys(rng)
        }
        if odd and rng.random() < 0.5:
            made[rng.choice((*made, None, 2.5, "odd"))] = rng.choice((None, "odd", *_ODD_NUMBERS))
        return made

    def graph(rng: random.Random, odd: bool, _: Mapping[str, Any]) -> dict[Any, Any]:
        found = keys(rng)
        return {k: [key(rng, found) for _ in range(rng.randint(0, 4))] for k in found}

    def weighted(rng: random.Random, odd: bool, _: Mapping[str, Any]) -> dict[Any, Any]:
        found = keys(rng)
        return {
            k: [(key(rng, found), rng.randint(1, 9)) for _ in range(rng.randint(0, 3))]
            for k in found
        }

    def stop(rng: random.Random, odd: bool, _: Mapping[str, Any]) -> set[Any]:
        return {*keys(rng), *((None,) if odd and rng.random() < 0.3 else ())}

    def asked(rng: random.Random, odd: bool, _: Mapping[str, Any]) -> list[Any]:
        found = keys(random.Random(rng.randint(0, 4)))
        return [key(rng, found) for _ in range(size(rng))]

    def one_key(rng: random.Random, odd: bool, _: Mapping[str, Any]) -> Any:
        return key(rng, keys(random.Random(rng.randint(0, 9))))

    return {
        **{"table": table, "graph": graph, "weighted": weighted, "stop": stop, "keys": asked},
        "key": one_key,
    }


def one_of(name: str) -> Make:
    """Objects of a class of the program's, which its function ``name`` makes of two numbers."""

    def make(rng: random.Random, odd: bool, names: Mapping[str, Any]) -> Any:
        return names[name](integer(rng, odd, names), integer(rng, False, names))

    return make


def many_of(name: str) -> Make:
    """Lists of such objects, some of them several times."""

    def make(rng: random.Random, odd: bool, names: Mapping[str, Any]) -> list[Any]:
        made = [one_of(name)(rng, odd, names) for _ in range(size(rng))]
        return made + made[:1] * (rng.random() < 0.2)

    return make


KINDS: dict[str, Make] = {
    **{"text": text, "words": words, "int": integer, "rows": rows, "ints": numbers},
    **{"grid": grid, "tree": tree},
    **{f"{name}_numbers": make for name, make in _of_keys(number_keys).items()},
    **{f"{name}_words": make for name, make in _of_keys(word_keys).items()},
    **{"point": one_of("new_point"), "points": many_of("new_point")},
    **{"account": one_of("new_account"), "accounts": many_of("new_account")},
    **{"bag": one_of("new_bag"), "node": one_of("new_node")},
}
