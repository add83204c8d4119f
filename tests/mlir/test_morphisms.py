"""Generic, category and named forms of ops: against MLIR's own ``linalg-morph-ops``."""

from __future__ import annotations

import re

import numpy as np
import pytest

from fusejit import UnsupportedError, fuse_jit, linalg
from fusejit.ir.ops import GenericOp
from fusejit.linalg.elementwise import KINDS, num_inputs
from fusejit.linalg.registry import OPS
from fusejit.mlir import categorize, generalize, specialize
from fusejit.mlir.export.module_printer import mlir_text
from fusejit_testing import mlir_oracle
from fusejit_testing.linalg import named_mlir
from fusejit_testing.linalg.contractions import EINSUM, SIZES, WITH_MAPS, maps

pytest.importorskip("torch_mlir", reason="the MLIR bindings are not installed")

from fusejit.mlir import load

POINTWISE = "add sub mul div max min powf exp log abs ceil floor negf sqrt rsqrt square tanh erf"
TRANSPOSING = ["(i, j) -> (j, i)", "(i, j) -> (i, j)"]


def text_of(name, *arrays, letters="", **keywords):
    """An op as MLIR text, with an array to start from."""
    result = [SIZES[d] for d in letters.partition("->")[2]] if letters else arrays[0].shape
    return named_mlir.program_of(name, list(arrays), np.zeros(result), keywords).text


def graphs():
    """Graphs of the contractions without zero points, and of elementwise ops."""
    for name, letters in EINSUM.items():
        if not name.startswith("quantized"):
            factors = letters.partition("->")[0].split(",")
            arrays = [np.ones([SIZES[d] for d in part]) for part in factors]
            yield name, load(text_of(name, *arrays, letters=letters)).graph
    x = np.ones((2, 3))
    for name in POINTWISE.split():
        yield name, load(text_of(name, *[x] * len(OPS[name].definition.inputs))).graph


GRAPHS = dict(graphs())
MORPHISMS = {
    ("named-to-generic",): generalize,
    ("named-to-generic", "generic-to-category"): categorize,
    ("named-to-generic", "generic-to-category", "category-to-generic"): (
        lambda graph: generalize(categorize(graph))
    ),
}


def ops_of(text):
    """The ops of linalg in a text, with the maps that the text has written out."""
    return re.findall(r"linalg\.(?!yield|fill|index|memoized)\w+(?:_kind<\w+>)?", text)


@pytest.mark.parametrize("forms", MORPHISMS)
def test_the_forms_are_mlirs(forms):
    texts = [mlir_text(graph) for graph in GRAPHS.values()]
    judged = dict(zip(GRAPHS, mlir_oracle.morphed(texts, forms), strict=True))
    for name, graph in GRAPHS.items():
        text = mlir_text(MORPHISMS[forms](graph))
        assert ops_of(text) == ops_of(judged[name]), name
        assert load(text).mlir() == text, name
        assert load(judged[name]).mlir() == text, name


def test_specialize_undoes_the_others():
    for name, graph in GRAPHS.items():
        for other in (generalize, categorize, lambda g: categorize(generalize(g))):
            assert mlir_text(specialize(other(graph))) == mlir_text(graph), name


def test_every_kind_of_elementwise_is_written_and_read():
    x = np.full((2, 3), 1.5)
    condition = np.ones((2, 3), bool)
    for kind in KINDS:
        if "unsigned" in kind:
            continue
        inputs = [x] * num_inputs(kind)
        inputs = [condition, *inputs[1:]] if kind == "select" else inputs
        given = {"indexing_maps": TRANSPOSING} if len(inputs) == 1 else {}
        f = fuse_jit(lambda *a, k=kind, g=given: linalg.elementwise(*a, kind=k, **g))
        text = mlir_text(categorize(f.trace(*inputs).graph))
        assert f"linalg.elementwise kind=#linalg.elementwise_kind<{kind}>" in text
        assert ("indexing_maps" in text) == bool(given)
        assert load(text).mlir() == text


@pytest.mark.parametrize("letters", WITH_MAPS["contract"][1])
def test_a_contraction_with_maps_is_written_read_and_run(letters, monkeypatch):
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    shapes = [[SIZES[d] for d in part] for part in letters.partition("->")[0].split(",")]
    arrays = [np.arange(1.0, 1 + np.prod(shape)).reshape(shape) for shape in shapes]
    given = {"indexing_maps": maps(WITH_MAPS["contract"][0], letters)}
    text = load(text_of("contract", *arrays, letters=letters, **given)).mlir()
    assert "linalg.contract indexing_maps = [" in text
    function = load(text)
    assert function.mlir() == text
    start = np.zeros([SIZES[d] for d in letters.partition("->")[2]])
    np.testing.assert_allclose(function(*arrays, start), np.einsum(letters, *arrays), 1e-12)


def test_one_op_that_has_no_such_form_is_refused():
    graph = linalg.conv_1d.trace(np.ones(5), np.ones(3)).graph
    (op,) = (op for op in graph.block.ops if isinstance(op, GenericOp))
    assert generalize(op).name == "generic"
    assert specialize(generalize(op)).name == "conv_1d"
    with pytest.raises(UnsupportedError, match=r"conv_1d .*neither a contraction nor elementwise"):
        categorize(op)
    (other,) = (
        op
        for op in fuse_jit(lambda x: np.where(x > 1, x * x + 1, 2)).trace(np.ones(3)).fuse()
        .graph.block.ops
        if isinstance(op, GenericOp)
    )  # fmt: skip
    with pytest.raises(UnsupportedError, match="is no named op of linalg"):
        specialize(other)
    assert mlir_text(categorize(graph)) == mlir_text(graph)
