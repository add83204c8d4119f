"""Compare what two runs of a script print: numbers to 12 digits, and the text around them."""

from __future__ import annotations

import math
import re

DIGITS = 12

_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?!\w)")


def agree(a: float, b: float) -> bool:
    """Whether two numbers differ by at most one unit of the twelfth significant digit."""
    size = max(abs(a), abs(b))
    if a == b or not math.isfinite(size):
        return a == b
    unit = 10.0 ** (math.floor(math.log10(size)) - (DIGITS - 1))
    return abs(a - b) <= 1.001 * unit  # both may be rounded, and the difference is too


def difference(expected: str, found: str) -> str:
    """Return the first lines that do not agree, or an empty text.

    Numbers without a point or an exponent are integers and must be equal. An integer and an equal
    float (``1`` and ``1.0``) do not agree, because the types differ. The width of spaces does not
    count, because NumPy pads the numbers of an array.
    """
    lines, found_lines = expected.splitlines(), found.splitlines()
    for line, other in zip(lines, found_lines, strict=False):
        if not _lines_agree(line, other):
            return f"{line!r} against {other!r}"
    if len(lines) != len(found_lines):
        return f"{len(lines)} lines against {len(found_lines)}"
    return ""


def _lines_agree(line: str, other: str) -> bool:
    if line == other:
        return True
    texts, other_texts = ("".join(_NUMBER.sub("#", each).split()) for each in (line, other))
    if texts != other_texts:
        return False
    pairs = zip(_NUMBER.findall(line), _NUMBER.findall(other), strict=True)
    return all(a == b or _numbers_agree(a, b) for a, b in pairs)


def _numbers_agree(a: str, b: str) -> bool:
    a_is_integer, b_is_integer = (not set(each) & set(".eE") for each in (a, b))
    if a_is_integer and b_is_integer:
        return int(a) == int(b)
    if a_is_integer != b_is_integer and float(a) == float(b):
        return False
    return agree(float(a), float(b))
