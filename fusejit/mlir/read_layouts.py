"""Operations that rearrange whole tensors, and those that decompose: pack, unpack, pad, softmax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fusejit.dataclass import dataclass
from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Init, Operand
from fusejit.ir.payload import Payload, PayloadBuilder, identity_payload
from fusejit.ir.types import IteratorType, TensorType
from fusejit.ir.values import Value
from fusejit.mlir.read_body import BodyReader
from fusejit.mlir.read_named import NamedReader
from fusejit.mlir.read_state import DYNAMIC, known_sizes

_PARALLEL = IteratorType.PARALLEL


@dataclass(frozen=True, slots=True)
class _Shaped:
    """What an op family asks of an operand that is not there yet: its rank."""

    ndim: int


class LayoutReader(NamedReader):
    """Their handlers."""

    def pack(self, op: Any) -> None:
        """``linalg.pack``."""
        from fusejit.linalg.registry import OPS

        source, dest, *padding = op.operands
        tiling = self.tiling(op)
        shaped = _Shaped(len(self.extents_of(source)))
        value = padding[0] if padding else None
        definition, _, _ = OPS["pack"].resolve(shaped, padding_value=value, **tiling)
        operands = {"source": source, "dest": dest}
        if padding:
            operands["padding_value"] = value
        self.defined(op, definition, operands, {})

    def unpack(self, op: Any) -> None:
        """``linalg.unpack``."""
        from fusejit.linalg.registry import OPS

        operands = dict(zip(("source", "dest"), op.operands, strict=False))
        tiling = self.tiling(op)
        definition = OPS["unpack"].definition_for(self.ranks_of(operands), tiling)
        self.defined(op, definition, operands, tiling)

    def tiling(self, op: Any) -> dict[str, Any]:
        """The attributes of ``pack`` and ``unpack``."""
        tiles = [int(n) for n in op.attributes["static_inner_tiles"]]
        if DYNAMIC in tiles:
            raise self.complaint(op, "tiles of a size that is not a constant are not read")
        name = "outer_dims_perm"
        order = [int(n) for n in op.attributes[name]] if name in op.attributes else []
        return {
            "inner_dims_pos": [int(n) for n in op.attributes["inner_dims_pos"]],
            "inner_tiles": tiles,
            name: order or None,
        }

    def pad(self, op: Any) -> None:
        """``tensor.pad``: the elements, and outside of them what the region yields."""
        source = self.value(op.operands[0], op)
        extents = source.type.extents
        low, high = self.widths(op)
        wanted = known_sizes(op.results[0].type)
        shape = []
        for axis, extent in enumerate(extents):
            size, known = low[axis] + extent + high[axis], wanted[axis]
            for width in (low[axis], high[axis]):
                self.require_natural(width, op)
            if known is not None:
                what = f"{op.name}, axis {axis}"
                self.sizes.require_equal(size, known, what, self.location(op))
            shape.append(size if known is None else known)
        self.require_elements(source, op)
        block = op.regions[0].blocks[0]
        rank, dtype = len(shape), source.type.dtype
        zeros = IndexingMap(rank, (AffineExpr.const(0),) * rank)
        inputs, outs = [(object(), Operand(source, zeros))], [(object(), dtype)]
        how = self.complaint, self.numbers, list(block.arguments)
        body = BodyReader(block, self.readable, inputs, outs, rank, *how)
        places = [AffineExpr.dim(axis) - low[axis] for axis in range(rank)]
        leaving = [shape[axis] != extents[axis] for axis in range(rank)]
        (outside,) = body.yielded({})
        payload = body.builder.finish([body.builder.padded(0, places, extents, leaving, outside)])
        made = GenericOp(
            domain=tuple(shape),
            iterators=(_PARALLEL,) * rank,
            inputs=tuple(body.inputs),
            inits=(Init(IndexingMap.identity(rank)),),
            payload=payload,
            name="pad",
            results=(self.new(TensorType(dtype, tuple(shape))),),
            location=self.location(op),
        )
        self.known[op.results[0]] = self.emit(made)

    def widths(self, op: Any) -> list[list[AffineExpr]]:
        """What ``tensor.pad`` adds before each axis and after it."""
        dynamic = iter(list(op.operands)[1:])
        return [
            [
                self.index_of(next(dynamic), op) if n == DYNAMIC else AffineExpr.const(n)
                for n in map(int, op.attributes[name])
            ]
            for name in ("static_low", "static_high")
        ]

    def softmax(self, op: Any) -> None:
        """``linalg.softmax``: four ops, as those of `fusejit.linalg.softmax`."""
        source = self.value(op.operands[0], op)
        rank, dtype = source.type.rank, source.type.dtype
        dim = op.attributes["dimension"].value
        kept = IndexingMap.select(rank, [d for d in range(rank) if d != dim])
        whole = IndexingMap.identity(rank)

        def of_two(*names: str) -> Payload:
            builder = PayloadBuilder([dtype, dtype], [dtype])
            ref = builder.op(names[0], (0, 1), dtype)
            for name in names[1:]:
                ref = builder.op(name, (ref,), dtype)
            return builder.finish([ref])

        def op_of(name: str, inputs: Sequence[Operand], init: Init, payload: Payload) -> Value:
            extents = tuple(source.type.extents[e.as_dim() or 0] for e in init.map.results)
            is_sum = init.combiner is not None
            kinds = [IteratorType.REDUCTION if is_sum and d == dim else _PARALLEL
                     for d in range(rank)]  # fmt: skip
            made = GenericOp(
                domain=source.type.extents,
                iterators=tuple(kinds),
                inputs=tuple(inputs),
                inits=(init,),
                payload=payload,
                name=name,
                results=(self.new(TensorType(dtype, extents)),),
                location=self.location(op),
            )
            return self.emit(made)

        of_one, written = identity_payload(dtype), Init(whole)
        largest = op_of("max", [Operand(source, whole)], Init(kept, "max"), of_one)
        both = [Operand(source, whole), Operand(largest, kept)]
        powers = op_of("exp", both, written, of_two("subtract", "exp"))
        total = op_of("add", [Operand(powers, whole)], Init(kept, "add"), of_one)
        both = [Operand(powers, whole), Operand(total, kept)]
        self.known[op.results[0]] = op_of("divide", both, written, of_two("divide"))
