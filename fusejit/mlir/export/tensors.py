"""Tensors of MLIR text that no op computes: parts, reshapes, fills and copies of others."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from fusejit.dataclass import replace
from fusejit.errors import UnsupportedError
from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.elementwise import elementwise
from fusejit.ir.graph import Graph
from fusejit.ir.host import HostExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Load, Op, Operand
from fusejit.ir.payload import I64, identity_payload
from fusejit.ir.reassociation import Reassociation
from fusejit.ir.text.printer import print_op
from fusejit.ir.types import TensorType
from fusejit.ir.values import Buffer, Value, View
from fusejit.mlir.export.mlir_op_table import literal, mlir_type
from fusejit.mlir.export.patterns import Cut, cut_of
from fusejit.mlir.export.size_printer import SizePrinter, Ssa, sized_type


class TensorPrinter(SizePrinter):
    """The part of a text under construction that names tensors."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.computed: dict[Value, HostExpr] = {}  # numbers that the text computes from sizes

    def generic(self, op: GenericOp) -> None:
        """The lines of a generic op."""
        raise NotImplementedError

    def value(self, value: Value) -> Ssa:
        """The name of a value; a number that is computed from sizes is written when it is used."""
        if value in self.computed and value not in self.values:
            index = self.host_index(self.computed[value])
            name = self.define(f"arith.index_cast {index} : index to i64")
            self.values[value] = Ssa(name, I64, None)
        return self.values[value]

    def shown(self, indexing_map: IndexingMap) -> IndexingMap:
        return IndexingMap(indexing_map.num_dims, tuple(map(self.canonical, indexing_map.results)))

    def unsupported(self, op: Op, what: str) -> UnsupportedError:
        text = print_op(op).splitlines()[0]
        return UnsupportedError(
            f"{self.graph.name}: {what}; the op is `{text}` at {op.location}. MLIR text is made "
            "of functions that compute new arrays: see docs/mlir.md"
        )

    def result(self, result: Value | View) -> Ssa:
        """What is returned."""
        if isinstance(result, Value):
            return self.value(result)
        value = Value("result", result.type)
        op = Load(view=result, version=0, results=(value,))
        return self.load(op, result)

    def load(self, op: Load, view: View) -> Ssa:
        """Part of an argument."""
        source = self.array(op, view.buffer)
        whole = Value(view.buffer.name, view.buffer.type)
        self.values[whole] = source
        return self.view(op, whole, source, view.map, view.extents)

    def array(self, op: Op, buffer: Buffer) -> Ssa:
        """An argument, or its memory with axes split or merged."""
        if buffer not in self.arrays:
            if buffer.base is None or buffer.reassociation is None:
                raise self.unsupported(op, f"{buffer!r} is memory of the function itself")
            base = self.array(op, buffer.base)
            self.arrays[buffer] = self.reshape(base, buffer.reassociation, buffer.type.extents)
        return self.arrays[buffer]

    def reshape(
        self, source: Ssa, reassociation: Reassociation, extents: Sequence[AffineExpr]
    ) -> Ssa:
        """``tensor.collapse_shape`` or ``expand_shape``.

        MLIR knows a size of the side with fewer axes exactly if it knows the others, so there is a
        cast where more or less is known here.
        """
        shown = tuple(map(self.canonical, extents))
        assert source.extents is not None
        fine = [e.as_constant() for e in (shown if reassociation.expands else source.extents)]
        parts = [[fine[k] for k in group] for group in reassociation.groups]
        coarse = [None if None in p else prod(n for n in p if n is not None) for p in parts]
        groups = str(reassociation).partition(" ")[2]
        known = sized_type(source.dtype, coarse)
        result = Ssa("", source.dtype, shown)
        if reassociation.expands:
            given = self.cast(source.name, source.type, known)
            sizes = ", ".join(map(self.index, shown))
            name = self.define(
                f"tensor.expand_shape {given} {groups} output_shape [{sizes}] : "
                f"{known} into {result.type}"
            )
        else:
            made = f"tensor.collapse_shape {source.name} {groups} : {source.type} into {known}"
            name = self.cast(self.define(made), known, result.type)
        return replace(result, name=name)

    def cast(self, name: str, source: str, target: str) -> str:
        """The tensor as one of another type, of which more or fewer sizes are known."""
        if source == target:
            return name
        return self.define(f"tensor.cast {name} : {source} to {target}")

    def view(
        self,
        op: Op,
        value: Value,
        source: Ssa,
        indexing_map: IndexingMap,
        extents: Sequence[AffineExpr],
    ) -> Ssa:
        """Nothing, a slice, or a copy that reads through the map."""
        canonical = tuple(map(self.canonical, extents))
        shown = self.shown(indexing_map)
        if shown.is_identity and canonical == (source.extents or ()):
            return source
        if source.extents is not None:
            cut = cut_of(shown, canonical, source.extents, everything=True)
            dims = [] if cut is None else [d for d in cut.dims if d is not None]
            if cut is not None and dims == list(range(len(extents))):
                return source if cut.is_whole else self.slice(source, cut)
        copied = Value(value.name, TensorType(source.dtype, tuple(extents)))
        reads, payload = Operand(value, indexing_map), identity_payload(source.dtype)
        self.generic(elementwise(copied, [reads], payload, "copy", op.location))
        return self.values[copied]

    def slice(self, source: Ssa, cut: Cut) -> Ssa:
        """``tensor.extract_slice``; axes without a dim are dropped."""
        offsets = ", ".join(map(self.index, cut.offsets))
        sizes = ", ".join(map(self.index, cut.sizes))
        steps = ", ".join(map(str, cut.steps))
        kept = tuple(s for s, d in zip(cut.sizes, cut.dims, strict=True) if d is not None)
        result = Ssa("", source.dtype, kept)
        name = self.define(
            f"tensor.extract_slice {source.name}[{offsets}] [{sizes}] [{steps}] : "
            f"{source.type} to {result.type}"
        )
        return Ssa(name, source.dtype, kept)

    def empty(self, dtype: np.dtype, extents: tuple[AffineExpr, ...]) -> Ssa:
        given = ", ".join(self.index(e) for e in extents if e.as_constant() is None)
        result = Ssa("", dtype, extents)
        return Ssa(self.define(f"tensor.empty({given}) : {result.type}"), dtype, extents)

    def fill(self, scalar: Ssa, extents: tuple[AffineExpr, ...]) -> Ssa:
        out = self.empty(scalar.dtype, extents)
        name = self.define(
            f"linalg.fill ins({scalar.name} : {scalar.type}) outs({out.name} : {out.type}) "
            f"-> {out.type}"
        )
        return Ssa(name, scalar.dtype, extents)

    def number(self, number: object, dtype: np.dtype) -> Ssa:
        text = literal(number, dtype)
        typed = text if dtype.kind == "b" else f"{text} : {mlir_type(dtype)}"
        return Ssa(self.define(f"arith.constant {typed}"), dtype, None)
