"""The generator of random graphs: deterministic, and it reaches what it is for."""

from collections import Counter

import numpy as np
import pytest

from fusejit.ir.interpreter.interpret import interpret
from fusejit.ir.ops import GenericOp, Load, Store, walk
from fusejit.ir.text.parser import parse_graph
from fusejit.ir.text.printer import print_graph
from fusejit.ir.types import IteratorType
from fusejit.ir.values import View
from fusejit_testing.compare import assert_same_results, copy_keeping_strides, difference
from fusejit_testing.graphs.random_graphs import random_graph


def test_a_seed_decides_everything():
    one, other = random_graph(7), random_graph(7)
    assert print_graph(one.graph) == print_graph(other.graph)
    assert_same_results(list(one.arguments.values()), list(other.arguments.values()))
    assert print_graph(random_graph(8).graph) != print_graph(one.graph)


def test_runs_do_not_see_each_other():
    for seed in range(30):
        program = random_graph(seed)
        first = interpret(program.graph, program.fresh_paths())
        assert_same_results(interpret(program.graph, program.fresh_paths()), first)


def test_a_graph_without_stores_is_pure():
    for seed in range(30):
        ops = list(walk(random_graph(seed, stores=False).graph.block))
        assert not any(isinstance(op, Store) for op in ops)


def features(program):
    ops = list(walk(program.graph.block))
    generics = [op for op in ops if isinstance(op, GenericOp)]
    uses = Counter(v for op in ops for v in op.operand_values)
    loads = [op for op in ops if isinstance(op, Load)]
    yield from {type(op).__name__ for op in ops}
    for op in generics:
        maps = [o.map for o in op.inputs]
        exprs = [e for m in maps for e in m.results]
        coefficients = {c for e in exprs for _, c in e.terms}
        checks = {
            "reduction": IteratorType.REDUCTION in op.iterators,
            "two results": len(op.results) > 1,
            "permuted": any(m.is_permutation and not m.is_identity for m in maps),
            "broadcast": any(len(m.dims()) < m.num_dims for m in maps),
            "flipped": -1 in coefficients,
            "strided": 2 in coefficients,
            "shifted": any(e.constant for e in exprs),
            "quotient": any(not e.is_linear for e in exprs),
            "rank 0 operand": any(not o.value.type.rank for o in op.inputs),
            "rank 0 domain": not op.domain,
            "index": op.payload.has_index(),
            "extract": op.payload.has_extract(),
            "constant in payload": any(i.op == "const" for i in op.payload.instrs),
            "cast": any(i.op == "cast" for i in op.payload.instrs),
            "start": any(i.start is not None for i in op.inits),
            "start that is read": any(op.payload.reads_init(i) for i in range(len(op.inits))),
            "permuted result": any(
                i.map.is_permutation and not i.map.is_identity for i in op.inits
            ),
        }
        yield from (name for name, holds in checks.items() if holds)
    yield from ("many uses" for n in uses.values() if n > 1)
    yield from ("load after a store" for op in loads if op.version)
    yield from ("masked store" for op in ops if isinstance(op, Store) and op.mask is not None)
    yield from ("view result" for r in program.graph.results if isinstance(r, View))
    yield from ("several results" for _ in program.graph.results[1:])
    yield from ("order" for op in ops for v in op.results if v.order is not None)
    sizes = [a.size for a in program.arguments.values() if isinstance(a, np.ndarray)]
    yield from ("empty argument" for size in sizes if not size)


def test_all_that_passes_have_to_handle_occurs():
    count = Counter(f for seed in range(300) for f in set(features(random_graph(seed))))
    expected = ["GenericOp", "ConstantOp", "ViewOp", "Load", "Store", "Alloc"]
    expected += ["reduction", "permuted", "broadcast", "flipped", "strided", "shifted", "quotient"]
    expected += ["index", "extract", "cast", "start", "order"]
    expected += ["two results", "rank 0 operand", "rank 0 domain", "constant in payload"]
    expected += ["start that is read", "permuted result", "many uses", "load after a store"]
    expected += ["masked store", "view result", "several results", "empty argument"]
    assert {name: count[name] for name in expected if count[name] < 15} == {}


def test_programs_are_read_back_as_they_were():
    for seed in range(30):
        text = print_graph(random_graph(seed).graph)
        assert print_graph(parse_graph(text)) == text


# -------------------------------------------------------------------------------------- comparing
@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (np.float64(1.0), 1.0),
        (np.array(1.0), np.float64(1.0)),
        (np.zeros(2), np.zeros(3)),
        (np.zeros(2), np.zeros(2, np.float32)),
        (np.array([0.0]), np.array([-0.0])),
        (np.array([1.0, 2.0]), np.array([1.0, np.nextafter(2.0, 3.0)])),
        (np.array([np.nan]), np.array([0.0])),
        (1, True),
    ],
)
def test_differences_are_seen(actual, expected):
    assert difference(actual, expected) is not None
    assert difference(actual, actual) is None


@pytest.mark.parametrize(
    "part", [np.s_[:], np.s_[::2], np.s_[::-1, ::-2], np.s_[1, :0], np.s_[..., 1:3]]
)
def test_a_copy_keeps_strides_and_shares_nothing(part):
    array = np.arange(24.0).reshape(4, 6)[part]
    copy = copy_keeping_strides(array)
    assert copy.strides == array.strides
    assert difference(copy, array) is None
    assert not np.shares_memory(copy, array)
