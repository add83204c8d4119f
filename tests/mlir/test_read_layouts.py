"""pack, unpack, pad and softmax read from MLIR text, against NumPy and `fusejit.linalg`."""

from __future__ import annotations

import numpy as np
import pytest

from fusejit import linalg
from fusejit_testing import mlir_oracle

pytest.importorskip("torch_mlir", reason="the MLIR bindings are not installed")

from fusejit.mlir import load

RNG = np.random.default_rng(5)


def sized(name, type_, *axes):
    """Lines that name the sizes of a tensor ``%n0``, ``%n1``.."""
    lines = [f"  %c{a} = arith.constant {a} : index\n" for a in axes]
    lines += [f"  %n{a} = tensor.dim %{name}, %c{a} : {type_}\n" for a in axes]
    return "".join(lines)


def packing(padding="", order=""):
    t, p = "tensor<?x?xf64>", "tensor<?x?x3x2xf64>"
    outer = "%m1, %m0" if order else "%m0, %m1"
    return (
        f"func.func @f(%a: {t}, %v: f64) -> ({p}, {t}) {{\n"
        + sized("a", t, 0, 1)
        + "  %c2 = arith.constant 2 : index\n  %c3 = arith.constant 3 : index\n"
        "  %m0 = arith.ceildivsi %n0, %c2 : index\n  %m1 = arith.ceildivsi %n1, %c3 : index\n"
        f"  %e = tensor.empty({outer}) : {p}\n"
        f"  %r = linalg.pack %a {padding} {order} inner_dims_pos = [1, 0] inner_tiles = [3, 2]"
        f" into %e : {t} -> {p}\n"
        f"  %d = tensor.empty(%n0, %n1) : {t}\n"
        f"  %u = linalg.unpack %r {order} inner_dims_pos = [1, 0] inner_tiles = [3, 2]"
        f" into %d : {p} -> {t}\n"
        f"  return %r, %u : {p}, {t}\n}}"
    )


@pytest.mark.parametrize("order", [None, (1, 0)])
def test_pack_and_unpack(order, monkeypatch):
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    text = "outer_dims_perm = [1, 0]" if order else ""
    given = {"inner_dims_pos": (1, 0), "inner_tiles": (3, 2), "outer_dims_perm": order}
    padded, exact = load(packing("padding_value(%v : f64)", text)), load(packing("", text))
    for shape in ((4, 6), (5, 7), (1, 1)):
        x = RNG.normal(size=shape)
        packed, again = padded(x, -1.5)
        np.testing.assert_array_equal(packed, linalg.pack(x, padding_value=-1.5, **given))
        np.testing.assert_array_equal(again, x)
    x = RNG.normal(size=(4, 6))
    np.testing.assert_array_equal(exact(x, 0.0)[0], linalg.pack(x, **given))
    with pytest.raises(ValueError, match=r"linalg\.pack of line"):
        exact(RNG.normal(size=(5, 6)), 0.0)
    assert str(padded.trace()).count("= generic") == 2


def test_pack_into_tiles_of_a_size_that_is_data_is_refused():
    text = packing("padding_value(%v : f64)").replace("[3, 2]", "[3, %c2]")
    from fusejit import UnsupportedError

    with pytest.raises(UnsupportedError, match="not a constant are not read"):
        load(text.replace("x3x2x", "x3x?x").replace("(%m0, %m1)", "(%m0, %m1, %c2)"))


PAD = (
    "func.func @f(%a: tensor<?x4xf32>, %low: index, %v: f32) -> tensor<?x7xf32> {\n"
    "  %r = tensor.pad %a low[%low, 1] high[0, 2] {\n  ^bb0(%i: index, %j: index):\n"
    "BODY\n  } : tensor<?x4xf32> to tensor<?x7xf32>\n  return %r : tensor<?x7xf32>\n}"
)
OF_A_NUMBER = PAD.replace("BODY", "    tensor.yield %v : f32")
OF_PLACES = PAD.replace(
    "BODY",
    "    %k = arith.index_cast %i : index to i64\n    %f = arith.sitofp %k : i64 to f32\n"
    "    %s = arith.addf %f, %v : f32\n    tensor.yield %s : f32",
)


def test_pad(monkeypatch):
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    number, places = load(OF_A_NUMBER), load(OF_PLACES)
    for rows in (1, 3):
        x = RNG.normal(size=(rows, 4)).astype(np.float32)
        for low in (0, 2):
            wanted = np.pad(x, [(low, 0), (1, 2)], constant_values=-0.5)
            np.testing.assert_array_equal(number(x, low, -0.5), wanted)
            outside = np.pad(np.zeros_like(x), [(low, 0), (1, 2)], constant_values=1) == 1
            row = np.arange(rows + low, dtype=np.float32)[:, None] - np.float32(0.5)
            wanted = np.where(outside, row, wanted)
            np.testing.assert_array_equal(places(x, low, -0.5), wanted)
    with pytest.raises(ValueError, match="is negative"):
        number(x, -1, 0.0)
    with pytest.raises(ValueError, match="has no element"):
        number(x[:0], 1, 0.0)


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_softmax(dim, monkeypatch):
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    t = "tensor<?x3x4xf64>"
    text = (
        f"func.func @f(%a: {t}) -> {t} {{\n"
        + sized("a", t, 0)
        + f"  %e = tensor.empty(%n0) : {t}\n"
        f"  %r = linalg.softmax dimension({dim}) ins(%a : {t}) outs(%e : {t}) -> {t}\n"
        f"  return %r : {t}\n}}"
    )
    function = load(text)
    x = RNG.normal(size=(2, 3, 4))
    x[0, 1, 2], x[1, 0, 0] = np.nan, -np.inf
    np.testing.assert_allclose(function(x), linalg.softmax(x, dimension=dim), 1e-12)
    assert not any(mlir_oracle.verify([text, function.mlir()]))
    assert load(function.mlir()).mlir() == function.mlir()
