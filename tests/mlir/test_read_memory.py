"""Loops, memrefs and replaced parts of tensors, against Python and against MLIR's execution."""

from __future__ import annotations

import numpy as np
import pytest

from fusejit import UnsupportedError
from fusejit_testing import mlir_oracle

pytest.importorskip("torch_mlir", reason="the MLIR bindings are not installed")

from fusejit.mlir import load

V, M = "tensor<?xf64>", "memref<?xf64>"
INDICES = "".join(f"  %c{n} = arith.constant {n} : index\n" for n in range(3))


@pytest.fixture(autouse=True)
def _unjitted(monkeypatch):
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")


def loop(name, upper, body, carried, init, types, extra="", lower="%c0", step="%c1"):
    """A loop that carries values."""
    starts = ", ".join(f"{c} = {i}" for c, i in zip(carried, init, strict=True))
    return (
        f"  {name} = scf.for %i{extra} = {lower} to {upper} step {step} iter_args({starts})"
        f" -> ({', '.join(types)}) {{\n{body}  }}\n"
    )


PREFIX_SUMS = (
    f"func.func @f(%x: {V}, %y: {V}, %n: index) -> ({V}, f64) {{\n{INDICES}"
    "  %zero = arith.constant 0.0 : f64\n"
    + loop(
        "%r:2", "%n",
        f"    %e = tensor.extract %x[%i] : {V}\n    %k = arith.index_cast %i : index to i64\n"
        "    %kf = arith.sitofp %k : i64 to f64\n    %w = arith.mulf %e, %kf : f64\n"
        "    %t = arith.addf %s, %w : f64\n"
        f"    %u = tensor.insert %t into %acc[%i] : {V}\n"
        f"    scf.yield %u, %t : {V}, f64\n",
        ["%acc", "%s"], ["%y", "%zero"], [V, "f64"],
    )
    + f"  return %r#0, %r#1 : {V}, f64\n}}\n"
)  # fmt: skip


def test_a_loop_carries_a_tensor_and_a_number():
    function = load(PREFIX_SUMS)
    assert str(function.trace()).count("alloc ") == 1  # parts are stored, no tensor is copied
    x, y = np.arange(1.0, 8.0), np.full(9, -1.0)
    sums, total = function(x, y, 6)
    wanted = np.cumsum(x[:6] * np.arange(6))
    np.testing.assert_array_equal(sums, [*wanted, -1, -1, -1])
    assert total == wanted[-1]
    np.testing.assert_array_equal(y, -1)
    np.testing.assert_array_equal(function(x, y, 0)[0], y)
    with pytest.raises(ValueError, match=r"tensor\.extract of line \d+, axis 0: the subscript"):
        function(x, y, 8)


# Each is a body of a loop over rows, and what Python computes.
SWAPPED = (
    f"func.func @f(%x: {V}, %y: {V}, %n: index) -> ({V}, {V}) {{\n{INDICES}"
    + loop(
        "%r:2", "%n",
        f"    %e = tensor.extract %a[%i] : {V}\n    %u = tensor.insert %e into %b[%i] : {V}\n"
        f"    scf.yield %u, %a : {V}, {V}\n",
        ["%a", "%b"], ["%x", "%y"], [V, V], step="%c2",
    )
    + f"  return %r#0, %r#1 : {V}, {V}\n}}\n"
)  # fmt: skip
OLD_AND_NEW = (
    f"func.func @f(%x: {V}, %y: {V}, %n: index) -> ({V}, {V}) {{\n{INDICES}"
    + loop(
        "%r:2", "%n",
        f"    %e = tensor.extract %b[%i] : {V}\n    %u = tensor.insert %e into %a[%c0] : {V}\n"
        f"    %o = tensor.extract %a[%c0] : {V}\n    %w = tensor.insert %o into %b[%i] : {V}\n"
        f"    scf.yield %u, %w : {V}, {V}\n",
        ["%a", "%b"], ["%x", "%y"], [V, V],
    )
    + f"  return %r#0, %r#1 : {V}, {V}\n}}\n"
)  # fmt: skip
SLICES = (
    f"func.func @f(%x: {V}, %y: {V}, %n: index) -> ({V}, {V}) {{\n{INDICES}"
    + loop(
        "%r", "%n",
        "    %j = arith.addi %i, %c1 : index\n"
        f"    %p = tensor.extract_slice %a[%i] [2] [1] : {V} to tensor<2xf64>\n"
        "    %q = linalg.add ins(%p, %p : tensor<2xf64>, tensor<2xf64>) outs(%p : tensor<2xf64>)"
        " -> tensor<2xf64>\n"
        f"    %u = tensor.insert_slice %q into %a[%j] [2] [1] : tensor<2xf64> into {V}\n"
        f"    scf.yield %u : {V}\n",
        ["%a"], ["%x"], [V],
    )
    + f"  return %r, %y : {V}, {V}\n}}\n"
)  # fmt: skip


def swapped(a, b, n):
    for i in range(0, n, 2):
        b[i] = a[i]
        a, b = b, a
    return a, b


def old_and_new(a, b, n):
    for i in range(n):
        a[0], b[i] = b[i], a[0]
    return a, b


def slices(a, b, n):
    for i in range(n):
        a[i + 1 : i + 3] = a[i : i + 2] * 2
    return a, b


@pytest.mark.parametrize(
    ("text", "in_python"), [(SWAPPED, swapped), (OLD_AND_NEW, old_and_new), (SLICES, slices)]
)
def test_tensors_of_loops_are_values(text, in_python):
    """A loop may exchange tensors, and read one after part of it was replaced in another."""
    x, y, n = np.arange(1.0, 7.0), np.arange(11.0, 17.0), 4
    wanted = in_python(x.copy(), y.copy(), n)
    for actual, expected in zip(load(text)(x, y, n), wanted, strict=True):
        np.testing.assert_array_equal(actual, expected)


def test_mlir_computes_the_same_where_it_bufferizes_the_loop():
    x, y, n = np.arange(1.0, 7.0), np.arange(11.0, 17.0), 4
    texts = {SLICES: 1, PREFIX_SUMS: None}
    programs = [
        mlir_oracle.Program(text, (x, y, np.int64(n)), ((x.dtype, 1), (x.dtype, rank)))
        for text, rank in texts.items()
    ]
    for text, judged in zip(texts, mlir_oracle.run(programs), strict=True):
        for actual, theirs in zip(load(text)(x, y, n), judged, strict=True):
            np.testing.assert_array_equal(actual, theirs)


# ------------------------------------------------------------------------------------------ memrefs
MATMUL = f"""
func.func @f(%a: memref<?x?xf64>, %b: memref<?x?xf64>, %c: memref<?x?xf64>) {{
{INDICES}  %m = memref.dim %a, %c0 : memref<?x?xf64>
  %k = memref.dim %a, %c1 : memref<?x?xf64>
  %n = memref.dim %b, %c1 : memref<?x?xf64>
  scf.for %i = %c0 to %m step %c1 {{
    scf.for %j = %c0 to %n step %c1 {{
      scf.for %l = %c0 to %k step %c1 {{
        %x = memref.load %a[%i, %l] : memref<?x?xf64>
        %y = memref.load %b[%l, %j] : memref<?x?xf64>
        %z = memref.load %c[%i, %j] : memref<?x?xf64>
        %p = arith.mulf %x, %y : f64
        %q = arith.addf %z, %p : f64
        memref.store %q, %c[%i, %j] : memref<?x?xf64>
      }}
    }}
  }}
  return
}}
"""


def test_loops_over_memrefs_write_to_the_arguments():
    function = load(MATMUL)
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-9, 9, shape).astype(float) for shape in ((3, 4), (4, 5)))
    for c in (np.ones((3, 5)), np.ones((5, 3)).T, np.ones((6, 10))[::2, ::2]):
        assert function(a, b, c) is None
        np.testing.assert_array_equal(c, a @ b + 1)
    with pytest.raises(ValueError, match="leaves its axis"):
        function(a, b[:3], np.ones((3, 5)))


LINALG = f"""
func.func @f(%a: memref<?x?xf32>, %out: memref<?x?xf32>, %v: memref<?xf32>) {{
{INDICES}  %zero = arith.constant 0.0 : f32
  %m = memref.dim %a, %c0 : memref<?x?xf32>
  %n = memref.dim %out, %c1 : memref<?x?xf32>
  %t = memref.alloc(%m, %n) : memref<?x?xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<?x?xf32>)
  linalg.matmul ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%t : memref<?x?xf32>)
  linalg.exp ins(%t : memref<?x?xf32>) outs(%out : memref<?x?xf32>)
  linalg.add ins(%out, %t : memref<?x?xf32>, memref<?x?xf32>) outs(%out : memref<?x?xf32>)
  %row = memref.subview %out[1, 0] [1, %n] [1, 1]
    : memref<?x?xf32> to memref<?xf32, strided<[1], offset: ?>>
  linalg.reduce {{ arith.addf }} ins(%t : memref<?x?xf32>) outs(%v : memref<?xf32>) dimensions = [1]
  memref.copy %v, %row : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
  memref.dealloc %t : memref<?x?xf32>
  return
}}
"""


def test_ops_of_linalg_on_memrefs():
    function = load(LINALG)
    a = np.random.default_rng(3).integers(-2, 2, (3, 3)).astype(np.float32)
    out, v = np.full((3, 3), np.nan, np.float32), np.ones(3, np.float32)
    function(a, out, v)
    t = a @ a
    wanted = np.exp(t) + t
    wanted[1] = t.sum(axis=1) + 1
    np.testing.assert_allclose(out, wanted, 1e-6)
    np.testing.assert_array_equal(v, t.sum(axis=1) + 1)


COPY = f"""
func.func @f(%a: {M}, %b: {M}) {{
{INDICES}  %n = memref.dim %a, %c0 : {M}
  scf.for %i = %c0 to %n step %c1 {{
    %x = memref.load %a[%i] : {M}
    memref.store %x, %b[%i] : {M}
  }}
  return
}}
"""


def test_memrefs_that_share_memory_and_those_that_cannot_be_written():
    function = load(COPY)
    memory = np.arange(6.0)
    function(memory[:-1], memory[1:])
    np.testing.assert_array_equal(memory, 0)  # each store is seen by the next load
    fixed = np.ones(3)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        function(np.zeros(3), fixed)
    bytes_ = np.zeros(25, np.uint8)
    odd = bytes_[1:].view(np.float64)
    with pytest.raises(ValueError, match="arg1 is not aligned"):
        function(np.zeros(3), odd)


PREFETCH = "memref.prefetch %c[%i, %j], read, locality<3>, data : memref<?x?xf64>"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            PREFIX_SUMS.replace("step %c1", "step %n"),
            r"scf\.for at line \d+: the step of a loop is not a positive constant",
        ),
        (
            f"func.func @f(%n: index) -> index {{\n{INDICES}"
            + loop("%r", "%n", "    scf.yield %i : index\n", ["%k"], ["%c0"], ["index"])
            + "  return %r : index\n}",
            r"scf\.for at line \d+: an index is not an element of a tensor",
        ),
        (
            SLICES.replace("arith.addi %i, %c1", "arith.minsi %i, %c1"),
            "the index .* of a loop is not affine",
        ),
        (
            MATMUL.replace("memref.store %q", f"{PREFETCH}\n        memref.store %q"),
            r"memref\.prefetch at line \d+: this operation is not read",
        ),
    ],
)  # fmt: skip
def test_what_is_not_read_is_named(text, message):
    with pytest.raises(UnsupportedError, match=message):
        load(text)
