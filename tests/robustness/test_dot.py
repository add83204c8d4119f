"""`f.trace(x).dot()` and `.fuse().dot()`: the structure of the text, and that Graphviz takes it."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.ir.execution_plan import KernelStep
from fusejit.ir.ops import GenericOp, Store

X = np.arange(12.0).reshape(3, 4) + 1
COLUMN = np.arange(4.0)


def softmax(x: Any, y: Any) -> Any:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def chain_with_store(x: Any, y: Any) -> Any:
    x[1:] += np.sqrt(y)
    return x.sum(axis=0), x


def dense(x: Any, y: Any) -> Any:
    return np.maximum(x @ x.T + 1.5, 0) * y[:3]


def with_number(x: Any, y: Any) -> Any:
    return x.reshape(-1) * y.mean() + len(y)


def filled(x: Any, y: Any) -> Any:
    z = np.zeros(x.shape)
    z[1:] = x[1:] * y
    return z


PROGRAMS = [filled, softmax, chain_with_store, dense, with_number]


def stages(program: Any) -> list[Any]:
    traced = fuse_jit(program).trace(X.copy(), COLUMN.copy())
    return [traced, traced.fuse()]


def nodes_of(text: str) -> dict[str, str]:
    """Node -> label."""
    found = re.findall(r'^ *("[^"]*"|\w+) \[label="((?:[^"\\]|\\.)*)"', text, re.MULTILINE)
    return dict(found)


def cluster_of(text: str) -> dict[str, tuple[str, ...]]:
    """Node -> the clusters around it, the outermost first."""
    found: dict[str, tuple[str, ...]] = {}
    around: list[str] = []
    for line in text.splitlines()[1:-1]:
        if match := re.match(r" *subgraph (\w+) {", line):
            around.append(match[1])
        elif line.strip() == "}":
            around.pop()
        elif match := re.match(r" *(\w+) \[label=", line):
            assert match[1] not in found, "a node is drawn once"
            found[match[1]] = tuple(around)
    assert not around
    return found


def test_a_label_has_name_extents_payload_and_the_users_line() -> None:
    traced, _ = stages(softmax)
    (label,) = [n for n in nodes_of(traced.dot()).values() if n.startswith("exp ")]
    assert label == (
        rf"exp (s0, s1)\lexp(in0)\ltest_dot.py:{softmax.__code__.co_firstlineno + 1}"
        r"  e = np.exp(x - x.max(axis=-1, keepdims=True))\l"
    )


def test_a_reduction_tells_its_combiner() -> None:
    traced, _ = stages(softmax)
    assert any(r"\lmax: in0\l" in label for label in nodes_of(traced.dot()).values())


def test_an_unfused_graph_has_no_clusters() -> None:
    traced, _ = stages(softmax)
    assert "subgraph" not in traced.dot()


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_op_that_works_is_one_node(program: Any) -> None:
    for stage in stages(program):
        work = [o for o in stage.graph.block.ops if isinstance(o, GenericOp | Store)]
        labels = list(nodes_of(stage.dot()).values())
        for op in work:
            head = "store @" if isinstance(op, Store) else f"{op.name} ("
            alike = [o for o in work if type(o) is type(op) and _name(o) == _name(op)]
            drawn = sum(label.startswith(head) for label in labels)
            assert drawn == len(alike), head


def _name(op: Any) -> str:
    return getattr(op, "name", "")


@pytest.mark.parametrize("program", PROGRAMS)
def test_arrows_join_nodes_that_are_drawn(program: Any) -> None:
    for stage in stages(program):
        text = stage.dot()
        arrows = re.findall(r'^  ("[^"]*"|\w+) -> ("[^"]*"|\w+)', text, re.MULTILINE)
        assert arrows
        assert {end for arrow in arrows for end in arrow} <= nodes_of(text).keys()


def test_kernels_and_groups_are_clusters() -> None:
    _, fused = stages(softmax)
    text = fused.dot()
    (kernel,) = [s for s in fused.schedule.steps if isinstance(s, KernelStep)]
    (group,) = kernel.groups
    inside = [n for n, c in cluster_of(text).items() if c]
    assert len(inside) == len(group.ops)
    around = {cluster_of(text)[n] for n in inside}
    assert around == {("cluster_kernel0", "cluster_kernel0_group0")}
    assert "one loop over tiles: s0" in text


def test_library_calls_stand_between_kernels() -> None:
    _, fused = stages(dense)
    text = fused.dot()
    (product,) = [n for n, label in nodes_of(text).items() if label.startswith("matmul ")]
    assert cluster_of(text)[product] == ()
    assert "cluster_kernel0" in text


def test_a_dashed_arrow_leads_from_a_store_to_what_must_follow_it() -> None:
    for program, follows in ((chain_with_store, "load @x"), (filled, "return @")):
        traced, _ = stages(program)
        text = traced.dot()
        nodes = nodes_of(text)
        dashed = re.findall(r"(\w+) -> (\w+) \[style=dashed\]", text)
        assert any(
            nodes[a].startswith("store @") and nodes[b].startswith(follows) for a, b in dashed
        )


def test_quotes_and_backslashes_of_a_line_are_escaped() -> None:
    def quoting(x: Any) -> Any:
        return (x + 1, r'"\d"')[0]

    text = fuse_jit(quoting).trace(X).dot()
    assert r"(x + 1, r'\"\\d\"')[0]" in text


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("program", PROGRAMS)
def test_graphviz_draws_it(program: Any) -> None:
    for stage in stages(program):
        done = subprocess.run(
            ["dot", "-Tsvg"], input=stage.dot(), capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        assert not done.stderr
        assert done.stdout.count('<g id="node') == len(nodes_of(stage.dot()))


def test_a_fused_op_shows_every_line_and_what_it_reads_where() -> None:
    def slopes(x: Any) -> Any:
        rise = x[1:] - x[:-1]
        return np.sqrt(rise * rise)

    text = fuse_jit(slopes).trace(np.ones(5)).fuse().dot()
    assert "  subtract: rise = x[1:] - x[:-1]\\l" in text
    assert "  multiply, sqrt: return np.sqrt(rise * rise)\\l" in text
    assert '[label="in0[d0 + 1], in1"]' in text
