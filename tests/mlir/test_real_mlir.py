"""The real MLIR as the judge, in a child process: the same numbers, and no more ops than it keeps.

Tested with the wheel ``torch-mlir==20261001`` (counts differ between versions of LLVM).
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.dataclass import replace
from fusejit.fuse.grouping.policy import POLICIES
from fusejit.ir.execution_plan import FusionReport
from fusejit.ir.interpreter.interpret import argument_paths, interpret
from fusejit.ir.ops import GenericOp, walk
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS
from fusejit.ir.target_facts import GENERIC
from fusejit.mlir.export.module_printer import mlir_text
from fusejit.mlir.export.patterns import constant_written, live_ops
from fusejit.pipeline import PASSES, PassContext
from fusejit_testing import mlir_oracle
from fusejit_testing.compare import difference
from fusejit_testing.graphs.graph_launcher import launcher
from fusejit_testing.graphs.random_graphs import random_graph
from fusejit_testing.graphs.random_reshapes import random_graph_with_reshapes

pytest.importorskip("torch_mlir", reason="the MLIR bindings are not installed")

from fusejit.mlir import load

# Rows of one meaning in both, for every dtype that has them.
CORE = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "negative",
    "absolute",
    "sqrt",
    "square",
    "reciprocal",
    "maximum",
    "minimum",
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "logical_and",
    "logical_or",
    "logical_not",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "invert",
    "isnan",
    "select",
]
OPS = tuple(row for name, row in SCALAR_OPS.items() if name in CORE)
DTYPES = tuple(map(np.dtype, ("f8", "f4", "i8", "i4")))


def generics(graph):
    return [op for op in walk(graph.block) if isinstance(op, GenericOp)]


def float_combiners(graph):
    return {
        init.combiner
        for op in generics(graph)
        for init, result in zip(op.inits, op.results, strict=True)
        if init.combiner and result.type.dtype.kind == "f"
    }


def aggressive(graph):
    """The graph after the passes under ``fusion="aggressive"``.

    Without the one that writes a sum over several dims as several ops: that is the order of its
    terms, and nothing that could have been fused.
    """
    context = PassContext(GENERIC, POLICIES["aggressive"], FusionReport())
    for name, run in PASSES:
        if name != "split sums over several dims":
            graph = run(graph, context)
    return graph


def program_of(text, arguments):
    """What the oracle runs: NumPy scalars for Python numbers, and the types of the results."""
    types = re.search(r"^func\.func .*?(?: -> \(?([^()]*)\)?)? \{$", text, re.M)[1] or ""
    dtypes = {"i1": "?"} | {f"i{8 * n}": f"i{n}" for n in (1, 2, 4, 8)} | {"f32": "f4", "f64": "f8"}
    results = []
    for name in types.split(", ") if types else []:
        inner = name.removeprefix("tensor<").removesuffix(">").split("x")
        rank = len(inner) - 1 if name.startswith("tensor") else None
        results.append((np.dtype(dtypes[inner[-1]]), rank))
    given = [a if isinstance(a, np.ndarray) else np.asarray(a)[()] for a in arguments]
    return mlir_oracle.Program(text, tuple(given), tuple(results))


def without_zero_signs(values):
    return [v + v.dtype.type(0) if np.asarray(v).dtype.kind == "f" else v for v in values]


def assert_same_bits(actual, expected, what, zero_signs=True):
    actual, expected = list(map(np.asarray, actual)), list(map(np.asarray, expected))
    if not zero_signs:  # of a maximum of zeros of both signs
        actual, expected = without_zero_signs(actual), without_zero_signs(expected)
    assert len(actual) == len(expected)
    for number, (a, b) in enumerate(zip(actual, expected, strict=True)):
        message = difference(a[()], b[()])
        assert message is None, f"{what}, result {number}: {message}"


# ------------------------------------------------------------------------------------- numbers
def random_programs(seeds, make=random_graph):
    """Unfused random graphs whose float reductions do not depend on their order."""
    for seed in seeds:
        program = make(seed, stores=False, dtypes=DTYPES, ops=OPS)
        if not float_combiners(program.graph) & {"add", "multiply"}:
            yield seed, program, mlir_text(program.graph)


def judged(chosen):
    """What MLIR computes for each program, executed as it was traced."""
    given = [program_of(text, program.fresh_arguments().values()) for _, program, text in chosen]
    return zip(chosen, mlir_oracle.run(given), strict=True)


def test_random_graphs_have_the_same_bits_in_mlir_and_in_the_interpreter():
    chosen = list(random_programs(range(130)))
    assert len(chosen) > 85
    for (seed, program, text), results in judged(chosen):
        zero_signs = not float_combiners(program.graph)
        paths = argument_paths(program.fresh_arguments())
        for graph in (program.graph, aggressive(program.graph)):
            assert_same_bits(interpret(graph, paths), results, f"seed {seed}\n{text}", zero_signs)


def test_fused_graphs_have_the_same_bits_in_mlir_as_unfused_ones():
    chosen = list(random_programs(range(1000, 1150)))
    fused = [(seed, p, mlir_text(aggressive(p.graph))) for seed, p, _ in chosen]
    for ((seed, program, text), before), (_, after) in zip(
        judged(chosen), judged(fused), strict=True
    ):
        zero_signs = not float_combiners(program.graph)
        assert_same_bits(after, before, f"seed {seed}\n{text}", zero_signs)


def assert_kernels_have_the_bits_of_mlir(seeds, *, jit, make=random_graph):
    """The kernels of each graph as it was traced, and of the graph with all that may be fused."""
    chosen = list(random_programs(seeds, make))
    assert len(chosen) > len(seeds) // 4
    for (seed, program, text), results in judged(chosen):
        numbers = {name: type(n) for name, n in program.arguments.items()}
        for fusion in ("none", "aggressive"):
            launch = launcher(program.graph, jit=jit, fusion=fusion, numbers=numbers)
            with np.errstate(all="ignore"):
                made = launch(*program.fresh_arguments().values())
            what = f"seed {seed}, fusion={fusion}\n{text}"
            assert_same_bits(made, results, what, not float_combiners(program.graph))


@pytest.mark.parametrize("start", range(2000, 2500, 100))
def test_unjitted_kernels_of_random_graphs_have_the_bits_of_mlir(start):
    assert_kernels_have_the_bits_of_mlir(range(start, start + 100), jit=False)


@pytest.mark.parametrize("jit", [False, True], ids=["unjitted", "jitted"])
def test_kernels_of_graphs_with_reshapes_have_the_bits_of_mlir(jit):
    seeds = range(12) if jit else range(150)
    assert_kernels_have_the_bits_of_mlir(seeds, jit=jit, make=random_graph_with_reshapes)


def test_jitted_kernels_of_random_graphs_have_the_bits_of_mlir():
    assert_kernels_have_the_bits_of_mlir(range(3000, 3030), jit=True)


@pytest.mark.deep
@pytest.mark.parametrize("start", range(20_000, 25_000, 250))
def test_unjitted_kernels_of_random_graphs_have_the_bits_of_mlir_deep(start):
    assert_kernels_have_the_bits_of_mlir(range(start, start + 250), jit=False)


@pytest.mark.parametrize(("jit", "seeds"), [(True, range(400, 406)), (False, range(500, 540))])
def test_loaded_programs_run_through_our_kernels_with_the_bits_of_mlir(jit, seeds, monkeypatch):
    monkeypatch.setenv("FUSEJIT_UNJITTED", "0" if jit else "1")
    for (seed, program, text), results in judged(list(random_programs(seeds))):
        function = load(text)
        arguments = program.fresh_arguments()
        made = function(*arguments.values())
        made = () if made is None else made if isinstance(made, tuple) else (made,)
        assert_same_bits(made, results, f"seed {seed}\n{text}", not float_combiners(program.graph))
        for name, before in program.arguments.items():
            np.testing.assert_array_equal(arguments[name], before)


def test_float_reductions_agree_within_the_bound_of_any_order(monkeypatch):
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")

    @fuse_jit
    def sums(x):
        return x.sum(), x.sum(axis=0), (x * x).sum(axis=1), x.mean(axis=0)

    rng = np.random.default_rng(3)
    arrays = [rng.normal(size=(70, 33)).astype(t) for t in (np.float32, np.float64)]
    judged = mlir_oracle.run([program_of(sums.mlir(x), [x]) for x in arrays])
    for x, results in zip(arrays, judged, strict=True):
        size = np.abs(x).astype(np.float64)
        bounds = [size.sum(), size.sum(axis=0), (size**2).sum(axis=1), size.mean(axis=0)]
        for ours, theirs, bound in zip(sums(x), results, bounds, strict=True):
            allowed = x.size * np.finfo(x.dtype).eps * bound  # n terms, in any order
            assert np.all(np.abs(ours - theirs) <= allowed)


def test_integer_and_float_arithmetic_of_functions(monkeypatch):
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")

    @fuse_jit
    def f(x, y, i, j):
        return (
            np.maximum(x, y) - np.minimum(x, y) * x,
            np.where(i < j, i * j + 3, -i),
            np.where(x == x, x, 0) > y,
            i.max(),
            j.sum(axis=0),
        )

    x = np.array([[1.5, np.nan, np.inf], [-0.0, -3.25, 7.0]])
    y = np.array([[0.5, 2.0, -np.inf], [0.0, np.nan, 7.0]])
    i = np.array([[2**31 - 1, -(2**31), 5], [0, -1, 9]], np.int32)
    programs = []
    for other in (i[::-1], i.astype(np.int64)[::-1] * 2**33):
        args = (x, y, i, np.ascontiguousarray(other))
        programs += [(f, args, fused) for fused in (False, True)]
    judged = mlir_oracle.run([program_of(g.mlir(*a, fused=b), a) for g, a, b in programs])
    for (g, args, fused), results in zip(programs, judged, strict=True):
        assert_same_bits(g(*args), results, f"fused={fused}")


# ----------------------------------------------------------------------------- number of ops kept
def kept_ops(graph):
    """Ops with loops, but for fills and copies: NumPy hands out arrays of their own."""
    return sum(
        bool(op.domain) and constant_written(op) is None and not is_copy(op)
        for op in generics(graph)
    )


def is_copy(op):
    combines = any(init.combiner for init in op.inits)
    return bool(op.inputs) and not op.payload.instrs and not combines


def as_written(graph):
    """The graph of the ops that stand in its text.

    What is gathered at affine subscripts is an operand there, which says that it exists even if
    the op computes nothing: MLIR is told more than the graph says, and folds for it.
    """
    return replace(graph, block=replace(graph.block, ops=tuple(live_ops(graph))))


def excesses(seeds):
    """For each random graph how many ops more than linalg we keep of those in its text."""
    made = (random_graph(s, stores=False, dtypes=DTYPES, ops=OPS).graph for s in seeds)
    graphs = list(map(as_written, made))
    theirs = mlir_oracle.fused_counts(list(map(mlir_text, graphs)))
    for seed, graph, linalg_count in zip(seeds, graphs, theirs, strict=True):
        yield seed, kept_ops(aggressive(graph)) - linalg_count


def test_we_never_keep_more_ops_than_linalg_run_to_a_fixpoint():
    found = list(excesses(range(500)))
    assert [(seed, excess) for seed, excess in found if excess > 0] == []
    assert sum(excess < 0 for _, excess in found) > 200


@pytest.mark.deep
@pytest.mark.parametrize("start", range(10_000, 20_000, 500))
def test_we_never_keep_more_ops_than_linalg_deep(start):
    found = list(excesses(range(start, start + 500)))
    assert [(seed, excess) for seed, excess in found if excess > 0] == []


# ------------------------------------------------------- where linalg's own fusion changes numbers
def generic(maps, count, ins, outs, body, result):
    texts = ", ".join(f"affine_map<{m}>" for m in maps)
    kinds = ", ".join(['"parallel"'] * count)
    return (
        f"linalg.generic {{indexing_maps = [{texts}], iterator_types = [{kinds}]}} {ins} {outs} "
        f"{{\n{body}\n}} -> {result}"
    )


PLUS_ONE = (
    "^bb0(%x: f64, %o: f64):\n%one = arith.constant 1.0 : f64\n"
    "%r = arith.addf %x, %one : f64\nlinalg.yield %r : f64"
)
COPY = "^bb0(%x: f64, %o: f64):\nlinalg.yield %x : f64"
READS_ITS_INIT = (
    "func.func @f(%a: tensor<3xf64>, %acc: tensor<3xf64>) -> tensor<3x4xf64> {\n%p = "
    + generic(["(d0) -> (d0)"] * 2, 1, "ins(%a : tensor<3xf64>)", "outs(%acc : tensor<3xf64>)",
        "^bb0(%x: f64, %y: f64):\n%r = arith.addf %y, %x : f64\nlinalg.yield %r : f64",
        "tensor<3xf64>")
    + "\n%e = tensor.empty() : tensor<3x4xf64>\n%c = "
    + generic(["(d0, d1) -> (d0)", "(d0, d1) -> (d0, d1)"], 2, "ins(%p : tensor<3xf64>)",
        "outs(%e : tensor<3x4xf64>)", COPY, "tensor<3x4xf64>")
    + "\nreturn %c : tensor<3x4xf64>\n}\n"
)  # fmt: skip


def kept_result_read_in_part(part, shape):
    """A result that is returned too, of which the consumer reads a part."""
    return (
        f"func.func @f(%a: tensor<4x6xf64>) -> (tensor<4x6xf64>, tensor<{shape}xf64>) {{\n"
        "%e = tensor.empty() : tensor<4x6xf64>\n%p = "
        + generic(["(d0, d1) -> (d0, d1)"] * 2, 2, "ins(%a : tensor<4x6xf64>)",
            "outs(%e : tensor<4x6xf64>)", PLUS_ONE, "tensor<4x6xf64>")
        + f"\n%g = tensor.empty() : tensor<{shape}xf64>\n%c = "
        + generic([part, part.split(" -> ")[0] + " -> " + part.split(" -> ")[0]],
            part.split("->")[0].count("d"), "ins(%p : tensor<4x6xf64>)",
            f"outs(%g : tensor<{shape}xf64>)", PLUS_ONE, f"tensor<{shape}xf64>")
        + f"\nreturn %p, %c : tensor<4x6xf64>, tensor<{shape}xf64>\n}}\n"
    )  # fmt: skip


A = np.arange(24.0).reshape(4, 6)
WRONG_IN_LINALG = {
    "a producer that reads its own init is broadcast": (
        READS_ITS_INIT, (np.arange(3.0), np.full(3, 10.0)),
        [np.repeat((np.arange(3.0) + 10)[:, None], 4, axis=1)],
    ),
    "one row of a result that is kept": (
        kept_result_read_in_part("(d0) -> (2, d0)", "6"), (A,), [A + 1, A[2] + 2],
    ),
    "every other column of a result that is kept": (
        kept_result_read_in_part("(d0, d1) -> (d0, d1 * 2)", "4x3"), (A,), [A + 1, A[:, ::2] + 2],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG_IN_LINALG)
def test_where_linalg_fuses_wrongly_ours_has_the_unfused_numbers(case):
    text, arguments, expected = WRONG_IN_LINALG[case]
    (unfused,) = mlir_oracle.run([program_of(text, arguments)])
    assert_same_bits(unfused, expected, "MLIR, unfused")
    function = load(text)
    result = function(*arguments)
    assert_same_bits(result if isinstance(result, tuple) else (result,), expected, "ours")
    paths = argument_paths(
        dict(zip([p.name for p in function.program.parameters], arguments, strict=True))
    )
    fused = aggressive(function.graph)
    assert_same_bits(interpret(fused, paths), expected, "ours, everything legal folded")


def test_linalg_does_fuse_the_first_of_them():
    """The others need a control function that folds producers with several uses."""
    texts = [text for text, _, _ in WRONG_IN_LINALG.values()]
    assert mlir_oracle.fused_counts(texts) == [1, 2, 2]
