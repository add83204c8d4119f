# ruff: noqa: E501
"""Each rule of legality beside the case that breaks it, and the message."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fusejit.fuse.canonical.canonicalize import canonicalize
from fusejit.fuse.folding.driver import fold_producers
from fusejit.fuse.folding.fold_context import BlockContext
from fusejit.fuse.folding.legality import (
    PRESERVING_RULES,
    RULES,
    Illegal,
    check_fold,
    check_preserved,
)
from fusejit.fuse.folding.siblings import merge_siblings
from fusejit.fuse.rewrite_blocks import definitions
from fusejit.ir.graph import Graph
from fusejit.ir.ops import GenericOp, Op, walk
from fusejit.ir.target_facts import GENERIC
from fusejit_testing.fold_policies import fold_always

Parse = Callable[[str], Graph]
EXP = "{ t0 = exp in0 : f64; yield t0 }"

BROKEN = {
    "both are generic ops of one block": [
        (
            f"""
            %x = load @x v0 : s0 x f64
            %p = host_call "numpy.sort"(%x) : s0 x f64
            %c = generic "exp" domain (s0) ins (%p) outs (write) {EXP} : s0 x f64
            return %c
            """,
            "a hostcall has no payload",
        ),
        (
            f"""
            %x = load @x v0 : s0 x f64
            %p = generic "exp" domain (s0) ins (%x) outs (write) {EXP} : s0 x f64
            for i0 = 0 to 3 step 1 {{
              %c = generic "exp" domain (s0) ins (%p) outs (write) {EXP} : s0 x f64
              store @y v2 = %c
            }}
            return
            """,
            "they stand in different blocks",
        ),
    ],
    "neither is a library call": [
        (
            """
            %m = load @m v0 : s0 x s1 x f64
            %z = load @z v0 : s1 x f64
            %p = generic "matvec" domain (s0, s1) iterators (parallel, reduction) ins (%m, %z [(d0, d1) -> (d1)]) outs (add [(d0, d1) -> (d0)]) library_call "matmul" { t0 = multiply in0, in1 : f64; yield t0 } : s0 x f64
            %c = generic "neg" domain (s0) ins (%p) outs (write) { t0 = negative in0 : f64; yield t0 } : s0 x f64
            return %c
            """,
            "matvec is the library call matmul",
        ),
        (
            f"""
            %m = load @m v0 : s0 x s1 x f64
            %z = load @z v0 : s1 x f64
            %p = generic "exp" domain (s0, s1) ins (%m) outs (write) {EXP} : s0 x s1 x f64
            %c = generic "matvec" domain (s0, s1) iterators (parallel, reduction) ins (%p, %z [(d0, d1) -> (d1)]) outs (add [(d0, d1) -> (d0)]) library_call "matmul" {{ t0 = multiply in0, in1 : f64; yield t0 }} : s0 x f64
            return %c
            """,
            "matvec is the library call matmul",
        ),
    ],
    "neither is in registers": [
        (
            """
            %m = load @m v0 : s0 x s1 x f64
            %p = generic "max" domain (s0, s1) iterators (parallel, reduction) ins (%m) outs (max [(d0, d1) -> (d0)]) registers (8 vector, _) { yield in0 } : s0 x f64
            %c = generic "neg" domain (s0) ins (%p) outs (write) { t0 = negative in0 : f64; yield t0 } : s0 x f64
            return %c
            """,
            "sums of max are in registers",
        ),
    ],
    "neither is kept apart": [
        (
            f"""
            %x = load @x v0 : s0 x f64
            %p = generic "exp" domain (s0) ins (%x) outs (write) unfused {EXP} : s0 x f64
            %c = generic "neg" domain (s0) ins (%p) outs (write) {EXP} : s0 x f64
            return %c
            """,
            "exp is kept apart by no_fuse",
        ),
        (
            f"""
            %x = load @x v0 : s0 x f64
            %p = generic "exp" domain (s0) ins (%x) outs (write) {EXP} : s0 x f64
            %c = generic "neg" domain (s0) ins (%p) outs (write) unfused {EXP} : s0 x f64
            return %c
            """,
            "neg is kept apart by no_fuse",
        ),
    ],
    "operand is an input": [
        (
            f"""
            %z = load @z v0 : s1 x f64
            %m = load @m v0 : s0 x s1 x f64
            %p = generic "exp" domain (s1) ins (%z) outs (write) {EXP} : s1 x f64
            %c = generic "sum" domain (s0, s1) iterators (reduction, parallel) ins (%m) outs (add [(d0, d1) -> (d1)] from %p) {{ yield in0 }} : s1 x f64
            return %c
            """,
            "it is the start of a result of sum",
        ),
    ],
    "operand is not gathered from": [
        (
            f"""
            %x = load @x v0 : s0 x f64
            %p = generic "exp" domain (s0) ins (%x) outs (write) {EXP} : s0 x f64
            %c = generic "take" domain (3) ins (%p [(d0) -> (0)]) outs (write) {{ t0 = index (d0) : i64; t1 = extract in0[t0] : f64; yield t1 }} : 3 x f64
            return %c
            """,
            "take reads it at computed subscripts",
        ),
    ],
    "producer is parallel": [
        (
            f"""
            %m = load @m v0 : s0 x s1 x f64
            %p = generic "sum" domain (s0, s1) iterators (parallel, reduction) ins (%m) outs (add [(d0, d1) -> (d0)]) {{ yield in0 }} : s0 x f64
            %c = generic "exp" domain (s0) ins (%p) outs (write) {EXP} : s0 x f64
            return %c
            """,
            "reduction producer sum",
        ),
    ],
    "producer writes each element once": [
        (
            f"""
            %x = load @x v0 : s0 x f64
            %p = generic "first" domain (s0 - 1) ins (%x) outs (write from %x) {EXP} : s0 x f64
            %c = generic "exp" domain (s0) ins (%p) outs (write) {EXP} : s0 x f64
            return %c
            """,
            "first writes only part of %p, through (d0) -> (d0)",
        ),
        (
            f"""
            %x = load @x v0 : s0 x f64
            %m = load @m v0 : s0 x s1 x f64
            %p = generic "row" domain (s1) ins (%m [(d0) -> (0, d0)]) outs (write [(d0) -> (0, d0)] from %m) {EXP} : s0 x s1 x f64
            %c = generic "exp" domain (s0, s1) ins (%p) outs (write) {EXP} : s0 x s1 x f64
            return %c
            """,
            "row writes only part of %p, through (d0) -> (0, d0)",
        ),
    ],
    "producer reads no init": [
        (
            f"""
            %x = load @x v0 : s0 x f64
            %y = load @y v0 : s0 x f64
            %p = generic "acc" domain (s0) ins (%x) outs (write from %y) {{ t0 = add out0, in0 : f64; yield t0 }} : s0 x f64
            %c = generic "exp" domain (s0) ins (%p) outs (write) {EXP} : s0 x f64
            return %c
            """,
            "acc reads the start of its result 0",
        ),
    ],
    "memory is unchanged between": [
        (
            f"""
            %x = load @x v0 : s0 x f64
            %y = load @y v0 : s0 x f64
            %p = generic "exp" domain (s0) ins (%x) outs (write) {EXP} : s0 x f64
            store @x v1 = %y
            %c = generic "neg" domain (s0) ins (%p) outs (write) {EXP} : s0 x f64
            return %c
            """,
            "memory that it reads is stored to before the consumer",
        ),
        (
            f"""
            %x = load @x v0 : s0 x f64
            %y = load @y v0 : s0 x f64
            %v = view %x [(d0) -> (d0 + 1)] : (s0 - 1) x f64
            %p = generic "exp" domain (s0 - 1) ins (%v) outs (write) {EXP} : (s0 - 1) x f64
            for i0 = 0 to 3 step 1 {{
              store @x v2 = %y
            }}
            %c = generic "neg" domain (s0 - 1) ins (%p) outs (write) {EXP} : (s0 - 1) x f64
            return %c
            """,
            "memory that it reads is stored to before the consumer",
        ),
    ],
}
CASES = [(rule, body, reason) for rule, cases in BROKEN.items() for body, reason in cases]


def pair_in(graph: Graph) -> tuple[Op, int, Op, BlockContext]:
    """The ops that define %p and %c, the operand of %c that is %p, and the block of %c."""
    ops = {r.name: op for op in walk(graph.block) for r in op.results}
    producer, consumer = ops["p"], ops["c"]
    blocks = [graph.block, *(b for op in walk(graph.block) for b in op.blocks)]
    block = next(b for b in blocks if consumer in b.ops)
    context = BlockContext(block, frozenset(), definitions(graph.block), GENERIC)
    index = consumer.operand_values.index(producer.results[0])
    return producer, index, consumer, context


def test_every_rule_has_a_case() -> None:
    assert list(BROKEN) == [rule.__name__.replace("_", " ") for rule in RULES]


@pytest.mark.parametrize(("rule", "body", "reason"), CASES)
def test_a_broken_rule_is_named_with_its_reason(
    parse: Parse, rule: str, body: str, reason: str
) -> None:
    assert check_fold(*pair_in(parse(body))) == Illegal(rule, reason)


@pytest.mark.parametrize(("rule", "body", "reason"), CASES)
def test_the_driver_never_breaks_a_rule(parse: Parse, rule: str, body: str, reason: str) -> None:
    graph = parse(body)
    assert fold_producers(graph, control=fold_always) is graph


def test_a_store_to_another_class_is_no_obstacle(parse: Parse) -> None:
    graph = parse(
        f"""
        %x = load @x v0 : s0 x f64
        %p = generic "exp" domain (s0) ins (%x) outs (write) {EXP} : s0 x f64
        store @y v1 = %x
        %c = generic "neg" domain (s0) ins (%p) outs (write) {EXP} : s0 x f64
        return %c
        """
    )
    assert check_fold(*pair_in(graph)) is None


def test_an_init_that_is_read_is_folded_once_it_is_an_input(parse: Parse) -> None:
    # linalg's fusion gives [11 12 13 14] here, since it re-reads what it has overwritten.
    graph = canonicalize(
        parse(
            """
            %x = load @x v0 : s0 x f64
            %y = load @y v0 : s0 x f64
            %p = generic "acc" domain (s0) ins (%x) outs (write from %y) { t0 = add out0, in0 : f64; yield t0 } : s0 x f64
            %c = generic "copy" domain (s0, s1) ins (%p [(d0, d1) -> (d0)]) outs (write) { t0 = negative in0 : f64; yield t0 } : s0 x s1 x f64
            return %c
            """
        )
    )
    fused = fold_producers(graph, control=fold_always)
    (op,) = [op for op in fused.block.ops if isinstance(op, GenericOp)]
    assert [str(o.map) for o in op.inputs] == ["(d0, d1) -> (d0)"] * 2
    assert all(init.start is None for init in op.inits)


# ------------------------------------------------------------- keeping the results of the producer
NOT_PRESERVED = {
    "consumer is parallel": (
        f"""
        %m = load @m v0 : s0 x s1 x f64
        %p = generic "exp" domain (s0, s1) ins (%m) outs (write) {EXP} : s0 x s1 x f64
        %c = generic "sum" domain (s0, s1) iterators (parallel, reduction) ins (%p) outs (add [(d0, d1) -> (d0)]) {{ yield in0 }} : s0 x f64
        return %p, %c
        """,
        "sum is a reduction",
    ),
    "preserved results are written whole": (
        f"""
        %m = load @m v0 : s0 x s1 x f64
        %p = generic "exp" domain (s0, s1) ins (%m) outs (write) {EXP} : s0 x s1 x f64
        %c = generic "neg" domain (s0, s1 - 1) ins (%p) outs (write) {EXP} : s0 x (s1 - 1) x f64
        return %p, %c
        """,
        "neg needs only part of %p, or parts of it twice",
    ),
    "consumer reads the producer at one point": (
        f"""
        %m = load @m v0 : s0 x s0 x f64
        %p = generic "exp" domain (s0, s0) ins (%m) outs (write) {EXP} : s0 x s0 x f64
        %c = generic "add" domain (s0, s0) ins (%p, %p [(d0, d1) -> (d1, d0)]) outs (write) {{ t0 = add in0, in1 : f64; yield t0 }} : s0 x s0 x f64
        return %p, %c
        """.replace(
            "%m = load @m v0 : s0 x s0", "%m = load @m v0 [(d0, d1) -> (d0, d1)] : s0 x s0"
        ),
        "add reads %p at other points too",
    ),
}


def test_every_preserving_rule_has_a_case() -> None:
    assert list(NOT_PRESERVED) == [r.__name__.replace("_", " ") for r in PRESERVING_RULES]


@pytest.mark.parametrize("rule", NOT_PRESERVED)
def test_results_are_not_kept_where_they_would_be_written_in_part(parse: Parse, rule: str) -> None:
    body, reason = NOT_PRESERVED[rule]
    graph = parse(body)
    assert check_fold(*pair_in(graph)) is None
    assert check_preserved(*pair_in(graph)) == Illegal(rule, reason)
    assert merge_siblings(graph) is graph


@pytest.mark.parametrize("part", ["(d0) -> (0, d0)", "(d0) -> (d0, d0)", "(d0) -> (2 * d0, d0)"])
def test_one_row_a_diagonal_and_a_stride_do_not_cover(parse: Parse, part: str) -> None:
    graph = parse(
        f"""
        %m = load @m v0 : s0 x s1 x f64
        %p = generic "exp" domain (s0, s1) ins (%m) outs (write) {EXP} : s0 x s1 x f64
        %c = generic "neg" domain (s1) ins (%p [{part}]) outs (write) {EXP} : s1 x f64
        return %p, %c
        """
    )
    broken = check_preserved(*pair_in(graph))
    assert broken is not None
    assert broken.rule == "preserved results are written whole"
    assert merge_siblings(graph) is graph
