"""Random generic ops: maps, payloads, reductions, several results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Init, Operand
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.scalar_ops.row import ScalarOp
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS
from fusejit.ir.types import IteratorType, TensorType
from fusejit.ir.values import Value
from fusejit_testing.graphs.random_maps import Extents, MapMaker

BOOL, F64 = np.dtype(np.bool_), np.dtype(np.float64)
# Rows with the same bits in any loop of NumPy's and of generated code.
EXACT_OPS = tuple(row for row in SCALAR_OPS.values() if row.exact and row.function is None)
MAX_POINTS = 4000


class GenericMaker:
    """Makes generic ops on given values."""

    def __init__(
        self,
        rng: Random,
        maps: MapMaker,
        new_value: Callable[[TensorType], Value],
        ops: Sequence[ScalarOp] = EXACT_OPS,
    ) -> None:
        self.ops = ops
        self.rng = rng
        self.maps = maps
        self.new_value = new_value

    def generic(self, values: Sequence[Value], like: Value) -> GenericOp:
        """An op over a domain that resembles the extents of ``like``, perhaps with reductions."""
        rng = self.rng
        domain = self.domain(like.type.extents)
        iterators = [IteratorType.PARALLEL] * len(domain)
        if rng.random() < 0.35:
            reduced = rng.sample(range(len(domain)), rng.randint(0, len(domain)))
            for dim in reduced:
                iterators[dim] = IteratorType.REDUCTION
        count = rng.choice((1, 1, 1, 2))
        dtypes = [rng.choice((F64, F64, like.type.dtype, BOOL)) for _ in range(count)]
        return self._op(values, like, domain, iterators, dtypes)

    def elementwise(self, values: Sequence[Value], domain: Extents, dtype: np.dtype) -> GenericOp:
        """An op with one result of these extents and this dtype."""
        like = self.rng.choice(values)
        parallel = [IteratorType.PARALLEL] * len(domain)
        return self._op(values, like, domain, parallel, [dtype], in_order=True)

    def domain(self, extents: Extents) -> Extents:
        """Those extents permuted, perhaps one of them cut, perhaps one more."""
        rng = self.rng
        domain = list(extents)
        if rng.random() < 0.3:
            rng.shuffle(domain)
        if domain and rng.random() < 0.25:
            at = rng.randrange(len(domain))
            domain[at] = self.maps.axis_slice(domain[at])[0]
        if len(domain) < 4 and rng.random() < 0.2:
            new = rng.choice([*extents, AffineExpr.const(2), AffineExpr.const(1)])
            domain.insert(rng.randint(0, len(domain)), new)
        while int(np.prod(self.maps.shape(domain))) > MAX_POINTS:
            domain.pop()
        return tuple(domain)

    def _op(
        self,
        values: Sequence[Value],
        like: Value,
        domain: Extents,
        iterators: list[IteratorType],
        dtypes: list[np.dtype],
        in_order: bool = False,
    ) -> GenericOp:
        rng = self.rng
        fitting = [v for v in values if self.maps.fits(v.type.extents, domain)]
        chosen = [like] if like in fitting else []
        chosen += rng.choices(fitting, k=rng.randint(0, 2)) if fitting else []
        inputs = [Operand(v, self.maps.into(v.type.extents, domain)) for v in chosen]
        has_reduction = IteratorType.REDUCTION in iterators
        inits = [self._init(values, domain, iterators, in_order, t) for t in dtypes]
        if has_reduction and rng.random() < 0.2:
            inits[-1] = (Init(IndexingMap.identity(len(domain))), inits[-1][1])
        builder = PayloadBuilder(
            [o.value.type.dtype for o in inputs], [dtype for _, dtype in inits]
        )
        refs = list(range(len(inputs)))
        for number, (init, _) in enumerate(inits):
            if init.start is not None and init.combiner is None:
                refs.append(len(inputs) + number)
        self._fill(builder, refs, domain, inputs)
        payload = builder.finish([self.as_dtype(builder, rng.choice(refs), t) for _, t in inits])
        types = [TensorType(t, self._result_extents(i, domain)) for i, t in inits]
        return GenericOp(
            domain=domain,
            iterators=tuple(iterators),
            inputs=tuple(inputs),
            inits=tuple(i for i, _ in inits),
            payload=payload,
            name=payload.instrs[-1].op if payload.instrs else "copy",
            results=tuple(map(self.new_value, types)),
        )

    def _init(
        self,
        values: Sequence[Value],
        domain: Extents,
        iterators: Sequence[IteratorType],
        in_order: bool,
        dtype: np.dtype,
    ) -> tuple[Init, np.dtype]:
        rng = self.rng
        kept = [d for d, i in enumerate(iterators) if i is IteratorType.PARALLEL]
        if not in_order and rng.random() < 0.3:
            rng.shuffle(kept)
        init_map = IndexingMap.select(len(domain), kept)
        combiner = None
        if IteratorType.REDUCTION in iterators:
            combiner = rng.choice(("add", "add", "max", "min", "multiply"))
            if dtype == BOOL:
                combiner = rng.choice(("and", "or"))
        type_ = TensorType(dtype, tuple(domain[d] for d in kept))
        starts = [v for v in values if v.type == type_]
        start = rng.choice(starts) if starts and rng.random() < 0.3 else None
        return Init(init_map, combiner, start), dtype

    def _result_extents(self, init: Init, domain: Extents) -> Extents:
        dims = [r.as_dim() for r in init.map.results]
        return tuple(domain[d] for d in dims if d is not None)

    # -- payloads -------------------------------------------------------------------------------
    def _fill(
        self, builder: PayloadBuilder, refs: list[int], domain: Extents, inputs: Sequence[Operand]
    ) -> None:
        """Append instructions, and their refs to ``refs``."""
        rng = self.rng
        if not refs or rng.random() < 0.2:
            refs.append(builder.const(rng.choice((0.0, -1.5, 2.0, 3.0)), F64))
        if rng.random() < 0.2:
            exprs = [AffineExpr.const(3), *(AffineExpr.dim(d) for d in range(len(domain)))]
            refs.append(builder.index(rng.choice(exprs) + rng.choice((0, 1))))
        if inputs and rng.random() < 0.15:
            number = rng.randrange(len(inputs))
            source = inputs[number].value.type
            subscripts = self.maps.into(source.extents, domain).results
            refs.append(builder.extract(number, list(map(builder.index, subscripts)), source.dtype))
        for _ in range(rng.randint(0, 4)):
            self._instr(builder, refs)

    def _instr(self, builder: PayloadBuilder, refs: list[int]) -> None:
        rng = self.rng
        row = rng.choice(self.ops)
        first = rng.choice(refs)
        dtype = builder.dtype_of(first)
        if row.ufunc is None:
            condition = self.as_dtype(builder, rng.choice(refs), BOOL)
            other = self.as_dtype(builder, rng.choice(refs), dtype)
            refs.append(builder.op(row.name, [condition, first, other], dtype))
            return
        operands = [first] + [
            self.as_dtype(builder, rng.choice(refs), dtype) for _ in range(row.arity - 1)
        ]
        try:
            loop = row.ufunc.resolve_dtypes((*[dtype] * row.arity, None))
        except TypeError:
            return
        if loop[:-1] == (dtype,) * row.arity and row.template(dtype) is not None:
            refs.append(builder.op(row.name, operands, loop[-1]))

    def as_dtype(self, builder: PayloadBuilder, ref: int, dtype: np.dtype) -> int:
        """``ref`` in another dtype; floats become other dtypes by a comparison, never by a cast."""
        have = builder.dtype_of(ref)
        if dtype == BOOL and have != BOOL:
            return builder.op("less", [ref, builder.const(1, have)], BOOL)
        if have.kind == "f" and dtype.kind in "iu":
            ref = builder.op("less", [ref, builder.const(1, have)], BOOL)
        return builder.cast(ref, dtype)
