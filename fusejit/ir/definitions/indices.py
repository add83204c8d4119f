"""Subscripts of index notation: integer expressions of dims, extents, attributes and constants.

    index ::= dim | extent | attribute | attribute[k] | integer
            | index + index | index - index | index * index | index // index | index % index

They are data. `affine` turns one into an `AffineExpr` once the dims are numbered, the attributes
have values and the extents are symbols.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fusejit.dataclass import dataclass
from fusejit.ir.affine import AffineExpr

DIM, EXTENT, ATTRIBUTE, CONST = "dim", "extent", "attribute", "const"
_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "//": 2, "%": 2}


Operator = Callable[["Index", Any], "Index"]


def _operator(op: str) -> tuple[Operator, Operator]:
    """The method of an operator, and the one for an index on its right."""
    return (
        lambda self, other: Index(op, (self, Index.of(other))),
        lambda self, other: Index(op, (Index.of(other), self)),
    )


@dataclass(frozen=True, slots=True)
class Index:
    """An integer expression.

    Attributes
    ----------
    op : str
        ``"dim"``, ``"extent"``, ``"attribute"``, ``"const"``, or an operator.
    operands : tuple
        Expressions for an operator; a name, a name and a position, or an integer for a leaf.
    """

    op: str
    operands: tuple[Any, ...]

    @staticmethod
    def of(value: Any) -> Index:
        """``value`` itself, or the constant it is."""
        if isinstance(value, Index):
            return value
        if isinstance(value, bool) or not hasattr(type(value), "__index__"):
            raise TypeError(
                f"a subscript is made of dims, extents, attributes and integers, not {value!r}"
            )
        return Index(CONST, (value.__index__(),))

    __add__, __radd__ = _operator("+")
    __sub__, __rsub__ = _operator("-")
    __mul__, __rmul__ = _operator("*")
    __floordiv__, _ = _operator("//")
    __mod__, _ = _operator("%")

    def __neg__(self) -> Index:
        return 0 - self

    def __bool__(self) -> bool:
        raise TypeError(f"the index {self} has no value while an op is defined")

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"the index {self} is one integer")

    # -- queries --------------------------------------------------------------------------------
    def leaves(self) -> Iterator[Index]:
        """The dims, extents, attributes and integers in it, from left to right."""
        if self.op in _PRECEDENCE:
            for operand in self.operands:
                yield from operand.leaves()
        else:
            yield self

    def names(self, op: str) -> list[str]:
        """The names of its dims (or extents, or attributes), each once, in order."""
        return list(dict.fromkeys(leaf.operands[0] for leaf in self.leaves() if leaf.op == op))

    def as_dim(self) -> str | None:
        """The name of the dim it is, or None."""
        return str(self.operands[0]) if self.op == DIM else None

    # -- meaning --------------------------------------------------------------------------------
    def substitute(self, dims: Mapping[str, Index]) -> Index:
        """It with dims replaced."""
        if self.op == DIM:
            return dims.get(self.operands[0], self)
        if self.op not in _PRECEDENCE:
            return self
        return Index(self.op, tuple(operand.substitute(dims) for operand in self.operands))

    def affine(self, names: Mapping[str, AffineExpr], attributes: Mapping[str, Any]) -> AffineExpr:
        """It as an affine expression, with ``names`` for dims and extents.

        Raises
        ------
        ValueError
            If it is not affine: a product of two dims, a division by one.
        """

        def convert(index: Index) -> AffineExpr:
            if index.op == CONST:
                return AffineExpr.const(index.operands[0])
            if index.op == ATTRIBUTE:
                return AffineExpr.const(attribute_value(index, attributes))
            if index.op in (DIM, EXTENT):
                return names[index.operands[0]]
            left, right = map(convert, index.operands)
            if index.op == "+":
                return left + right
            if index.op == "-":
                return left - right
            factor, rest = (left, right) if left.is_constant else (right, left)
            if index.op == "*" and factor.is_constant:
                return rest * factor.constant
            divisor = right.as_constant()
            if index.op != "*" and (right.as_symbol() or (divisor is not None and divisor > 0)):
                return left.floordiv(right) if index.op == "//" else left.mod(right)
            raise ValueError(f"the subscript {self} is not affine in the dims")

        return convert(self)

    def bounds(
        self, ranges: Mapping[str, tuple[AffineExpr, AffineExpr]], attributes: Mapping[str, Any]
    ) -> tuple[AffineExpr, AffineExpr]:
        """The least and the largest value, ``ranges`` being those of dims and extents."""
        if self.op == CONST:
            return (AffineExpr.const(self.operands[0]),) * 2
        if self.op == ATTRIBUTE:
            return (AffineExpr.const(attribute_value(self, attributes)),) * 2
        if self.op in (DIM, EXTENT):
            return ranges[self.operands[0]]
        (low, high), (other_low, other_high) = (
            operand.bounds(ranges, attributes) for operand in self.operands
        )
        if self.op == "+":
            return low + other_low, high + other_high
        if self.op == "-":
            return low - other_high, high - other_low
        if self.op == "*":
            if not other_low.is_constant:
                low, high, other_low, other_high = other_low, other_high, low, high
            factor = other_low.constant
            ends = (low * factor, high * factor)
            return ends if factor >= 0 else ends[::-1]
        if self.op == "//":
            return low.floordiv(other_low), high.floordiv(other_low)
        return AffineExpr.const(0), other_low - 1

    # -- printing -------------------------------------------------------------------------------
    def __str__(self) -> str:
        return self._text(0)

    def _text(self, outer: int) -> str:
        if self.op == ATTRIBUTE:
            name, position = self.operands
            return name if position is None else f"{name}[{position}]"
        if self.op not in _PRECEDENCE:
            return str(self.operands[0])
        left, right = self.operands
        if self.op == "-" and left == Index.of(0):
            return f"-{right._text(3)}"
        level = _PRECEDENCE[self.op]
        text = f"{left._text(level)} {self.op} {right._text(level + 1)}"
        return f"({text})" if level < outer else text


def dim(name: str) -> Index:
    """A dim."""
    return Index(DIM, (name,))


def extent(name: str) -> Index:
    """A named extent."""
    return Index(EXTENT, (name,))


def dims(letter: str, count: int) -> tuple[Index, ...]:
    """``d0, d1, ..``."""
    return tuple(dim(f"{letter}{k}") for k in range(count))


def extents(letter: str, count: int) -> tuple[Index, ...]:
    """``D0, D1, ..``."""
    return tuple(extent(f"{letter}{k}") for k in range(count))


def attribute_value(index: Index, attributes: Mapping[str, Any]) -> int:
    """The integer that an attribute, or an item of it, has."""
    name, position = index.operands
    value = attributes[name]
    return int(value if position is None else value[position])


def attribute_in_formula(name: str, default: Any) -> Any:
    """An attribute as a formula sees it: an index or several; other values as they are."""
    if isinstance(default, (tuple, list)) and all(type(v) is int for v in default):
        return tuple(Index(ATTRIBUTE, (name, k)) for k in range(len(default)))
    return Index(ATTRIBUTE, (name, None)) if type(default) is int else default


def parse_index(text: str, attributes: Mapping[str, Any], kind: str = EXTENT) -> Index:
    """Read an expression; names that are no attributes are extents (or dims).

    >>> print(parse_index("OW * strides[0] + KW - 1", {"strides": (1,)}))
    OW * strides[0] + KW - 1
    """
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise ValueError(f"{text!r} is not an expression of extents") from error
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    scope = {
        name: attribute_in_formula(name, attributes[name])
        if name in attributes
        else Index(kind, (name,))
        for name in names
    }
    code = compile(tree, "<extent>", "eval")
    return Index.of(eval(code, {"__builtins__": {}}, scope))
