"""Random graphs for property tests: ``interpret(before) == interpret(after)`` for every pass.

A graph is made together with arguments for it, and every map is chosen so that it stays inside its
array for those sizes. Only ops that give the same bits on every path are used (no transcendental
functions, no float casts that do not fit), so results are compared bit by bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import Graph, HostScalar, HostSymbol
from fusejit.ir.host import HostExpr, Path
from fusejit.ir.interpreter.interpret import Paths, argument_paths
from fusejit.ir.memory_versions import renumber_versions
from fusejit.ir.ops import Alloc, ConstantOp, Load, Op, Store, ViewOp
from fusejit.ir.scalar_ops.row import ScalarOp
from fusejit.ir.types import Kind, TensorType
from fusejit.ir.values import Buffer, Layout, Value, View
from fusejit_testing.compare import copy_arguments
from fusejit_testing.graphs.random_generic import EXACT_OPS, GenericMaker
from fusejit_testing.graphs.random_maps import MapMaker

BOOL, F32, F64 = np.dtype(np.bool_), np.dtype(np.float32), np.dtype(np.float64)
I32, I64, U8 = np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.uint8)
DTYPES = (F64, F64, F64, F32, I64, I32, U8, BOOL)


@dataclass(frozen=True, slots=True)
class RandomProgram:
    """A graph with arguments it may be run on."""

    graph: Graph
    arguments: dict[str, Any]

    def fresh_arguments(self) -> dict[str, Any]:
        """Copies of the arguments, strides included: a run may write into them."""
        return copy_arguments(self.arguments)

    def fresh_paths(self) -> Paths:
        """Paths to fresh copies of the arguments."""
        return argument_paths(self.fresh_arguments())


def random_graph(
    seed: int | Random,
    *,
    num_ops: int = 8,
    stores: bool = True,
    dtypes: Sequence[np.dtype] = DTYPES,
    max_rank: int = 3,
    ops: Sequence[ScalarOp] = EXACT_OPS,
) -> RandomProgram:
    """A graph that the verifier accepts, the same for the same seed.

    Parameters
    ----------
    seed : int or random.Random
        What decides everything.
    num_ops : int
        How many steps to take; a step adds one or two ops.
    stores : bool
        Whether there are stores to arguments and to local buffers, with loads after them.
    dtypes : sequence of dtype
        The element types of arguments and constants.
    max_rank : int
        The largest rank of an argument.
    ops : sequence of ScalarOp
        The rows that payloads are made of.
    """
    rng = seed if isinstance(seed, Random) else Random(seed)
    return _GraphMaker(rng, stores, dtypes, max_rank, ops).make(num_ops)


@dataclass
class _GraphMaker:
    rng: Random
    stores: bool
    dtypes: Sequence[np.dtype]
    max_rank: int
    ops: Sequence[ScalarOp]
    graph: Graph = field(default_factory=lambda: Graph("random"))
    arguments: dict[str, Any] = field(default_factory=dict)
    symbols: dict[str, int] = field(default_factory=dict)
    values: list[Value] = field(default_factory=list)
    num_names: int = 0

    def make(self, num_ops: int) -> RandomProgram:
        rng = self.rng
        self.maps = MapMaker(rng, self.symbols)
        self.generics = GenericMaker(rng, self.maps, self.new_value, self.ops)
        for _ in range(rng.randint(1, 3)):
            self.argument()
        if rng.random() < 0.5:
            self.scalar()
        steps = [self.generic] * 6 + [self.view, self.load, self.constant]
        if self.stores:
            steps += [self.store, self.store, self.alloc]
        for buffer in self.graph.buffers:
            self.load(buffer)
        for _ in range(num_ops):
            rng.choice(steps)()
        self.results()
        renumber_versions(self.graph.block)
        return RandomProgram(self.graph, self.arguments)

    def emit(self, op: Op) -> None:
        self.graph.block.ops.append(op)
        self.values.extend(op.results)

    def new_value(self, type_: TensorType) -> Value:
        kind = Kind.ARRAY
        if not type_.rank and self.rng.random() < 0.5:
            kind = Kind.SCALAR
        order = None
        if type_.rank > 1 and self.rng.random() < 0.2:
            order = tuple(self.rng.sample(range(type_.rank), type_.rank))
        self.num_names += 1
        return Value(f"x{self.num_names}", type_, kind, order)

    def some_value(self) -> Value:
        """Rather one of the last than one of the first."""
        return self.values[max(self.rng.randrange(len(self.values)) for _ in range(2))]

    # -- what comes in --------------------------------------------------------------------------
    def argument(self) -> None:
        rng = self.rng
        name = f"a{len(self.arguments)}"
        path = Path("arg", name)
        extents: list[AffineExpr] = []
        for axis in range(rng.randint(0, self.max_rank)):
            if self.symbols and rng.random() < 0.5:
                extents.append(AffineExpr.symbol(rng.choice(list(self.symbols))))
            elif rng.random() < 0.15:
                extents.append(AffineExpr.const(1))
            else:
                symbol = f"s{len(self.symbols)}"
                self.symbols[symbol] = rng.choice((0, 1, 2, 3, 3, 4, 5, 6))
                self.graph.symbols.append(HostSymbol(symbol, HostExpr.size(path, axis)))
                extents.append(AffineExpr.symbol(symbol))
        shape = self.maps.shape(extents)
        order = tuple(rng.sample(range(len(shape)), len(shape))) if rng.random() < 0.3 else None
        layout = rng.choice((Layout.CONTIGUOUS, Layout.CONTIGUOUS, Layout.STRIDED))
        dtype = rng.choice(self.dtypes)
        self.arguments[name] = random_array(rng, dtype, shape, order, layout)
        self.graph.buffers.append(
            Buffer(
                name,
                TensorType(dtype, tuple(extents)),
                len(self.graph.buffers),
                HostExpr.path(path),
                order,
                layout,
                writeable=rng.random() < 0.7,
            )
        )

    def scalar(self) -> None:
        number = self.rng.choice((2.5, -3, True))
        dtype = {float: F64, int: I64, bool: BOOL}[type(number)]
        value = Value("k", TensorType(dtype), Kind.PYTHON)
        self.arguments["k"] = number
        self.graph.scalars.append(HostScalar(value, HostExpr.path(Path("arg", "k"))))
        self.values.append(value)

    def constant(self) -> None:
        dtype = self.rng.choice(self.dtypes)
        number = random_array(self.rng, dtype, (), None, Layout.CONTIGUOUS)[()].item()
        self.emit(ConstantOp(number=number, results=(self.new_value(TensorType(dtype)),)))

    # -- what goes out --------------------------------------------------------------------------
    def results(self) -> None:
        rng = self.rng
        count = min(len(self.values), rng.randint(1, 3))
        chosen: list[Value | View] = list(rng.sample(self.values[-5:], min(count, 5)))
        for buffer in self.graph.buffers:
            if rng.random() < 0.2:
                extents, part = self.maps.part(buffer.type.extents)
                chosen.append(View(buffer, part, extents))
        self.graph.results = tuple(chosen)

    # -- ops ------------------------------------------------------------------------------------
    def generic(self) -> None:
        self.emit(self.generics.generic(self.values, self.some_value()))

    def view(self) -> None:
        source = self.some_value()
        extents, part = self.maps.part(source.type.extents)
        result = self.new_value(TensorType(source.type.dtype, extents))
        self.emit(ViewOp(source=source, map=part, results=(result,)))

    def load(self, buffer: Buffer | None = None) -> None:
        buffer = buffer or self.rng.choice(self.graph.buffers)
        view = self.some_part(buffer)
        self.emit(Load(view=view, version=0, results=(self.new_value(view.type),)))

    def some_part(self, buffer: Buffer) -> View:
        if self.rng.random() < 0.5:
            return View.whole(buffer)
        extents, part = self.maps.part(buffer.type.extents)
        return View(buffer, part, extents)

    def store(self) -> None:
        writeable = [b for b in self.graph.buffers if b.writeable]
        if not writeable:
            return
        view = self.injective_part(self.rng.choice(writeable))
        value = self.value_of(view.extents, view.buffer.type.dtype)
        mask = self.value_of(view.extents, BOOL) if self.rng.random() < 0.3 else None
        self.emit(Store(view=view, value=value, version=0, mask=mask))

    def injective_part(self, buffer: Buffer) -> View:
        """A part that a store reaches once: no axis of it is a repetition."""
        view = self.some_part(buffer)
        unit = [e.as_constant() == 1 for e in view.extents]
        dims = view.map.dims()
        once = all(d in dims or unit[d] for d in range(view.map.num_dims))
        return view if once else View.whole(buffer)

    def value_of(self, extents: tuple[AffineExpr, ...], dtype: np.dtype) -> Value:
        """A value of this very type, computed from some values."""
        op = self.generics.elementwise(self.values, extents, dtype)
        self.emit(op)
        return op.results[0]

    def alloc(self) -> None:
        source = self.some_value()
        rank = source.type.rank
        order = tuple(self.rng.sample(range(rank), rank)) if self.rng.random() < 0.3 else None
        number = len(self.graph.buffers)
        buffer = Buffer(f"b{number}", source.type, number, None, order)
        self.graph.buffers.append(buffer)
        self.emit(Alloc(buffer=buffer))
        self.emit(Store(view=View.whole(buffer), value=source, version=0))


def random_array(
    rng: Random,
    dtype: np.dtype,
    shape: Sequence[int],
    order: Sequence[int] | None,
    layout: Layout,
) -> np.ndarray:
    """Small numbers of all signs; for floats also infinities, NaN and zeros of both signs."""
    axes = list(range(len(shape))) if order is None else list(order)
    steps = [1] * len(shape)
    if layout is Layout.STRIDED:
        steps = [rng.choice((1, 2, -1, -2)) for _ in shape]
    memory = np.empty([shape[a] * abs(steps[a]) for a in axes], dtype)
    flat = memory.reshape(-1)
    for i in range(flat.size):
        flat[i] = _random_number(rng, dtype)
    strided: list[Any] = [slice(None, None, s) for s in steps]
    return memory.transpose(np.argsort(axes))[(..., *strided)]


def _random_number(rng: Random, dtype: np.dtype) -> Any:
    if dtype.kind == "f":
        special = (0.0, -0.0, np.inf, -np.inf, np.nan)
        return rng.choice(special) if rng.random() < 0.05 else dtype.type(rng.gauss(0.0, 2.0))
    if dtype.kind == "b":
        return rng.random() < 0.5
    return rng.randint(0 if dtype.kind == "u" else -9, 9)
