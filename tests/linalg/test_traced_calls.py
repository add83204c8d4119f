"""Calls of named ops in decorated functions: they are compiled, and numbers may be operands."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from fusejit import fuse_jit, linalg
from fusejit.segments.find_dispatcher import dispatcher_of
from fusejit.structured.op import StructuredOp
from fusejit_testing.linalg.cases import assert_result


def fused(function):
    return fuse_jit(fullgraph=True)(function)


def test_a_call_with_arrays_is_compiled():
    x, image, window = np.ones((4, 4)), np.ones((1, 5, 5, 2)), np.empty((2, 2))
    for known, inputs in (
        (linalg.vecmat, (x[0], x)),
        (linalg.pooling_nhwc_min, (image, window)),
        (linalg.rsqrt, (x,)),
    ):
        op = StructuredOp(known.definition, known._specialize)  # that no other test has called
        op(*inputs)
        dispatcher = dispatcher_of(op.entry)
        assert len(dispatcher.variants) >= 1, op
        assert dispatcher.variants.segmented is None, op


PROGRAM = """
import sys
import numpy as np
from fusejit import fuse_jit, linalg

class Finder:  # an import hook of the user's, as pytest's
    log = []
    def __len__(self):
        return len(self.log)
    def find_spec(self, name, path=None, target=None):
        self.log.append(name)
        len(self)

finder = Finder()
sys.meta_path.insert(0, finder)

class Scale:
    factor = 2.0

scale = Scale()

@fuse_jit(fullgraph=True)
def function(a, b, rest):
    return linalg.matmul(a * scale.factor, b, **rest)

print(function(np.ones((2, 3)), np.ones((3, 2)), {})[0, 0])
assert "fusejit.tracer.np.structured_ops" in finder.log
"""


def test_import_hooks_that_run_while_an_op_is_traced(tmp_path):
    """The first traced call loads a module: hooks of imports are no part of the program."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("6.0\n", 0), done.stderr


# ---------------------------------------------------------------------------------------- numbers
def test_numbers_of_the_call_are_operands():
    x = np.arange(6.0).reshape(2, 3)
    add = fused(lambda a, b: linalg.add(a, b))
    for one, other in ((x, 2.0), (2.0, x), (x, 3), (x.astype("f4"), 0.5), (np.float64(2), x)):
        assert_result(add(one, other), np.add(one, other), f"{one} {other}")
    assert_result(add(2.0, 3.0), np.float64(5), "two numbers")


@pytest.mark.parametrize("start", [3, 3.5, np.float32(3.5), np.float64(3.5), np.array(3.5), 2**40])
def test_numbers_of_the_call_are_starts(start):
    """A Python number has no type of its own; one of NumPy's is that of a result without axes."""
    x = np.arange(6, dtype="f4").reshape(2, 3)
    dot = fused(lambda a, b, s: linalg.dot(a, b, init=s))
    dtype = getattr(start, "dtype", np.dtype("f4"))
    expected = np.asarray(np.asarray(start, dtype) + np.asarray(x[0] @ x[1], dtype), dtype)
    assert_result(dot(x[0], x[1], start), expected, "compiled")
    assert_result(linalg.dot.reference(x[0], x[1], init=start), expected, "reference")
    matmul = fused(lambda a, b, s: linalg.matmul(a, b, init=s))
    expected = np.asarray(x @ x.T + np.float32(start), "f4")
    assert_result(matmul(x, x.T, start), expected, "compiled")
    assert_result(linalg.matmul.reference(x, x.T, init=start), expected, "reference")


def test_numbers_of_the_call_are_attributes():
    image, kernel = np.arange(12.0), np.ones((2, 1, 1))
    every = fused(
        lambda i, k, s: linalg.conv_1d_nwc_wcf(i.reshape(1, -1, 1), k, strides=s).reshape(-1)
    )
    pairs = image[:-1] + image[1:]
    for stride in (1, 2, 3):
        assert_result(every(image, kernel, stride), pairs[::stride], f"stride {stride}")


# ---------------------------------------------------------------------------------- complex numbers
@pytest.mark.parametrize("dtype", ["c16", "c8"])
def test_sums_of_complex_numbers(dtype):
    x = (np.arange(6).reshape(2, 3) * (1 + 2j)).astype(dtype)
    start = np.full((2, 2), 1 + 2j, dtype)
    for run in (linalg.matmul, linalg.matmul.reference, fused(linalg.matmul.entry.__wrapped__)):
        assert_result(run(x, x.T), x @ x.T, f"{run}")
        assert_result(run(x, x.T, init=start), x @ x.T + start, f"{run} init=")
        assert_result(run(x, x.T, init=1 + 2j), x @ x.T + start, f"{run} init= a number")
    for run in (linalg.dot, linalg.dot.reference):
        assert_result(run(x[0], x[1]), x[0] @ x[1], f"{run}")


# ------------------------------------------------------------------------- what differs from NumPy
def test_the_sign_of_true_and_of_unsigned_dtypes():
    yes, no = np.array([True, True, False]), np.array([True, False, False])
    wide = np.array([200, 7, 255], np.uint8)
    negative = wide.view(np.int8)
    i4 = np.dtype("i4")
    for name, args, keywords, expected in (
        ("max", (yes, no), {}, yes & no),
        ("min", (yes, no), {}, yes | no),
        ("copy", (yes,), {"dtype": i4}, np.array([-1, -1, 0], i4)),
        ("copy", (yes,), {"dtype": i4, "cast": "cast_unsigned"}, np.array([1, 1, 0], i4)),
        ("copy", (negative,), {"dtype": i4}, negative.astype(i4)),
        ("copy", (negative,), {"dtype": i4, "cast": "cast_unsigned"}, wide.astype(i4)),
        ("copy", (wide,), {"dtype": i4}, wide.astype(i4)),  # the dtype says the sign
        ("max", (wide, wide[::-1].copy()), {}, np.maximum(wide, wide[::-1])),
        ("div", (wide, np.full(3, 3, np.uint8)), {}, wide // 3),
        ("div", (negative, np.full(3, 3, np.int8)), {}, np.array([-18, 2, 0], np.int8)),
        ("div_unsigned", (negative, np.full(3, 3, np.int8)), {}, (wide // 3).view(np.int8)),
    ):
        op = linalg.OPS[name]
        assert_result(op.reference(*args, **keywords), expected, f"{name} reference")
        assert_result(op(*args, **keywords), expected, f"{name} {keywords}")


def test_halves_are_rounded_away_from_zero():
    x = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49999999999999994, -0.0, np.inf, np.nan])
    expected = np.array([-3.0, -2, -1, 1, 2, 3, 0, -0.0, np.inf, np.nan])
    for run in (linalg.round, linalg.round.reference):
        assert_result(run(x), expected, f"{run}")
        assert np.signbit(run(x)[7])


@pytest.mark.parametrize("cast", ["cast_signed", "cast_unsigned"])
def test_batch_reduce_matmul_casts_as_it_says(cast):
    """MLIR 24 ignores the attribute; here it has the meaning that it has elsewhere."""
    a = np.array([[[-1, 2]], [[3, -4]]], np.int8)
    b = np.array([[[5], [6]], [[7], [8]]], np.int8)
    x = a.view(np.uint8) if cast == "cast_unsigned" else a
    expected = np.einsum("bmk,bkn->mn", x.astype(np.int32), b.astype(np.int32))
    for run in (linalg.batch_reduce_matmul, linalg.batch_reduce_matmul.reference):
        assert_result(run(a, b, cast=cast, dtype=np.int32), expected, cast)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "?"])
def test_a_library_call_starts_from_what_is_given(dtype):
    """BLAS computes the product of floats; the start is added, also where sums run in order."""
    a, b = np.ones((2, 3, 4), dtype), np.ones((2, 4, 3), dtype)
    start = np.ones((3, 3), dtype)
    expected = np.full((3, 3), 9 if dtype != "?" else True, dtype)
    run = fused(lambda a, b, s: linalg.batch_reduce_matmul(a, b, init=s))
    assert_result(run(a, b, start), expected, "init=")
    out = start.copy()
    assert linalg.batch_reduce_matmul(a, b, out=out) is out
    assert_result(out, expected, "out=")


# ----------------------------------------------------------------------------------- winograd
WINOGRAD = {
    "winograd_filter_transform": ("F_2_3", (2, 3, 3, 2)),
    "winograd_input_transform": ("F_4_3", (1, 10, 1, 2)),
    "winograd_output_transform": ("F_2_5", (6, 6, 2, 1, 1, 2)),
}


@pytest.mark.parametrize("name", WINOGRAD)
def test_a_winograd_transform_is_one_op_of_the_graph(name):
    """Its matrices are constants of the graph, made while the call is traced."""
    fmr, shape = WINOGRAD[name]
    x = np.arange(float(np.prod(shape))).reshape(shape)
    transform = getattr(linalg, name)
    f = fused(lambda x: transform(x * 2, fmr=fmr) + 1)
    assert_result(f(x), transform(x * 2, fmr=fmr) + 1, name)
    graph = str(f.trace(x))
    assert graph.count(f'generic "{name}"') == 1
    assert graph.count("= const:") == 2
