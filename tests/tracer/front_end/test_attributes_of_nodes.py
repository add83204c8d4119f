"""Tools attach attributes to nodes, also to the ``Load()`` and ``Add()`` that all trees share.

After a traceback that IPython had shown, decorated functions failed with "internal error
RecursionError (syntax.py:101)": copies of trees followed the ``parent`` of each node.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from fusejit.support.syntax import copied, parse
from fusejit.tracer.source.original_text import WrittenTexts
from fusejit.warm_up.counted_loops import counting
from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import decorate

TEXT = """
def summed(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * 2 + 1 if x[i] > 0 else -x[i]
    return s

def kept(x, log):
    log.append(float(x.sum()))
    y = x + 1
    log += [str(y[0])]
    return y * 2

def steps(n):
    k = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        k += 1
    return k
"""


def link_as_executing_does() -> None:
    """What `executing.Source` does with the tree of each file that a traceback shows."""
    for node in ast.walk(ast.parse(TEXT)):
        for child in ast.iter_child_nodes(node):
            vars(child)["parent"] = node


def link_by_executing() -> None:
    executing = pytest.importorskip("executing")
    executing.Source(NAME, TEXT.splitlines(keepends=True))


NAME = "<ipython-input-3-fedcba987654>"


@pytest.fixture(params=[link_as_executing_does, link_by_executing])
def namespace(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    request.param()
    assert hasattr(parse("a + b", "eval").body.op, "parent"), "the test links no shared node"
    linecache.cache[NAME] = (len(TEXT), None, TEXT.splitlines(keepends=True), NAME)
    known: dict[str, Any] = {}
    exec(compile(TEXT, NAME, "exec"), known)
    yield known
    linecache.cache.pop(NAME)
    for shared in ast.walk(parse("[a + b < -c and d]; del a, b[0]; a = not b, ~c")):
        vars(shared).pop("parent", None)


def test_functions_compile(namespace: dict[str, Any]) -> None:
    summed, kept = namespace["summed"], namespace["kept"]
    x = np.linspace(-1.0, 1.0, 7)
    fused = decorate(summed, jit=False)
    assert_same(summed(x), fused(x))
    assert len(fused.variants) == 1
    assert not fused.variants.fallbacks
    ours: list[Any] = []
    theirs: list[Any] = []
    assert_same(kept(x, theirs), decorate(kept, jit=False)(x, ours))
    assert ours == theirs


def test_calls_with_counted_loops(namespace: dict[str, Any]) -> None:
    run = counting(namespace["steps"], 1000)
    assert run is not None
    assert run(27) == namespace["steps"](27)


def test_copies_have_fields_and_positions_alone(namespace: dict[str, Any]) -> None:
    tree = ast.parse(TEXT)
    for node in ast.walk(tree):
        vars(node)["parent"] = tree
    copy = copied(tree)
    assert ast.dump(copy, include_attributes=True) == ast.dump(tree, include_attributes=True)
    assert not any("parent" in vars(node) for node in ast.walk(copy))


def test_texts_of_expressions(namespace: dict[str, Any]) -> None:
    tree = parse("f(part + 1)", "eval")
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            vars(child)["parent"] = node
    texts = WrittenTexts({"part": parse("x.y", "eval").body, "all": tree.body})
    assert texts["all"] == "f(x.y + 1)"
