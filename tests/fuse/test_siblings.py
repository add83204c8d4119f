# ruff: noqa: E501
"""Sibling merge: what joins, where the merged op stands, and what stays apart."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fusejit.fuse.folding.siblings import merge_siblings
from fusejit.ir.graph import Graph
from fusejit.ir.ops import GenericOp
from fusejit.ir.text.parser import parse_graph
from fusejit.ir.text.printer import print_graph
from fusejit.ir.verifier.verify import verify

Becomes = Callable[[Callable[[Graph], Graph], str, str], None]


def unary(name: str, result: str, operand: str) -> str:
    return f'%{result} = generic "{name}" domain (s0) ins ({operand}) outs (write) {{ t0 = {name} in0 : f64; yield t0 }} : s0 x f64'


def test_a_reader_joins_a_value_that_is_handed_out(becomes: Becomes) -> None:
    becomes(
        merge_siblings,
        f"""
        %x = load @x v0 : s0 x f64
        {unary("exp", "a", "%x")}
        {unary("sqrt", "b", "%a")}
        return %a, %b
        """,
        """
        %x = load @x v0 : s0 x f64
        %a, %b = generic "sqrt+1" domain (s0) ins (%x) outs (write, write) { t0 = exp in0 : f64; t1 = sqrt t0 : f64; yield t0, t1 } : s0 x f64, s0 x f64
        return %a, %b
        """,
    )


def test_two_readers_of_one_array_run_side_by_side(becomes: Becomes) -> None:
    becomes(
        merge_siblings,
        f"""
        %x = load @x v0 : s0 x f64
        {unary("exp", "a", "%x")}
        {unary("sqrt", "b", "%x")}
        return %a, %b
        """,
        """
        %x = load @x v0 : s0 x f64
        %a, %b = generic "sqrt+1" domain (s0) ins (%x) outs (write, write) { t0 = exp in0 : f64; t1 = sqrt in0 : f64; yield t0, t1 } : s0 x f64, s0 x f64
        return %a, %b
        """,
    )


def test_the_second_moves_up_when_the_first_is_needed_in_between(becomes: Becomes) -> None:
    # x is overwritten with %a before %b is computed from what x was: moved up, %b needs no copy.
    becomes(
        merge_siblings,
        f"""
        %x = load @x v0 : s0 x f64
        {unary("exp", "a", "%x")}
        store @x v1 = %a
        {unary("sqrt", "b", "%x")}
        return %b
        """,
        """
        %x = load @x v0 : s0 x f64
        %a, %b = generic "sqrt+1" domain (s0) ins (%x) outs (write, write) { t0 = exp in0 : f64; t1 = sqrt in0 : f64; yield t0, t1 } : s0 x f64, s0 x f64
        store @x v1 = %a
        return %b
        """,
    )


def test_a_reader_after_a_store_moves_up(becomes: Becomes) -> None:
    becomes(
        merge_siblings,
        f"""
        %x = load @x v0 : s0 x f64
        {unary("exp", "a", "%x")}
        store @x v1 = %a
        {unary("sqrt", "b", "%a")}
        return %b
        """,
        """
        %x = load @x v0 : s0 x f64
        %a, %b = generic "sqrt+1" domain (s0) ins (%x) outs (write, write) { t0 = exp in0 : f64; t1 = sqrt t0 : f64; yield t0, t1 } : s0 x f64, s0 x f64
        store @x v1 = %a
        return %b
        """,
    )


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            f"""
            %x = load @x v0 : s0 x f64
            {unary("exp", "a", "%x")}
            store @x v1 = %a
            %y = load @x v1 : s0 x f64
            %b = generic "add" domain (s0) ins (%x, %y) outs (write) {{ t0 = add in0, in1 : f64; yield t0 }} : s0 x f64
            return %b
            """,
            id="what it reads exists only after the store",
        ),
        pytest.param(
            f"""
            %x = load @x v0 : s0 x f64
            %y = load @y v0 : s0 x f64
            {unary("exp", "a", "%x")}
            {unary("sqrt", "b", "%y")}
            return %a, %b
            """,
            id="no common array",
        ),
        pytest.param(
            f"""
            %x = load @x v0 : s0 x f64
            {unary("exp", "a", "%x")}
            %b = generic "sqrt" domain (s0) ins (%x [(d0) -> (s0 - 1 - d0)]) outs (write) {{ t0 = sqrt in0 : f64; yield t0 }} : s0 x f64
            return %a, %b
            """,
            id="the common array is read at other points",
        ),
        pytest.param(
            f"""
            %x = load @x v0 : s0 x f64
            {unary("exp", "a", "%x")}
            %b = generic "sqrt" domain (s0) ins (%a [(d0) -> (s0 - 1 - d0)]) outs (write) {{ t0 = sqrt in0 : f64; yield t0 }} : s0 x f64
            return %a, %b
            """,
            id="the result is read at other points",
        ),
        pytest.param(
            f"""
            %x = load @x v0 : s0 x f64
            {unary("exp", "a", "%x")}
            %s = generic "sum" domain (s0) iterators (reduction) ins (%a) outs (add [(d0) -> ()]) {{ yield in0 }} : f64
            %b = generic "divide" domain (s0) ins (%a, %s [(d0) -> ()]) outs (write) {{ t0 = divide in0, in1 : f64; yield t0 }} : s0 x f64
            return %b
            """,
            id="one depends on the other through a third",
        ),
        pytest.param(
            f"""
            %x = load @x v0 : s0 x f64
            {unary("exp", "a", "%x")}
            %b = generic "sqrt" domain (s0 - 1) ins (%x) outs (write) {{ t0 = sqrt in0 : f64; yield t0 }} : (s0 - 1) x f64
            return %a, %b
            """,
            id="another domain",
        ),
    ],
)
def test_these_stay_apart(becomes: Becomes, body: str) -> None:
    becomes(merge_siblings, body, body)


CHECKED = """\
graph @f
  symbol s0 = size(arg:y, 0)
  symbol s1 = size(arg:x, 0)
  symbol s2 = size(arg:a, 0)
  buffer @x : s1 x f64 = arg:x class 0
  buffer @y : s0 x f64 = arg:y class 1
  buffer @a : s2 x s0 x f64 = arg:a class 2
  scalar %k : i64 python = arg:k
{
  FIRST
  %y = load @y v0 : s0 x f64
  %x = load @x v0 : s1 x f64
  %z = generic "negative" domain (s0) ins (%y) outs (write) { t0 = negative in0 : f64; yield t0 } : s0 x f64
  store @a v1 [(d0) -> (0, d0)] (s0) = %z
  store @a v2 [(d0) -> (1, d0)] (s0) = %z
  SECOND
  %w = generic "add" domain (s0) ins (%y, %x [(d0) -> (AT)]) outs (write) { t0 = add in0, in1 : f64; yield t0 } : s0 x f64
  store @a v3 [(d0) -> (2, d0)] (s0) = %w
  store @a v4 [(d0) -> (3, d0)] (s0) = %w
  return
}
"""
BIND = "bind at0 = %k"
CHECK = (
    '%ok = generic "ok" domain () ins () outs (write) { t0 = index (at0 + s0) : i64; t1 = index (s1) : i64; t2 = less_equal t0, t1 : i1; yield t2 } : i1 python\n'
    'assert %ok "inside"'
)


@pytest.mark.parametrize(
    ("first", "second", "at", "merged"),
    [
        (BIND, "", "d0 + at0", True),
        (BIND, CHECK, "d0 + at0", False),
        (BIND, CHECK, "d0", True),
        ("", BIND, "d0 + at0", False),
    ],
)
def test_what_is_checked_of_integers_of_the_kernel_stays_in_front(
    first: str, second: str, at: str, merged: bool
) -> None:
    text = CHECKED.replace("FIRST", first).replace("SECOND", second).replace("AT", at)
    fused = merge_siblings(parse_graph(text))
    verify(fused)
    names = [op.name for op in fused.block.ops if isinstance(op, GenericOp)]
    assert ("add" not in names) is merged, print_graph(fused)
