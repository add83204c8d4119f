"""`Integers`: sizes that the kernel computes, and symbols for them.

>>> from fusejit.ir.affine import AffineExpr
>>> i = Integers(1)
>>> s0 = i(AffineExpr.symbol("s0"))
>>> for op in i.bound("tile", {"s0_tile": s0.minimum(64)}):
...     print(type(op).__name__)
GenericOp
Bind
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import Bind, GenericOp, Init, Op
from fusejit.ir.payload import I64, PayloadBuilder
from fusejit.ir.types import Kind, TensorType
from fusejit.ir.values import Value


def _row(name: str) -> Callable[[Integer, Number], Integer]:
    """The method that is a row of the scalar op table."""
    return lambda self, other: self.of.apply(name, self, other)


@dataclass(frozen=True, slots=True)
class Integer:
    """A number of a payload; operands of its methods are such numbers, expressions, or ints."""

    of: Integers
    ref: int

    __add__, __sub__, __mul__ = map(_row, ("add", "subtract", "multiply"))
    floordiv, mod = _row("floor_divide"), _row("remainder")
    """The quotient, rounded down, and what it leaves; the divisor is at least 1."""
    minimum, maximum = _row("minimum"), _row("maximum")

    def at_least(self, other: Number, then: Number, otherwise: Number) -> Integer:
        """``then if self >= other else otherwise``."""
        condition = self.of.apply("greater_equal", self, other, dtype=np.dtype(np.bool_))
        return self.of.apply("select", condition, then, otherwise)


Number = Integer | AffineExpr | int


class Integers:
    """Arithmetic with 64-bit integers, for an op without dims that has ``count`` results."""

    def __init__(self, count: int) -> None:
        self._payloads = PayloadBuilder([], [I64] * count)

    def __call__(self, number: Number) -> Integer:
        """A constant, or an expression of symbols."""
        if isinstance(number, Integer):
            return number
        if isinstance(number, int):
            return Integer(self, self._payloads.const(number, I64))
        return Integer(self, self._payloads.index(number))

    def apply(self, name: str, *operands: Number, dtype: np.dtype = I64) -> Integer:
        """A row of the scalar op table."""
        return Integer(self, self._payloads.op(name, [self(o).ref for o in operands], dtype))

    def bound(
        self, name: str, integers: Mapping[str, Integer], *, is_local: bool = True
    ) -> list[Op]:
        """The op that computes integers, and binds that give them to symbols."""
        results = [Value(symbol, TensorType(I64), Kind.PYTHON) for symbol in integers]
        op = GenericOp(
            results=tuple(results),
            domain=(),
            iterators=(),
            inputs=(),
            inits=(Init(IndexingMap.scalar(0)),) * len(results),
            payload=self._payloads.finish([number.ref for number in integers.values()]),
            name=name,
        )
        return [op, *(Bind(symbol=v.name, value=v, is_local=is_local) for v in results)]
