# ruff: noqa: E501
"""Profitability: what is folded, what is kept, and the reasons in the report."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fusejit.fuse.folding.cost import MAX_ARRAYS, payload_cost_ns
from fusejit.fuse.folding.driver import fold_producers
from fusejit.ir.execution_plan import FusionReport
from fusejit.ir.graph import Graph
from fusejit.ir.ops import GenericOp
from fusejit.ir.target_facts import GENERIC, Target
from fusejit_testing.fold_policies import fold_single_uses

Parse = Callable[[str], Graph]


def unary(name: str, result: str, operand: str) -> str:
    return f'%{result} = generic "{name}" domain (s0, s1) ins ({operand}) outs (write) {{ t0 = {name} in0 : f64; yield t0 }} : s0 x s1 x f64'


def binary(name: str, result: str, a: str, b: str) -> str:
    return f'%{result} = generic "{name}" domain (s0, s1) ins ({a}, {b}) outs (write) {{ t0 = {name} in0, in1 : f64; yield t0 }} : s0 x s1 x f64'


def column_sum(result: str, operand: str) -> str:
    return f'%{result} = generic "sum" domain (s0, s1) iterators (reduction, parallel) ins ({operand}) outs (add [(d0, d1) -> (d1)]) {{ yield in0 }} : s1 x f64'


M = "%m = load @m v0 : s0 x s1 x f64"
W = "%w = load @w v0 : s0 x s1 x f64"


def fused(parse: Parse, *lines: str, **options: object) -> tuple[list[str], list[str]]:
    """The names of the generic ops that are left, and the rules of the refusals."""
    report = FusionReport()
    graph = fold_producers(parse("\n".join(lines)), report=report, **options)  # type: ignore[arg-type]
    names = [op.name for op in graph.block.ops if isinstance(op, GenericOp)]
    return names, [f"{r.producer} -> {r.consumer}: {r.rule}" for r in report.refused]


def test_a_diamond_closes_even_if_its_top_is_expensive(parse: Parse) -> None:
    names, refused = fused(
        parse,
        M,
        unary("exp", "e", "%m"),
        unary("sqrt", "s", "%e"),
        binary("divide", "r", "%e", "%s"),
        "return %r",
    )
    assert names == ["divide+2"]
    assert refused == []


def test_a_cheap_value_is_recomputed_for_a_reduction(parse: Parse) -> None:
    names, refused = fused(
        parse,
        M,
        W,
        binary("multiply", "t", "%m", "%w"),
        unary("exp", "e", "%t"),
        column_sum("s", "%t"),
        "return %e, %s",
    )
    assert names == ["exp+1", "sum+1"]
    assert refused == []


def test_an_expensive_value_is_kept_for_a_reduction(parse: Parse) -> None:
    # Softmax: exp is computed once.
    names, refused = fused(
        parse,
        M,
        unary("exp", "e", "%m"),
        column_sum("s", "%e"),
        binary("divide", "r", "%e", "%s [(d0, d1) -> (d1)]"),
        "return %r",
    )
    assert names == ["exp", "sum", "divide"]
    assert refused == [
        "exp -> sum: several uses",
        "exp -> divide: several uses",
        "sum -> divide: producer is parallel",
    ]


def test_an_expensive_value_read_at_two_shifts_is_kept(parse: Parse) -> None:
    diff = '%r = generic "diff" domain (s0 - 1, s1) ins (%t [(d0, d1) -> (d0 + 1, d1)], %t) outs (write) { t0 = subtract in0, in1 : f64; yield t0 } : (s0 - 1) x s1 x f64'
    assert fused(parse, M, unary("exp", "t", "%m"), diff, "return %r")[0] == ["exp", "diff"]
    assert fused(parse, M, unary("negative", "t", "%m"), diff, "return %r")[0] == ["diff+2"]


@pytest.mark.parametrize(("name", "folds"), [("negative", True), ("exp", False)])
def test_broadcasts_take_only_what_is_cheap(parse: Parse, name: str, folds: bool) -> None:
    names, refused = fused(
        parse,
        M,
        "%x = load @x v0 : s0 x f64",
        f'%t = generic "{name}" domain (s0) ins (%x) outs (write) {{ t0 = {name} in0 : f64; yield t0 }} : s0 x f64',
        binary("add", "r", "%m", "%t [(d0, d1) -> (d0)]"),
        "return %r",
    )
    assert names == (["add+1"] if folds else [name, "add"])
    assert refused == ([] if folds else [f"{name} -> add: expensive broadcast"])


def test_nothing_is_recomputed_along_a_reduction(parse: Parse) -> None:
    names, refused = fused(
        parse,
        "%x = load @x v0 : s0 x f64",
        '%t = generic "negative" domain (s0) ins (%x) outs (write) { t0 = negative in0 : f64; yield t0 } : s0 x f64',
        column_sum("s", "%t [(d0, d1) -> (d0)]"),
        "return %s",
    )
    assert names == ["negative", "sum"]
    assert refused == ["negative -> sum: broadcast into a reduction"]


def test_a_value_that_is_handed_out_is_read_back(parse: Parse) -> None:
    names, refused = fused(
        parse, M, unary("negative", "t", "%m"), column_sum("s", "%t"), "return %t, %s"
    )
    assert names == ["negative", "sum"]
    assert refused == ["negative -> sum: kept anyway"]


def test_a_store_keeps_the_value(parse: Parse) -> None:
    report = FusionReport()
    body = "\n".join(
        [M, unary("negative", "t", "%m"), "store @w v1 = %t", unary("exp", "r", "%t"), "return %r"]
    )
    graph = parse(body)
    assert fold_producers(graph, report=report) is graph
    assert [r.reason for r in report.refused] == ["%t is read by a store"]


def test_functions_without_a_vector_form_count_for_more(parse: Parse) -> None:
    graph = parse("\n".join([M, unary("exp", "t", "%m"), "return %t"]))
    (op,) = [op for op in graph.block.ops if isinstance(op, GenericOp)]
    assert payload_cost_ns(op.payload, Target()) > 4 * payload_cost_ns(op.payload, GENERIC)


def test_single_uses_is_linalgs_default(parse: Parse) -> None:
    lines = [
        M,
        unary("negative", "t", "%m"),
        unary("exp", "e", "%t"),
        column_sum("s", "%t"),
        "return %e, %s",
    ]
    assert fused(parse, *lines)[0] == ["exp+1", "sum+1"]
    names, refused = fused(parse, *lines, control=fold_single_uses)
    assert names == ["negative", "exp", "sum"]
    assert refused == ["negative -> exp: several uses", "negative -> sum: several uses"]


def test_the_number_of_arrays_is_bounded(parse: Parse) -> None:
    # A sum of 40 different rows: each row is an array of its own.
    rows = [f'%h{i} = host_call "f"() : s0 x s1 x f64' for i in range(40)]
    adds = [
        binary("add", f"a{i}", f"%a{i - 1}" if i > 1 else "%h0", f"%h{i}") for i in range(1, 40)
    ]
    names, refused = fused(parse, *rows, *adds, "return %a39")
    graph = fold_producers(parse("\n".join([*rows, *adds, "return %a39"])))
    assert 1 < len(names) < 4
    assert len(refused) == len(names) - 1
    for op in graph.block.ops:
        if isinstance(op, GenericOp):
            assert len({o.value for o in op.inputs}) + len(op.results) <= MAX_ARRAYS
    assert all(text.endswith("number of arrays") for text in refused)


def test_the_report_names_each_fold_once(parse: Parse) -> None:
    report = FusionReport()
    graph = parse(
        "\n".join(
            [
                M,
                unary("exp", "a", "%m"),
                unary("negative", "b", "%a"),
                unary("sqrt", "c", "%b"),
                "return %c",
            ]
        )
    )
    fold_producers(graph, report=report)
    assert [(f.producer, f.consumer) for f in report.folded] == [
        ("exp", "negative"),
        ("negative+1", "sqrt"),
    ]


# ------------------------------------------------------------------------ each reason, as reported
X, Y = "%x = load @x v0 : s0 x f64", "%y = load @y v0 : s0 x f64"
LONG = "; ".join(f"t{i} = negative {f't{i - 1}' if i else 'in0'} : f64" for i in range(100))
MANY = "; ".join(f"t{i} = multiply in0, {f't{i - 1}' if i else 'in0'} : f64" for i in range(30))


def vector(name: str, result: str, inputs: str, payload: str, domain: str = "s0") -> str:
    return f'%{result} = generic "{name}" domain ({domain}) ins ({inputs}) outs (write) {{ {payload} }} : {domain} x f64'


REASONS = {
    "kept anyway: %t is handed out": [
        M,
        unary("negative", "t", "%m"),
        column_sum("r", "%t"),
        "return %t, %r",
    ],
    "payload size: the payload would have up to 200 instructions": [
        X,
        vector("t", "t", "%x", f"{LONG}; yield t99"),
        vector("r", "r", "%t", f"{LONG}; yield t99"),
        "return %r",
    ],
    "broadcast into a reduction: it would be recomputed along d0": [
        "%z = load @z v0 : s1 x f64",
        vector("t", "t", "%z", "t0 = negative in0 : f64; yield t0", "s1"),
        column_sum("r", "%t [(d0, d1) -> (d1)]"),
        "return %r",
    ],
    "broadcast into a reduction: it would be recomputed along d1": [  # windows overlap
        X,
        vector("t", "t", "%x", "t0 = negative in0 : f64; yield t0"),
        '%r = generic "windows" domain (s0 - 2, 3) iterators (parallel, reduction) ins (%t [(d0, d1) -> (d0 + d1)]) outs (add [(d0, d1) -> (d0)]) { yield in0 } : (s0 - 2) x f64',
        "return %r",
    ],
    "expensive broadcast: 0.7 ns would be spent again along d1": [
        X,
        M,
        vector("t", "t", "%x", "t0 = exp in0 : f64; yield t0"),
        binary("add", "r", "%m", "%t [(d0, d1) -> (d0)]"),
        "return %r",
    ],
    "expensive broadcast: 0.7 ns would be spent again along d0": [  # each element twice
        X,
        vector("t", "t", "%x", "t0 = exp in0 : f64; yield t0"),
        '%r = generic "repeat" domain (2 * s0) ins (%t [(d0) -> (d0 floordiv 2)]) outs (write) { t0 = negative in0 : f64; yield t0 } : 2 * s0 x f64',
        "return %r",
    ],
    "load-heavy broadcast: its loads would be repeated along d1": [
        X,
        Y,
        M,
        "%h = load @w v0 [(d0) -> (d0, 0)] : s0 x f64",
        vector("t", "t", "%x, %y, %h", "t0 = add in0, in1 : f64; t1 = add t0, in2 : f64; yield t1"),
        binary("add", "r", "%m", "%t [(d0, d1) -> (d0)]"),
        "return %r",
    ],
    "several uses: 9 ops read it": [
        X,
        vector("t", "t", "%x", "t0 = negative in0 : f64; yield t0"),
        *(f'%r{i} = generic "sum" domain (s0) iterators (reduction) ins (%t) outs ({"max" if i % 2 else "add"} [(d0) -> ()]) {{ yield in0 }} : f64' for i in range(9)),
        f"return {', '.join(f'%r{i}' for i in range(9))}",
    ],
    "several uses: 0.7 ns more to compute it at 2 places": [
        M,
        unary("exp", "t", "%m"),
        column_sum("r", "%t"),
        unary("sqrt", "q", "%t"),
        "return %r, %q",
    ],
    "several uses: over 0.3 ns more to compute it at each point that r reads": [
        X,
        vector("t", "t", "%x", "t0 = exp in0 : f64; yield t0"),
        vector("r", "r", "%t [(d0) -> (d0 + 1)], %t", "t0 = subtract in0, in1 : f64; yield t0", "(s0 - 1)"),
        "return %r",
    ],
    "several uses: r reads it from memory anyway: r reads it at computed subscripts": [
        X,
        Y,
        "%i = load @i v0 : i64",
        vector("t", "t", "%x", "t0 = negative in0 : f64; yield t0"),
        vector("r", "r", "%t, %i [(d0) -> ()], %t [(d0) -> (0)]", "t0 = extract in2[in1] : f64; t1 = add in0, t0 : f64; yield t1"),
        "return %r",
    ],
}  # fmt: skip


@pytest.mark.parametrize("text", REASONS)
def test_each_reason_is_reported_in_words(parse: Parse, text: str) -> None:
    report = FusionReport()
    graph = parse("\n".join(REASONS[text]))
    fold_producers(graph, report=report)
    assert text in [f"{r.rule}: {r.reason}" for r in report.refused]


def test_shifted_reads_are_computed_together_or_not_at_all(parse: Parse) -> None:
    # 30 multiplications: the first of the three points would fit by itself.
    report = FusionReport()
    lines = [X, vector("t", "t", "%x", f"{MANY}; yield t29"), vector("r", "r", "%t, %t [(d0) -> (d0 + 1)], %t [(d0) -> (d0 + 2)]", "t0 = add in0, in1 : f64; t1 = add t0, in2 : f64; yield t1", "(s0 - 2)"), "return %r"]  # fmt: skip
    graph = parse("\n".join(lines))
    assert fold_producers(graph, report=report) is graph
    assert [r.rule for r in report.refused] == ["several uses"]


def test_a_sum_with_its_transpose_is_no_shift(parse: Parse) -> None:
    # 10 multiplications at two points that share no row: the rule for separate passes holds.
    report = FusionReport()
    square = "%m = load @m v0 [(d0, d1) -> (d0, d1)] : s0 x s0 x f64"
    payload = "; ".join(f"t{i} = multiply in0, {f't{i - 1}' if i else 'in0'} : f64" for i in range(10))  # fmt: skip
    lines = [
        square,
        f'%t = generic "t" domain (s0, s0) ins (%m) outs (write) {{ {payload}; yield t9 }} : s0 x s0 x f64',
        '%r = generic "r" domain (s0, s0) ins (%t, %t [(d0, d1) -> (d1, d0)]) outs (write) { t0 = add in0, in1 : f64; yield t0 } : s0 x s0 x f64',
        "return %r",
    ]
    graph = parse("\n".join(lines))
    assert fold_producers(graph, report=report) is graph
    assert [r.reason for r in report.refused] == ["1.0 ns more to compute it at 2 places"]


def test_a_producer_is_taken_at_all_its_places_or_at_none(parse: Parse) -> None:
    # With %t at one of its two places, %u would be cheap enough for %r; with both it is not.
    lines = [
        X,
        vector("t", "t", "%x", "t0 = multiply in0, in0 : f64; t1 = negative t0 : f64; yield t1"),
        vector("u", "u", "%t [(d0) -> (d0 + 1)], %t", "t0 = add in0, in1 : f64; yield t0", "(s0 - 1)"),
        vector("r", "r", "%u, %u [(d0) -> (0)]", "t0 = subtract in0, in1 : f64; yield t0", "(s0 - 1)"),
        "return %r",
    ]  # fmt: skip
    names, refused = fused(parse, *lines)
    assert names == ["u+2", "r"]
    assert refused == ["u+2 -> r: several uses", "u+2 -> r: expensive broadcast"]
