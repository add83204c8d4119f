"""compile_kernel: calls, mismatches, both APIs, tracebacks, threads."""

import subprocess
import sys
import threading
import traceback

import numpy as np
import pytest

from fusejit.codegen.backend import numba_private
from fusejit.codegen.backend.compile import ArgType, compile_kernel

SCALE = """
def kernel(o, a, c):
    s0 = a.shape[0]
    if o.shape[0] != s0:
        return 1
    p_o = flat(o)
    p_a = flat(a)
    for i in range(s0):
        put(p_o, i, get(p_a, i) * c)
    return 0
"""

DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]


def vector(dtype="f8"):
    return ArgType("array", np.dtype(dtype), 1)


def scalar(dtype="f8"):
    return ArgType("scalar", np.dtype(dtype))


@pytest.fixture(scope="module", params=["private", "public"])
def scale(request):
    return compile_kernel(
        SCALE,
        (vector(), vector(), scalar()),
        cache_enabled=False,
        use_public_api=request.param == "public",
    )


def test_the_private_api_is_there():
    assert numba_private.private_api_works(), numba_private._missing_private_api()


def test_call_and_status(scale):
    a, out = np.arange(5.0), np.empty(5)
    assert scale.call(out, a, 2.0) == 0
    np.testing.assert_array_equal(out, 2 * a)
    assert scale.call(out[:3], a, 2.0) == 1
    assert scale.python(out[:3], a, 2.0) == 1
    assert type(scale.call(out, a, 2.0)) is int


def test_strided_arguments(scale):
    a, out = np.arange(10.0), np.zeros((5, 3))
    assert scale.call(np.ascontiguousarray(out[:, 1]), a[::2].copy(), 2.0) == 0


@pytest.mark.parametrize(
    "arguments",
    [
        lambda a: (a.copy(), a),
        lambda a: (a.copy(), a, 1.0, 2.0),
        lambda a: (a.astype("f4"), a, 1.0),
        lambda a: (a.copy(), a.view("i8"), 1.0),
        lambda a: (a.copy(), a.astype("M8[s]"), 1.0),
        lambda a: (a.copy(), a.astype(">f8"), 1.0),
        lambda a: (a.copy(), a.astype("c16"), 1.0),
        lambda a: (a.copy(), a.astype(object), 1.0),
        lambda a: (a.copy(), a.reshape(1, -1), 1.0),
        lambda a: (a.copy(), a.reshape(())[()] if a.size == 1 else a[0], 1.0),
        lambda a: (a.copy(), list(a), 1.0),
        lambda a: (a.copy(), None, 1.0),
        lambda a: (a.copy(), a, "x"),
        lambda a: (a.copy(), a, None),
        lambda a: (a.copy(), a, a),
        lambda a: (a.copy(), a, 1j),
    ],
)
def test_mismatched_arguments_run_nothing(scale, arguments):
    given = arguments(np.arange(4.0))
    before = given[0].copy()
    assert scale.call(*given) == -1
    np.testing.assert_array_equal(given[0], before)


def test_subclasses_are_refused():
    kernel = compile_kernel(SCALE, (vector(), vector(), scalar()), cache_enabled=False)
    a = np.arange(4.0)
    for other in (np.ma.masked_array(a), a.view(np.recarray)):
        assert kernel.call(a.copy(), other, 1.0) == -1


@pytest.mark.parametrize("dtype", DTYPES)
def test_scalars_of_every_dtype(dtype):
    source = "def kernel(o, c):\n    put(flat(o), 0, c)\n    return 0\n"
    kernel = compile_kernel(source, (vector(dtype), scalar(dtype)), cache_enabled=False)
    kind = np.dtype(dtype).kind
    if kind == "b":
        values = [True, False, np.True_]
    elif kind == "f":
        values = [1.5, -0.0, np.inf, 3, np.float32(0.1), np.float64(-1.0), np.int8(4)]
    else:
        info = np.iinfo(dtype)
        values = [0, 1, info.min, info.max, np.int64(7), np.dtype(dtype).type(info.max)]
    for value in values:
        jitted, unjitted = np.zeros((2, 1), dtype)
        assert kernel.call(jitted, value) == 0
        assert kernel.python(unjitted, value) == 0
        assert jitted[0] == unjitted[0] == np.dtype(dtype).type(value)


def test_integers_that_do_not_fit_are_a_mismatch():
    source = "def kernel(o, c):\n    put(flat(o), 0, c)\n    return 0\n"
    for dtype, bad in (("i8", [2**63, -(2**63) - 1, 1.5, "1"]), ("u8", [2**64, -1, 1.5])):
        kernel = compile_kernel(source, (vector(dtype), scalar(dtype)), cache_enabled=False)
        out = np.zeros(1, dtype)
        for value in bad:
            assert kernel.call(out, value) == -1
        assert out[0] == 0
        assert kernel.call(out, -1 if dtype == "i8" else 2**64 - 1) == 0


def test_no_references_leak():
    kernel = compile_kernel(SCALE, (vector(), vector(), scalar()), cache_enabled=False)
    a, out, number = np.arange(5.0), np.empty(5), 2.5
    before = [sys.getrefcount(x) for x in (a, out, number)]
    for _ in range(1000):
        kernel.call(out, a, number)
        kernel.call(out, a, "x")
        kernel.call(out, [a], number)
    assert [sys.getrefcount(x) for x in (a, out, number)] == before


def test_zero_dimensional_arrays():
    source = "def kernel(o, a):\n    put(flat(o), 0, get(flat(a), 0))\n    return 0\n"
    zero_d = ArgType("array", np.dtype("f8"), 0)
    kernel = compile_kernel(source, (zero_d, zero_d), cache_enabled=False)
    out = np.zeros(())
    assert kernel.call(out, np.array(3.5)) == 0
    assert out == 3.5


def test_names_come_from_content():
    signature = (vector(), vector(), scalar())
    first, again = (compile_kernel(SCALE, signature, cache_enabled=False) for _ in range(2))
    other = compile_kernel(SCALE.replace("* c", "+ c"), signature, cache_enabled=False)
    assert first.name == again.name != other.name
    a, out = np.arange(3.0), np.empty(3)
    other.call(out, a, 10.0)
    np.testing.assert_array_equal(out, a + 10)
    again.call(out, a, 10.0)
    np.testing.assert_array_equal(out, a * 10)


def test_inspection(scale):
    assert "define" in scale.llvm()
    assert ".globl" in scale.asm()
    assert scale.source == SCALE
    assert scale.compile_seconds > 0
    assert not scale.from_cache


def test_the_texts_lines_show_in_tracebacks():
    source = "def kernel(o):\n    put(flat(o), 5, 1.0)  # out of bounds\n    return 0\n"
    kernel = compile_kernel(source, (vector(),), cache_enabled=False)
    with pytest.raises(IndexError) as caught:
        kernel.python(np.empty(3))
    assert "# out of bounds" in "".join(traceback.format_exception(caught.value))


def test_integer_overflow_is_silent_in_python():
    source = """
def kernel(o, a):
    for i in range(a.shape[0]):
        x = get(flat(a), i)
        put(flat(o), i, i32(x * x))
    return 0
"""
    kernel = compile_kernel(source, (vector("i4"), vector("i4")), cache_enabled=False)
    a = np.array([2**30, -(2**31), 65536, 3], np.int32)
    jitted, unjitted = np.zeros((2, 4), np.int32)
    kernel.call(jitted, a)
    kernel.python(unjitted, a)
    np.testing.assert_array_equal(jitted, unjitted)


def test_eight_threads_compile_at_once():
    kernels = {}

    def work(k):
        source = SCALE.replace("* c", f"* c + {float(k)}")
        kernels[k] = compile_kernel(source, (vector(), vector(), scalar()), cache_enabled=False)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    a, out = np.arange(3.0), np.empty(3)
    for k in range(8):
        kernels[k].call(out, a, 2.0)
        np.testing.assert_array_equal(out, a * 2 + k)


def test_a_child_forked_during_a_compile_compiles_nothing():
    """It does not wait for locks of Numba's or LLVM's, which threads may hold that it has not."""
    program = f"""
import os, signal, threading
import numpy as np
from fusejit.codegen.backend.compile import ArgType, compile_kernel
from fusejit.errors import CutShort
v = ArgType("array", np.dtype("f8"), 1)
signature = (v, v, ArgType("scalar", np.dtype("f8")))
def make(k):
    return compile_kernel({SCALE!r} + "# " + str(k), signature, cache_enabled=False)
first = make(0)
thread = threading.Thread(target=lambda: [make(k) for k in range(1, 8)])
thread.start()
for k in range(3):
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        a, out = np.arange(3.0), np.empty(3)
        try:
            kernel = make(100 + k)
        except CutShort:
            kernel = first
        kernel.call(out, a, 2.0)
        os._exit(not (out == 2 * a).all())
    assert os.waitpid(child, 0)[1] == 0
thread.join()
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_python_kernels_need_neither_numba_nor_llvm():
    program = f"""
import sys
import numpy as np
from fusejit.codegen.backend.compile import ArgType, python_kernel
v = ArgType("array", np.dtype("f8"), 1)
run = python_kernel({SCALE!r}, (v, v, ArgType("scalar", np.dtype("f8"))))
a, out = np.arange(3.0), np.empty(3)
assert run(out, a, 2.0) == 0 and (out == 2 * a).all()
assert not {{"numba", "llvmlite"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_missing_private_api_falls_back_to_njit(monkeypatch):
    monkeypatch.setattr(numba_private, "_missing_private_api", lambda: "taken away")
    source = """
def body(lo, hi, p_o):
    for i in range(lo, hi):
        put(p_o, i, f64(i))

def kernel(o):
    parallel_for(body, o.shape[0], 10**9, flat(o))
    return 0
"""
    kernel = compile_kernel(source, (vector(),), cache_enabled=False)
    out = np.empty(100_000)
    assert kernel.call(out) == 0
    np.testing.assert_array_equal(out, np.arange(1e5))
    assert "define" in kernel.llvm()


def test_compiling_does_not_import_scipy_and_blas_stays_possible():
    program = f"""
import sys
import numpy as np
from fusejit.codegen.backend.compile import ArgType, compile_kernel
v = ArgType("array", np.dtype("f8"), 1)
compile_kernel({SCALE!r}, (v, v, ArgType("scalar", np.dtype("f8"))), cache_enabled=False)
assert "scipy.linalg" not in sys.modules  # Numba itself asks SciPy for its version
from numba.np import arraymath, linalg
assert arraymath.ensure_blas is linalg.ensure_blas
assert linalg.ensure_blas.__name__ == "ensure_blas"
"""
    subprocess.run([sys.executable, "-c", program], check=True)
