# ruff: noqa: E501
"""What leaves a loop, what stays in it, and why."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.fuse.loops.hoist import hoist_invariants
from fusejit.ir.graph import Graph
from fusejit.ir.text.parser import parse_graph
from fusejit.ir.text.printer import print_graph

Becomes = Callable[[Callable[[Graph], Graph], str, str], None]

EXP = '%e = generic "exp" domain (s0) ins (%y) outs (write) { t0 = exp in0 : f64; yield t0 } : s0 x f64'
ADD = '%r = generic "add" domain (s0) ins (%x, %e) outs (write) { t0 = add in0, in1 : f64; yield t0 } : s0 x f64'


def looped(body: str, before: str = "") -> str:
    return f"{before}\nfor i0 = 0 to 5 step 1 {{\n{body}\n}}\nreturn"


def test_a_dear_op_leaves_with_what_it_reads(becomes: Becomes) -> None:
    load = "%y = load @y v0 : s0 x f64"
    rest = f"%x = load @x v1 : s0 x f64\n{ADD}\nstore @x v2 = %r"
    becomes(
        hoist_invariants, looped(f"{load}\n{EXP}\n{rest}"), looped(rest, before=f"{load}\n{EXP}")
    )


@pytest.mark.parametrize(
    "body",
    [
        # it reads what the loop writes
        f"%y = load @x v1 : s0 x f64\n{EXP}\n%x = load @x v1 : s0 x f64\n{ADD}\nstore @x v2 = %r",
        # it depends on the iteration
        f"%y = load @y v0 : s0 x f64\n{EXP.replace('exp in0 : f64', 'exp in0 : f64; t1 = index (i0) : i64; t2 = cast t1 : f64; t3 = add t0, t2 : f64').replace('yield t0', 'yield t3')}\n%x = load @x v1 : s0 x f64\n{ADD}\nstore @x v2 = %r",
        # it is cheaper to compute than to load
        f"%y = load @y v0 : s0 x f64\n{EXP.replace('exp', 'negative')}\n%x = load @x v1 : s0 x f64\n{ADD}\nstore @x v2 = %r",
        # it stands behind a check
        f'%i = load @i v0 : i64 scalar\n%c = generic "less" domain () ins (%i) outs (write) {{ t0 = const 3 : i64; t1 = less in0, t0 : i1; yield t1 }} : i1 scalar\nassert %c "an index is out of bounds"\n%y = load @y v0 : s0 x f64\n{EXP}\n%x = load @x v1 : s0 x f64\n{ADD}\nstore @x v2 = %r',
    ],
    ids=["written", "iteration", "cheap", "checked"],
)
def test_it_stays(becomes: Becomes, body: str) -> None:
    becomes(hoist_invariants, looped(body), looped(body))


def test_out_of_two_loops_but_not_out_of_a_branch(parse: Callable[[str], Graph]) -> None:
    body = f"%y = load @y v0 : s0 x f64\n{EXP}\n%x = load @x v2 : s0 x f64\n{ADD}\nstore @x v3 = %r"
    inner = f"for i1 = 0 to 4 step 1 {{\n{body}\n}}"
    text = print_graph(hoist_invariants(parse(looped(inner))))
    assert text.index("exp") < text.index("for i0")
    flag = '%i = load @i v0 : i64 scalar\n%c = generic "less" domain () ins (%i) outs (write) { t0 = const 3 : i64; t1 = less in0, t0 : i1; yield t1 } : i1 scalar'
    branch = f"{flag}\nif %c {{\n{body}\n}} else {{\n}}"
    graph = parse(looped(branch))
    assert hoist_invariants(graph) is graph


def test_versions_stay_right(parse: Callable[[str], Graph]) -> None:
    body = looped(
        f"%y = load @y v1 : s0 x f64\n{EXP}\n%x = load @x v1 : s0 x f64\n{ADD}\nstore @x v2 = %r",
        before="%z = load @x v0 : s0 x f64\nstore @y v1 = %z",
    )
    after = hoist_invariants(parse(body))
    assert print_graph(parse_graph(print_graph(after))) == print_graph(after)


def smooth(x, w, steps):
    for _ in range(steps):
        weights = np.exp(-w * w)
        x = x * weights / weights.sum()
    return x


@pytest.mark.parametrize("n", [1, 40])
def test_answers_and_explain(n: int) -> None:
    x, w = np.linspace(1, 2, n), np.linspace(0, 1, n)
    f = fuse_jit(smooth)
    np.testing.assert_allclose(f(x, w, 6), smooth(x, w, 6), rtol=1e-13)
    np.testing.assert_allclose(f(x, w, 7), smooth(x, w, 7), rtol=1e-13)
    text = f.explain(x, w, 6, detail=True)
    assert "sum before the loop: it is the same in each iteration" in text
    if n == 1:
        return  # numbers, no loops
    source = f.trace(x, w, 6).fuse().lower().source
    chunks = source.split("def kernel(")[0].split("def chunk")
    (expensive,) = [at for at, chunk in enumerate(chunks) if "exp(" in chunk]
    main = source.split("def kernel(")[1]
    assert main.index(f"chunk{expensive - 1}") < main.index("range(")
