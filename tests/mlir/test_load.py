"""MLIR text as a callable: values, sizes and types that are checked, operations that are read."""

from __future__ import annotations

import numpy as np
import pytest

from fusejit import UnsupportedError
from fusejit.errors import ParseError
from fusejit.mlir import MlirMissingError, bindings

pytest.importorskip("torch_mlir", reason="the MLIR bindings are not installed")

from fusejit.mlir import load

ROW = "affine_map<(d0, d1) -> (d0)>"
WHOLE = "affine_map<(d0, d1) -> (d0, d1)>"


def generic(maps, iterators, ins, outs, body, result):
    kinds = ", ".join(f'"{i}"' for i in iterators)
    return (
        f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}} "
        f"{ins} {outs} {{\n{body}\n}} -> {result}"
    )


SUM_ROWS = f"""
func.func @sum_rows(%a: tensor<?x?xf64> loc("a"), %b: tensor<?x?xf64> loc("b")) -> tensor<?xf64> {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x?xf64>
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty(%n) : tensor<?xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
  %r = {generic([WHOLE, WHOLE, ROW], ["parallel", "reduction"],
        "ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>)", "outs(%f : tensor<?xf64>)",
        '''^bb0(%x: f64, %y: f64, %o: f64):
  %p = arith.mulf %x, %y : f64
  %s = arith.addf %p, %o : f64
  linalg.yield %s : f64''', "tensor<?xf64>")}
  return %r : tensor<?xf64>
}}
"""  # fmt: skip


@pytest.fixture(scope="module")
def sum_rows():
    return load(SUM_ROWS)


def arrays(*shape):
    rng = np.random.default_rng(1)
    return [rng.integers(-9, 9, shape).astype(np.float64) for _ in range(2)]


def test_values_for_every_layout(sum_rows):
    a, b = arrays(4, 6)
    big = arrays(8, 12)[0]
    for x in (a, np.asfortranarray(a), big[::2, ::-2], a):
        np.testing.assert_array_equal(sum_rows(x, b), (x * b).sum(axis=1))
    assert sum_rows(*arrays(0, 3)).shape == (0,)
    np.testing.assert_array_equal(sum_rows(*arrays(3, 0)), np.zeros(3))


def test_the_signature_and_the_text_name_the_parameters(sum_rows):
    import inspect

    assert list(inspect.signature(sum_rows).parameters) == ["a", "b"]
    assert sum_rows.__name__ == "sum_rows"
    assert repr(sum_rows) == "<MLIR function sum_rows(a: s0 x s1 x f64, b: s0 x s1 x f64)>"
    assert "outs (add" in str(sum_rows.trace())  # the fill is the combiner's own start


def test_wrong_sizes_are_a_value_error_that_names_the_axes(sum_rows):
    a, b = arrays(4, 6)
    with pytest.raises(
        ValueError, match=r"axis 1 of b must be axis 1 of a \(a: \(4, 6\), b: \(4, 5"
    ):
        sum_rows(a, b[:, :5])
    with pytest.raises(ValueError, match="a has 2 axes, not 1"):
        sum_rows(a[0], b)


def test_wrong_types_are_a_type_error_that_names_the_parameter(sum_rows):
    a, b = arrays(4, 6)
    with pytest.raises(TypeError, match="b is an array of float64, not of float32"):
        sum_rows(a, b.astype(np.float32))
    with pytest.raises(TypeError, match="a is an array of float64, not list"):
        sum_rows([1.0], b)
    with pytest.raises(TypeError, match="takes 2 arguments, not 1"):
        sum_rows(a)
    with pytest.raises(TypeError, match="not of >f8"):
        sum_rows(a.astype(">f8"), b)


def test_a_misaligned_array_and_raising_error_states_are_served(sum_rows):
    a, b = arrays(4, 6)
    memory = np.empty(a.nbytes + 1, np.uint8)
    odd = memory[1:].view(np.float64).reshape(a.shape)
    odd[...] = a
    np.testing.assert_array_equal(sum_rows(odd, b), (a * b).sum(axis=1))
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(sum_rows(a, b), (a * b).sum(axis=1))


def test_an_argument_in_outs_is_read_and_never_written():
    f = load(
        "func.func @f(%x: tensor<?xi32>, %acc: tensor<?xi32>) -> tensor<?xi32> {\n"
        "  %r = " + generic(["affine_map<(d0) -> (d0)>"] * 2, ["parallel"],
            "ins(%x : tensor<?xi32>)", "outs(%acc : tensor<?xi32>)",
            "^bb0(%a: i32, %o: i32):\n  %s = arith.subi %o, %a : i32\n  linalg.yield %s : i32",
            "tensor<?xi32>") + "\n  return %r : tensor<?xi32>\n}"
    )  # fmt: skip
    x, acc = np.arange(4, dtype=np.int32), np.full(4, 10, np.int32)
    result = f(x, acc)
    np.testing.assert_array_equal(result, [10, 9, 8, 7])
    np.testing.assert_array_equal(acc, 10)
    assert not np.shares_memory(result, acc)


NAMED = """
func.func @f(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>, %v: tensor<?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a, %c0 : tensor<?x?xf64>
  %m = tensor.dim %b, %c1 : tensor<?x?xf64>
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty(%n, %m) : tensor<?x?xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<?x?xf64>) -> tensor<?x?xf64>
  %p = linalg.matmul ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>)
         outs(%f : tensor<?x?xf64>) -> tensor<?x?xf64>
  %w = linalg.broadcast ins(%v : tensor<?xf64>) outs(%e : tensor<?x?xf64>) dimensions = [0]
  %q = arith.addf %p, %w : tensor<?x?xf64>
  %u = linalg.map { math.absf } ins(%q : tensor<?x?xf64>) outs(%e : tensor<?x?xf64>)
  %t = tensor.empty(%m, %n) : tensor<?x?xf64>
  %r = linalg.transpose ins(%u : tensor<?x?xf64>) outs(%t : tensor<?x?xf64>) permutation = [1, 0]
  %y = linalg.elementwise kind=#linalg.elementwise_kind<negf>
         ins(%r : tensor<?x?xf64>) outs(%t : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %y : tensor<?x?xf64>
}
"""


def test_named_operations_are_generalized_and_fused():
    f = load(NAMED)
    a, b = arrays(3, 4)[0], arrays(4, 5)[0]
    v = np.arange(5.0)
    np.testing.assert_array_equal(f(a, b, v), -np.abs(a @ b + v).T)
    fused = f.trace().fuse()
    assert 'library_call "matmul"' in str(fused)
    assert str(fused).count("= generic") == 2


def test_slices_are_views_and_stay_inside():
    f = load(
        "func.func @f(%x: tensor<?x?xf32>, %o: index, %n: index) -> tensor<?xf32> {\n"
        "  %r = tensor.extract_slice %x[1, %o] [1, %n] [1, 2] : tensor<?x?xf32> to tensor<?xf32>\n"
        "  return %r : tensor<?xf32>\n}"
    )
    x = np.arange(30, dtype=np.float32).reshape(3, 10)
    np.testing.assert_array_equal(f(x, 2, 4), x[1, 2:10:2])
    for bad in ((x, 2, 5), (x, -1, 2), (x[:1], 0, 1), (x, 0, -1)):
        with pytest.raises(ValueError, match="extract_slice of line 2"):
            f(*bad)
    with pytest.raises(TypeError, match=r"arg1 is a number of type int64, not 1\.5"):
        f(x, 1.5, 1)


def test_reshapes():
    f = load(
        "func.func @f(%x: tensor<?x4xf64>) -> (tensor<?xf64>, tensor<?x2x2xf64>) {\n"
        "  %c = tensor.collapse_shape %x [[0, 1]] : tensor<?x4xf64> into tensor<?xf64>\n"
        "  %c0 = arith.constant 0 : index\n"
        "  %n = tensor.dim %x, %c0 : tensor<?x4xf64>\n"
        "  %e = tensor.expand_shape %x [[0], [1, 2]] output_shape [%n, 2, 2] "
        ": tensor<?x4xf64> into tensor<?x2x2xf64>\n"
        "  return %c, %e : tensor<?xf64>, tensor<?x2x2xf64>\n}"
    )
    x = np.arange(12.0).reshape(3, 4)
    flat, cube = f(x)
    np.testing.assert_array_equal(flat, x.ravel())
    np.testing.assert_array_equal(cube, x.reshape(3, 2, 2))
    with pytest.raises(ValueError, match="axis 1 of arg0 must be 4"):
        f(np.ones((3, 5)))


def test_constants_gathers_and_indices():
    f = load(
        "func.func @f(%i: tensor<?xi32>) -> tensor<?xf64> {\n"
        "  %t = arith.constant dense<[1.5, 2.5, 3.5]> : tensor<3xf64>\n"
        "  %c0 = arith.constant 0 : index\n"
        "  %n = tensor.dim %i, %c0 : tensor<?xi32>\n"
        "  %e = tensor.empty(%n) : tensor<?xf64>\n"
        "  %r = " + generic(["affine_map<(d0) -> (d0)>"] * 2, ["parallel"],
            "ins(%i : tensor<?xi32>)", "outs(%e : tensor<?xf64>)",
            "^bb0(%a: i32, %o: f64):\n"
            "  %k = arith.index_cast %a : i32 to index\n"
            "  %v = tensor.extract %t[%k] : tensor<3xf64>\n"
            "  %d = linalg.index 0 : index\n"
            "  %d2 = arith.muli %d, %d : index\n"
            "  %d3 = arith.index_cast %d2 : index to i64\n"
            "  %d4 = arith.sitofp %d3 : i64 to f64\n"
            "  %s = arith.addf %v, %d4 : f64\n  linalg.yield %s : f64",
            "tensor<?xf64>") + "\n  return %r : tensor<?xf64>\n}"
    )  # fmt: skip
    i = np.array([2, 0, 1, 2], np.int32)
    np.testing.assert_array_equal(f(i), np.array([1.5, 2.5, 3.5])[i] + np.arange(4) ** 2)


BODY_OPS = {
    "arith.cmpf ult, %a, %b : f32": lambda a, b: ~(a >= b),
    "arith.cmpf one, %a, %b : f32": lambda a, b: (a < b) | (a > b),
    "arith.cmpf ord, %a, %b : f32": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "arith.cmpf ueq, %a, %b : f32": lambda a, b: ~((a < b) | (a > b)),
}


@pytest.mark.parametrize("line", BODY_OPS)
def test_predicates_without_a_numpy_function(line):
    f = load(
        "func.func @f(%x: tensor<5xf32>, %y: tensor<5xf32>) -> tensor<5xi1> {\n"
        "  %e = tensor.empty() : tensor<5xi1>\n"
        "  %r = " + generic(["affine_map<(d0) -> (d0)>"] * 3, ["parallel"],
            "ins(%x, %y : tensor<5xf32>, tensor<5xf32>)", "outs(%e : tensor<5xi1>)",
            f"^bb0(%a: f32, %b: f32, %o: i1):\n  %s = {line}\n  linalg.yield %s : i1",
            "tensor<5xi1>") + "\n  return %r : tensor<5xi1>\n}"
    )  # fmt: skip
    x = np.array([1, np.nan, 2, np.inf, -0.0], np.float32)
    y = np.array([2, 1, 2, np.nan, 0.0], np.float32)
    np.testing.assert_array_equal(f(x, y), BODY_OPS[line](x, y))


def test_unsigned_operations_read_signless_integers_as_unsigned():
    f = load(
        "func.func @f(%x: tensor<3xi8>, %y: tensor<3xi8>) -> (tensor<3xi8>, tensor<3xf32>) {\n"
        "  %e = tensor.empty() : tensor<3xi8>\n"
        "  %g = tensor.empty() : tensor<3xf32>\n"
        "  %r:2 = " + generic(["affine_map<(d0) -> (d0)>"] * 4, ["parallel"],
            "ins(%x, %y : tensor<3xi8>, tensor<3xi8>)",
            "outs(%e, %g : tensor<3xi8>, tensor<3xf32>)",
            "^bb0(%a: i8, %b: i8, %o: i8, %p: f32):\n  %s = arith.maxui %a, %b : i8\n"
            "  %t = arith.uitofp %s : i8 to f32\n  linalg.yield %s, %t : i8, f32",
            "(tensor<3xi8>, tensor<3xf32>)")
        + "\n  return %r#0, %r#1 : tensor<3xi8>, tensor<3xf32>\n}"
    )  # fmt: skip
    x, y = np.array([-1, 3, -128], np.int8), np.array([1, 4, 127], np.int8)
    larger, as_float = f(x, y)
    np.testing.assert_array_equal(larger, [-1, 4, -128])
    np.testing.assert_array_equal(as_float, [255, 4, 128])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "func.func @f(%x: tensor<4xi32>) -> tensor<4xf32> {\n"
            "\n"
            "  %z = tensor.bitcast %x : tensor<4xi32> to tensor<4xf32>\n"
            "  return %z : tensor<4xf32>\n}",
            "@f: tensor.bitcast at line 3: this operation is not read",
        ),
        ("func.func @f(%x: tensor<?xf16>) {\n  return\n}", "tensors of type tensor<.xf16>"),
        ("func.func @f(%x: tensor<*xf32>) {\n  return\n}", "tensors of type"),
        (
            "func.func @f(%x: tensor<4xf64>) -> tensor<f64> {\n"
            "  %e = tensor.empty() : tensor<f64>\n  %r = "
            + generic(["affine_map<(d0) -> (d0)>", "affine_map<(d0) -> ()>"], ["reduction"],
                "ins(%x : tensor<4xf64>)", "outs(%e : tensor<f64>)",
                "^bb0(%a: f64, %o: f64):\n  %s = arith.addf %a, %o : f64\n"
                "  linalg.yield %s : f64", "tensor<f64>")
            + "\n  return %r : tensor<f64>\n}",
            "starts as a tensor.empty",
        ),
        ("func.func private @f()", "0 public functions"),
        ("func.func @f() {\n return\n}\nfunc.func @g() {\n return\n}", "2 public functions .f, g."),
    ],
)  # fmt: skip
def test_what_is_not_read_is_named_with_its_line(text, message):
    with pytest.raises(UnsupportedError, match=message):
        load(text)


def test_text_that_mlir_refuses_is_a_parse_error_with_its_words():
    with pytest.raises(ParseError, match="expected"):
        load("func.func @f( {")


def test_without_bindings_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(bindings, "PACKAGES", ("no_such_package_of_mlir",))
    with pytest.raises(MlirMissingError, match=r"pip install 'fusejit\[mlir\]'"):
        load(SUM_ROWS)


def test_one_function_of_several_is_chosen_and_calls_are_inlined():
    text = (
        "func.func private @twice(%x: tensor<?xf64>) -> tensor<?xf64> {\n"
        "  %r = arith.addf %x, %x : tensor<?xf64>\n  return %r : tensor<?xf64>\n}\n"
        "func.func @f(%x: tensor<?xf64>) -> tensor<?xf64> {\n"
        "  %r = func.call @twice(%x) : (tensor<?xf64>) -> tensor<?xf64>\n"
        "  %s = func.call @twice(%r) : (tensor<?xf64>) -> tensor<?xf64>\n"
        "  return %s : tensor<?xf64>\n}"
    )
    np.testing.assert_array_equal(load(text)(np.arange(3.0)), 4 * np.arange(3.0))
    np.testing.assert_array_equal(load(text, "twice")(np.arange(3.0)), 2 * np.arange(3.0))


def test_arguments_that_are_returned_as_they_are():
    f = load(
        "func.func @f(%x: tensor<?xf64>, %k: i1, %y: f32) -> (f32, tensor<?xf64>, i1) {\n"
        "  return %y, %x, %k : f32, tensor<?xf64>, i1\n}"
    )
    x = np.arange(3.0)
    number, array, truth = f(x, True, 2.5)
    assert (number, type(number), truth, type(truth)) == (2.5, np.float32, True, np.bool_)
    np.testing.assert_array_equal(array, x)
    for wrong in ("a", None, 0.5, 2):
        with pytest.raises(TypeError, match="arg1 is a number of type bool"):
            f(x, wrong, 1.0)
