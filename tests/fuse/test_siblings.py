# ruff: noqa: E501
"""Sibling merge: what joins, where the merged op stands, and what stays apart."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fusejit.fuse import merge_siblings
from fusejit.ir.graph import Graph

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
