"""``linalg.generic`` as a generic op: domain, combiners, starts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap, parse_indexing_map
from fusejit.ir.ops import GenericOp, Init, Operand
from fusejit.ir.payload import Payload
from fusejit.ir.scalar_ops.combiners import COMBINERS
from fusejit.ir.types import IteratorType, TensorType
from fusejit.mlir.export.patterns import constant_written, is_matrix_product, without_unread_starts
from fusejit.mlir.read_body import BOOL_COMBINER_OPS, COMBINER_OPS, BodyReader, dtype_of
from fusejit.mlir.read_state import Empty, Memory, ReaderState, is_shaped


class GenericReader(ReaderState):
    """The handler of ``linalg.generic`` and of ``linalg.matmul``."""

    def generic(self, op: Any) -> None:
        """``linalg.generic``."""
        num_inputs = next(iter(op.attributes["operandSegmentSizes"]))
        operands = list(op.operands)
        maps = maps_of(op)
        iterators = iterators_of(op)
        domain = self.domain(op, operands, maps, len(iterators))
        block = op.regions[0].blocks[0]
        arguments = list(block.arguments)
        inputs = [
            (argument, Operand(self.value(value, op), indexing_map))
            for argument, value, indexing_map in zip(
                arguments[:num_inputs], operands, maps, strict=False
            )
            if list(argument.uses)
        ]
        outs = [(a, self.element(a, op)) for a in arguments[num_inputs:]]
        reader = BodyReader(
            block, self.readable, inputs, outs, len(domain), self.complaint, self.numbers
        )
        has_reduction = IteratorType.REDUCTION in iterators
        combined = self.combiners(op, block, outs) if has_reduction else {}
        reader.skipped = [list(block)[-1].operation.operands[k] for k in combined]
        payload = reader.payload({k: partial for k, (_, partial) in combined.items()})
        inits, results = [], []
        for k, (value, indexing_map) in enumerate(
            zip(operands[num_inputs:], maps[num_inputs:], strict=True)
        ):
            combiner = combined[k][0] if k in combined else None
            init, type_ = self.init(op, value, indexing_map, combiner, payload, k, domain)
            inits.append(init)
            results.append(self.new(type_))
        made = GenericOp(
            domain=domain,
            iterators=iterators,
            inputs=tuple(reader.inputs),
            inits=tuple(inits),
            payload=payload,
            name="matmul" if op.name == "linalg.matmul" else name_of(payload, inits),
            results=tuple(results),
            location=self.location(op),
        )
        made = without_unread_starts(made)
        if (
            is_matrix_product(made)
            and made.results[0].type.dtype.kind == "f"
            and not made.inits[0].start
        ):
            made.library_call = "matmul"
        self.emit(made)
        written = constant_written(made)
        if isinstance(written, tuple):
            self.fills[results[0]] = written[0]
        elif written in self.numbers:
            self.fills[results[0]] = self.numbers[written]
        self.finish(op, results)
        for number, operand in enumerate(made.inputs):
            if number not in {i.attr for i in payload.instrs if i.op == "extract"}:
                for axis, (expr, extent) in enumerate(
                    zip(operand.map.results, operand.value.type.extents, strict=True)
                ):
                    dim = expr.as_dim()
                    if dim is None or domain[dim] != extent:
                        self.sizes.require_inside(
                            expr, domain, extent,
                            f"{op.name} of line {self.location(op).line}, axis {axis}",
                            self.location(op),
                        )  # fmt: skip

    def element(self, argument: Any, op: Any) -> np.dtype:
        dtype = dtype_of(argument.type)
        if dtype is None:
            raise self.complaint(op, f"elements of type {argument.type} are not compiled")
        return dtype

    def domain(
        self, op: Any, operands: Sequence[Any], maps: Sequence[IndexingMap], rank: int
    ) -> tuple[AffineExpr, ...]:
        """The extent of each dim: that of the first operand of which it is an axis by itself."""
        found: dict[int, AffineExpr] = {}
        where = self.location(op)
        for number, (value, indexing_map) in enumerate(zip(operands, maps, strict=True)):
            if not is_shaped(value.type):
                continue
            for axis, expr in enumerate(indexing_map.results):
                dim = expr.as_dim()
                if dim is None:
                    continue
                extent = self.extents_of(value)[axis]
                if dim in found:
                    what = f"{op.name} of line {where.line}: axis {axis} of operand {number}"
                    self.sizes.require_equal(found[dim], extent, what, where)
                else:
                    found[dim] = extent
        if len(found) < rank:
            raise self.complaint(op, "no operand gives the extent of a dim")
        return tuple(found[d] for d in range(rank))

    def combiners(
        self, op: Any, block: Any, outs: Sequence[tuple[Any, np.dtype]]
    ) -> dict[int, tuple[str, Any]]:
        """For each result that is reduced: its combiner, and what is combined with it."""
        yielded = list(list(block)[-1].operation.operands)
        found: dict[int, tuple[str, Any]] = {}
        for k, (argument, dtype) in enumerate(outs):
            if not list(argument.uses):
                continue
            table = BOOL_COMBINER_OPS if dtype.kind == "b" else COMBINER_OPS
            owner = getattr(yielded[k], "owner", None)
            last: Any = getattr(owner, "operation", owner)
            name = getattr(last, "name", "")
            operands = list(last.operands) if name in table else []
            others = [v for v in operands if v != argument]
            once = len(list(argument.uses)) == 1 and len(list(yielded[k].uses)) == 1
            if len(others) != 1 or not once:
                raise self.complaint(
                    op, f"result {k} is not reduced by one of {', '.join(sorted(table))}"
                )
            found[k] = (table[name], others[0])
        return found

    def init(
        self,
        op: Any,
        value: Any,
        indexing_map: IndexingMap,
        combiner: str | None,
        payload: Payload,
        number: int,
        domain: tuple[AffineExpr, ...],
    ) -> tuple[Init, TensorType]:
        """Where a result starts, and its type."""
        out = self.entity(value)
        assert not isinstance(out, AffineExpr)
        dtype = out.type.dtype
        if isinstance(out, Memory):
            is_read = combiner is not None or payload.reads_init(number)
            is_read |= not indexing_map.is_projected_permutation
            out = self.value(value, op) if is_read else Empty(out.type)
        if isinstance(out, Empty):
            if combiner is not None or payload.reads_init(number):
                raise self.complaint(op, "it reads its result, which starts as a tensor.empty")
            extents = tuple(
                extent if (dim := expr.as_dim()) is None else domain[dim]
                for expr, extent in zip(indexing_map.results, out.type.extents, strict=True)
            )
            return Init(indexing_map), TensorType(dtype, extents)
        if combiner is not None and out in self.fills:
            identity = dtype.type(COMBINERS[combiner].identity(dtype))
            if identity.tobytes() == dtype.type(self.fills[out]).tobytes():
                return Init(indexing_map, combiner), out.type
        return Init(indexing_map, combiner, out), out.type


def maps_of(op: Any) -> list[IndexingMap]:
    """The indexing maps of an operation."""
    return [
        parse_indexing_map(str(m).removeprefix("affine_map<").removesuffix(">"))
        for m in op.attributes["indexing_maps"]
    ]


def iterators_of(op: Any) -> tuple[IteratorType, ...]:
    if op.name == "linalg.matmul":
        return (IteratorType.PARALLEL, IteratorType.PARALLEL, IteratorType.REDUCTION)
    return tuple(
        IteratorType(re.sub(r".*<|>", "", str(i))) for i in op.attributes["iterator_types"]
    )


def name_of(payload: Payload, inits: Sequence[Init]) -> str:
    if inits[0].combiner is not None:
        return inits[0].combiner
    return payload.instrs[-1].op if payload.instrs else "copy"
