"""Reads printed affine expressions back."""

from __future__ import annotations

import re

from fusejit.errors import ParseError
from fusejit.ir.affine import AffineExpr

# ------------------------------------------------------------------------------------------ parser
_TOKEN = re.compile(r"\s*(?:(\d+)|([A-Za-z_][A-Za-z_0-9.]*)|([-+*()]))")


_DIM = re.compile(r"d(\d+)$")


def parse_affine_expr(text: str) -> AffineExpr:
    """Read what ``str`` of an `AffineExpr` prints.

    >>> print(parse_affine_expr("2 * (d0 + 1) - s0 floordiv 2"))
    2 * d0 - (s0) floordiv 2 + 2
    """
    tokens: list[str] = []
    at = 0
    stripped = text.rstrip()
    while at < len(stripped):
        match = _TOKEN.match(stripped, at)
        if match is None:
            raise ParseError(f"column {at + 1} of affine expression {text!r}: unexpected character")
        tokens.append(match.group().strip())
        at = match.end()
    tokens.append("")
    position = 0

    def take(expected: str | None = None) -> str:
        nonlocal position
        token = tokens[position]
        if expected is not None and token != expected:
            raise ParseError(f"affine expression {text!r}: expected {expected!r}, found {token!r}")
        position += 1
        return token

    def primary() -> AffineExpr:
        token = take()
        if token == "(":
            inside = total()
            take(")")
            return inside
        if token == "-":
            return -product()
        if token.isdigit():
            return AffineExpr.const(int(token))
        if match := _DIM.match(token):
            return AffineExpr.dim(int(match.group(1)))
        if token and (token[0].isalpha() or token[0] == "_") and token not in ("floordiv", "mod"):
            return AffineExpr.symbol(token)
        raise ParseError(f"affine expression {text!r}: expected an operand, found {token!r}")

    def product() -> AffineExpr:
        left = primary()
        while tokens[position] in ("*", "floordiv", "mod"):
            operator = take()
            right = primary()
            if operator == "*":
                if left.is_constant:
                    left = right * left.constant
                elif right.is_constant:
                    left = left * right.constant
                else:
                    raise ParseError(f"affine expression {text!r}: product of two unknowns")
            else:
                left = left.floordiv(right) if operator == "floordiv" else left.mod(right)
        return left

    def total() -> AffineExpr:
        left = product()
        while tokens[position] in ("+", "-"):
            left = left + product() if take() == "+" else left - product()
        return left

    result = total()
    if tokens[position]:
        raise ParseError(f"affine expression {text!r}: unexpected {tokens[position]!r}")
    return result
