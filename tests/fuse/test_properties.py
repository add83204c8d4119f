"""Every pass, on random programs: same bits, valid IR, input untouched, settled after one run."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusejit.fuse.canonical.canonicalize import CANONICALIZATIONS, canonicalize
from fusejit.fuse.canonical.stale_loads import stale_loads
from fusejit.fuse.folding.cost import ControlFusionFn, fold_if_profitable
from fusejit.fuse.folding.driver import fold_producers
from fusejit.fuse.folding.siblings import merge_siblings
from fusejit.fuse.grouping.form_steps import make_plan
from fusejit.ir.affine import AffineExpr
from fusejit.ir.execution_plan import FusionReport, KernelStep
from fusejit.ir.graph import Graph, HostSymbol
from fusejit.ir.host import HostExpr, Path
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.interpreter.interpret import argument_paths, interpret
from fusejit.ir.memory_versions import renumber_versions
from fusejit.ir.ops import (
    Block,
    ConstantOp,
    GenericOp,
    Init,
    Load,
    Loop,
    Op,
    Operand,
    Store,
    ViewOp,
)
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.text.printer import print_graph
from fusejit.ir.types import IteratorType, TensorType
from fusejit.ir.values import Buffer, Value, View
from fusejit.ir.verifier.verify import verify
from fusejit_testing.compare import assert_same_results
from fusejit_testing.fold_policies import fold_always, fold_single_uses
from fusejit_testing.graphs.random_graphs import random_graph

F64, BOOL = np.dtype("f8"), np.dtype("?")
S0, S1 = AffineExpr.symbol("s0"), AffineExpr.symbol("s1")
SHAPES = ((S0,), (S1,), (S0, S1), (S1, S0))
SIZES = {"s0": 5, "s1": 4}
# Exact functions only: NumPy's exp may differ in the last bit between strides.
UNARY = ("negative", "absolute", "sqrt", "square")
BINARY = ("add", "subtract", "multiply", "divide", "maximum")


@dataclass
class Program:
    """A random graph under construction: ops go into ``block``, readable values into ``values``."""

    rng: random.Random
    buffers: list[Buffer]
    block: Block
    values: list[Value] = field(default_factory=list)
    depth: int = 0

    def chance(self, percent: int) -> bool:
        return self.rng.randrange(100) < percent

    def add(self, op: Op) -> None:
        self.block.ops.append(op)
        self.values.extend(op.results)

    def new(self, extents: tuple[AffineExpr, ...]) -> Value:
        return Value("", TensorType(F64, extents))

    def step(self) -> None:
        steps = [self.load, self.view, self.store, self.constant, self.reduce, self.loop]
        if self.chance(60):
            self.elementwise()
        else:
            self.rng.choice(steps)()

    # -- memory -------------------------------------------------------------------------------
    def part(self) -> View:
        buffer = self.rng.choice(self.buffers)
        extents, rank = buffer.type.extents, buffer.type.rank
        if self.chance(50):
            return View.whole(buffer)
        shifts = [self.rng.randint(0, 1) for _ in extents]
        results = tuple(AffineExpr.dim(d) + s for d, s in enumerate(shifts))
        return View(buffer, IndexingMap(rank, results), tuple(e - 1 for e in extents))

    def load(self) -> None:
        view = self.part()
        self.add(Load(results=(self.new(view.extents),), view=view, version=0))

    def store(self) -> None:
        view = self.part()
        fitting = [v for v in self.values if v.type.extents == view.extents]
        if fitting:
            self.add(Store(view=view, value=self.rng.choice(fitting), version=0))

    def loop(self) -> None:
        if self.depth == 2:
            return
        inner = Program(self.rng, self.buffers, Block(), list(self.values), self.depth + 1)
        for _ in range(self.rng.randint(1, 5)):
            inner.step()
        name = f"i{len(self.block.ops)}_{self.depth}"
        lower, upper = AffineExpr.const(0), AffineExpr.const(self.rng.randint(0, 2))
        self.add(Loop(carried=(), body=inner.block, induction=name, lower=lower, upper=upper))

    # -- values -------------------------------------------------------------------------------
    def constant(self) -> None:
        number = self.rng.choice([0.0, -0.0, 1.0, 2.0, -3.0])
        self.add(ConstantOp(results=(self.new(()),), number=number))

    def view(self) -> None:
        if not self.values:
            return
        source = self.rng.choice(self.values)
        extents, rank = source.type.extents, source.type.rank
        if rank == 0:
            return
        kind = self.rng.choice(["transpose", "reverse", "row", "same"])
        dims = [AffineExpr.dim(d) for d in range(rank)]
        if kind == "transpose":
            results, extents = tuple(reversed(dims)), tuple(reversed(extents))
        elif kind == "reverse":
            results = tuple(e - 1 - d for d, e in zip(dims, extents, strict=True))
        elif kind == "row":
            results, extents = (AffineExpr.const(1), *dims[:-1]), extents[1:]
        else:
            results = tuple(dims)
        view_map = IndexingMap(len(extents), results)
        self.add(ViewOp(results=(self.new(extents),), source=source, map=view_map))

    def operand(self, domain: tuple[AffineExpr, ...]) -> Operand | None:
        """A value with a map that stays inside it for every point of the domain."""
        if not self.values:
            return None
        value = self.rng.choice(self.values)
        results = []
        for extent in value.type.extents:
            fitting = [AffineExpr.const(0)]
            for d, size in enumerate(domain):
                dim, slack = AffineExpr.dim(d), (extent - size).as_constant()
                if slack is not None and slack >= 0:
                    fitting += [dim + shift for shift in range(slack + 1)] * 2
                    fitting.append(extent - 1 - dim)
            results.append(self.rng.choice(fitting))
        return Operand(value, IndexingMap(len(domain), tuple(results)))

    def elementwise(self) -> None:
        domain = self.rng.choice([*SHAPES, (S0 - 1,), (S0 - 1, S1 - 1), ()])
        wanted = [self.operand(domain) for _ in range(self.rng.randint(0, 3))]
        inputs = tuple(o for o in wanted if o is not None)
        num_results = 2 if self.chance(15) else 1
        builder = PayloadBuilder([F64] * len(inputs), [F64] * num_results)
        refs = [*range(len(inputs)), builder.const(self.rng.choice([0.0, 1.5]), F64)]
        for _ in range(self.rng.randint(1, 3)):
            a, b = (self.rng.choice(refs) for _ in range(2))
            kind = self.rng.choice([*UNARY, *BINARY, "select", "index"])
            if kind in UNARY:
                refs.append(builder.op(kind, [a], F64))
            elif kind in BINARY:
                refs.append(builder.op(kind, [a, b], F64))
            elif kind == "select":
                refs.append(builder.op("select", [builder.op("less", [a, b], BOOL), a, b], F64))
            else:
                where = sum(((d + 1) * AffineExpr.dim(d) for d in range(len(domain))), S1)
                refs.append(builder.cast(builder.index(where), F64))
        order = list(range(len(domain)))
        results, inits = [], []
        for _ in range(num_results):
            written = IndexingMap.permutation(order[::-1] if self.chance(30) else order)
            extents = tuple(domain[min(r.dims())] for r in written.results)
            fitting = [v for v in self.values if v.type.extents == extents]
            start = self.rng.choice(fitting) if fitting and self.chance(10) else None
            results.append(self.new(extents))
            inits.append(Init(written, None, start))
        with_start = [i for i, init in enumerate(inits) if init.start is not None]
        refs += [len(inputs) + i for i in with_start]
        yielded = [refs[-1], *(self.rng.choice(refs) for _ in range(num_results - 1))]
        self.add(
            GenericOp(
                results=tuple(results),
                domain=domain,
                iterators=(IteratorType.PARALLEL,) * len(domain),
                inputs=inputs,
                inits=tuple(inits),
                payload=builder.finish(yielded),
                name=f"g{len(self.block.ops)}",
            )
        )

    def reduce(self) -> None:
        domain = self.rng.choice(SHAPES)
        operand = self.operand(domain)
        if operand is None:
            return
        rank = len(domain)
        reduced = self.rng.sample(range(rank), self.rng.randint(1, rank))
        kept = [d for d in range(rank) if d not in reduced]
        kinds = [
            IteratorType.REDUCTION if d in reduced else IteratorType.PARALLEL for d in range(rank)
        ]
        builder = PayloadBuilder([F64], [F64])
        combiner = self.rng.choice(["add", "max", "multiply"])
        self.add(
            GenericOp(
                results=(self.new(tuple(domain[d] for d in kept)),),
                domain=domain,
                iterators=tuple(kinds),
                inputs=(operand,),
                inits=(Init(IndexingMap.select(rank, kept), combiner),),
                payload=builder.finish([0]),
                name=combiner,
            )
        )


def random_program(seed: int) -> Graph:
    rng = random.Random(seed)
    symbols = [HostSymbol(n, HostExpr.size(Path("arg", n), 0)) for n in ("s0", "s1")]
    buffers = []
    for i in range(rng.randint(1, 3)):
        type_ = TensorType(F64, rng.choice(SHAPES))
        buffers.append(Buffer(f"a{i}", type_, i, HostExpr.path(Path("arg", f"a{i}"))))
    program = Program(rng, buffers, Block())
    program.load()
    for _ in range(rng.randint(2, 16)):
        program.step()
    results = tuple(rng.sample(program.values, min(len(program.values), rng.randint(1, 3))))
    graph = Graph("random", symbols, buffers=buffers, block=program.block, results=results)
    renumber_versions(graph.block)
    return graph


seeds = st.integers(0, 2**32 - 1)


def run(graph: Graph) -> list[np.ndarray]:
    """The results, and then what is in the arguments afterwards."""
    rng = np.random.default_rng(0)
    arguments: dict[str, np.ndarray] = {n: np.empty(size) for n, size in SIZES.items()}
    for buffer in graph.buffers:
        shape = [e.evaluate((), SIZES) for e in buffer.type.extents]
        arguments[buffer.name] = rng.choice([-2.5, -1.0, -0.0, 0.0, 0.75, 3.0], shape)
    with np.errstate(all="ignore"):
        results = interpret(graph, argument_paths(arguments))
    return [*map(np.asarray, results), *(arguments[b.name] for b in graph.buffers)]


def assert_same_bits(before: list[np.ndarray], after: list[np.ndarray]) -> None:
    for a, b in zip(before, after, strict=True):
        np.testing.assert_array_equal(a, b)
        number = ~np.isnan(a)
        np.testing.assert_array_equal(np.signbit(a)[number], np.signbit(b)[number])


PASSES: dict[str, Callable[[Graph], Graph]] = {
    **{p.__name__: p for p in CANONICALIZATIONS},
    "canonicalize": canonicalize,
    "fold_always": lambda g: fold_producers(g, control=fold_always),
    "fold_single_uses": lambda g: fold_producers(g, control=fold_single_uses),
    "fold_if_profitable": fold_producers,
    "merge_siblings": merge_siblings,
}
relaxed = settings(max_examples=100, deadline=None)


@pytest.mark.parametrize("name", PASSES)
@relaxed
@given(seeds)
def test_each_pass_alone_keeps_every_bit(name: str, seed: int) -> None:
    graph = random_program(seed)
    verify(graph)
    expected, text = run(graph), print_graph(graph)
    result = PASSES[name](graph)
    verify(result)
    assert_same_bits(expected, run(result))
    assert print_graph(graph) == text, "the input was modified"
    if result is not graph:
        assert print_graph(result) != text, "another object, but the same graph"


@settings(relaxed, max_examples=400)
@given(seeds, st.sampled_from(["fold_always", "fold_single_uses", "fold_if_profitable"]))
def test_the_whole_sequence_keeps_every_bit_and_settles(seed: int, control: str) -> None:
    graph = random_program(seed)
    expected = run(graph)
    sequence = (canonicalize, PASSES[control], merge_siblings, PASSES[control], canonicalize)
    result = graph
    for apply in sequence:
        stale = len(stale_loads(result))
        result = apply(result)
        verify(result)
        assert apply(result) is result, "a second application still changes something"
        if apply is not canonicalize:
            assert len(stale_loads(result)) <= stale, "a fresh load was made stale"
    assert_same_bits(expected, run(result))


@relaxed
@given(seeds)
def test_steps_hold_every_op_that_works_once_and_in_order(seed: int) -> None:
    graph = random_program(seed)
    schedule = make_plan(canonicalize(graph), graph, FusionReport())
    for step in schedule.steps:
        assert isinstance(step, KernelStep)
        places = [schedule.graph.block.ops.index(op) for op in step.ops]
        assert places == sorted(places)
    worked = [op for s in schedule.steps for op in s.ops if not _is_weightless(op)]  # type: ignore[union-attr]
    assert worked == [op for op in schedule.graph.block.ops if not _is_weightless(op)]


def _is_weightless(op: Op) -> bool:
    return isinstance(op, Load | ViewOp | ConstantOp)


@pytest.mark.parametrize("control", [fold_always, fold_if_profitable])
@relaxed
@given(seed=seeds)
def test_all_dtypes_kinds_and_layouts_keep_every_bit(control: ControlFusionFn, seed: int) -> None:
    program = random_graph(seed, num_ops=12)
    graph = program.graph

    def outcome(of: Graph) -> list[object]:
        arguments = program.fresh_arguments()
        return [*interpret(of, argument_paths(arguments)), *arguments.values()]

    expected = outcome(graph)
    result = canonicalize(graph)
    for apply in (partial(fold_producers, control=control), merge_siblings, canonicalize):
        result = apply(result)
        verify(result)
    assert_same_results(outcome(result), expected)
