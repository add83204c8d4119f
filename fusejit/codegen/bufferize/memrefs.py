"""Where a value's elements are: memory with polynomial strides, or a scalar expression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fusejit.dataclass import dataclass, field, replace
from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.loops.mentioned_names import memory_of
from fusejit.ir.loops.nodes import Element, Expr, Parts, Pointer, Role
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.reassociation import Reassociation
from fusejit.ir.types import part_dtype


@dataclass(frozen=True, slots=True)
class Memory:
    """A typed pointer of the generated source and how an index becomes an element offset.

    Attributes
    ----------
    pointer : Pointer
        The pointer, or the parts of the complex numbers that it points to.
    strides : tuple of Polynomial
        Per axis, in elements.
    alias_class : int or None
        Class of the graph's buffer it belongs to; None for memory nothing else can reach.
    start : Polynomial
        Offset of the element with index 0: negative in memory of a tile, whose first element is
        where the tile begins.
    role : Role
        Whose it is.
    array : str
        The launcher's name for it, if it is an argument or a result.
    """

    pointer: Pointer
    dtype: np.dtype
    strides: tuple[Polynomial, ...]
    alias_class: int | None = None
    start: Polynomial = field(default_factory=lambda: Polynomial.const(0))
    role: Role = Role.OWN
    array: str = ""

    def offset(self, map: IndexingMap, dims: Mapping[int, Polynomial]) -> Polynomial:
        """Element offset of ``map``'s result at the given dims."""
        total = self.start
        for result, stride in zip(map.results, self.strides, strict=True):
            total = total + Polynomial.from_affine(result, dims) * stride
        return total

    def reshaped(self, reassociation: Reassociation, result: Sequence[Polynomial]) -> Memory:
        """The same memory with its axes split or merged.

        What is merged lies there as one axis: the tracer has proved it, or asks for it in a guard.
        """
        strides: list[Polynomial] = []
        for axis, group in enumerate(reassociation.groups):
            if reassociation.expands:
                inner = dense_strides([result[k] for k in group])
                strides += [self.strides[axis] * s for s in inner]
            else:
                strides.append(self.strides[group[-1]])
        return replace(self, strides=tuple(strides))

    def part(self, part: str) -> Memory:
        """The real or imaginary parts of complex numbers: every second float."""
        two = Polynomial.const(2)
        return replace(
            self,
            pointer=Parts(memory_of(self.pointer)),
            dtype=part_dtype(self.dtype),
            strides=tuple(two * stride for stride in self.strides),
            start=two * self.start + Polynomial.const(part == "imag"),
        )

    def through(self, map: IndexingMap) -> Memory:
        """The memory seen through a linear map: strides of its dims, and where it starts."""
        dims = {d: Polynomial.name(f"d{d}") for d in range(map.num_dims)}
        assert all(e.is_linear for e in map.results), f"no strides lead through {map}"
        offset = self.offset(map, dims)
        strides = tuple(offset.coefficient(f"d{d}") for d in range(map.num_dims))
        start = offset
        for d in range(map.num_dims):
            start = start.substitute(f"d{d}", Polynomial.const(0))
        return replace(self, strides=strides, start=start)


@dataclass(frozen=True, slots=True)
class MemRef:
    """A value's place: memory with the map from the value's index, or an expression (rank 0)."""

    memory: Memory | None = None
    map: IndexingMap | None = None
    expr: Expr | None = None

    @staticmethod
    def whole(memory: Memory) -> MemRef:
        """All of a memory, axis by axis."""
        return MemRef(memory, IndexingMap.identity(len(memory.strides)))

    def through(self, map: IndexingMap) -> MemRef:
        """The place of ``result[i] = value[map(i)]``."""
        if self.map is None:
            return self
        return MemRef(self.memory, self.map.compose(map))

    def reshaped(self, reassociation: Reassociation, result: Sequence[Polynomial]) -> MemRef:
        """The place of the value with its axes split or merged."""
        if self.map is None:
            return self
        assert self.memory is not None
        memory = self.memory if self.map.is_identity else self.memory.through(self.map)
        return MemRef.whole(memory.reshaped(reassociation, result))

    def element(self, map: IndexingMap, dims: Mapping[int, Polynomial]) -> Expr:
        """The element an operand with this ``map`` reads at the given dims."""
        if self.expr is not None:
            return self.expr
        pointer, offset = self.address(map, dims)
        return Element(pointer, offset)

    def address(
        self, map: IndexingMap, dims: Mapping[int, Polynomial]
    ) -> tuple[Pointer, Polynomial]:
        """Pointer and element offset that an operand with this ``map`` reads or writes."""
        assert self.memory is not None
        assert self.map is not None
        return self.memory.pointer, self.memory.offset(self.map.compose(map), dims)


def extent_polynomials(extents: Sequence[AffineExpr]) -> tuple[Polynomial, ...]:
    """Extents as polynomials over the graph's symbols."""
    return tuple(Polynomial.from_affine(e) for e in extents)


def dense_strides(
    extents: Sequence[Polynomial], order: Sequence[int] | None = None
) -> tuple[Polynomial, ...]:
    """Strides in elements of a dense array whose axes lie in ``order``, outermost first."""
    strides = [Polynomial.const(1)] * len(extents)
    step = Polynomial.const(1)
    for axis in reversed(order if order is not None else range(len(extents))):
        strides[axis] = step
        step = step * extents[axis]
    return tuple(strides)
