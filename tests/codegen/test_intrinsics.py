"""Intrinsics three ways: NumPy, the Python implementation and the kernel have the same bits."""

import operator
import re
import subprocess
import sys

import numpy as np
import pytest

from fusejit.codegen.backend.compile import ArgType, Kernel, compile_kernel
from fusejit.codegen.intrinsics.arithmetic import TOKENS
from fusejit.codegen.intrinsics.intrinsic_table import (
    DTYPE_TOKENS,
    INTRINSICS,
    load_providers,
    register,
)
from fusejit.codegen.intrinsics.raw_memory import (
    flat,
    free_scratch,
    get,
    heap_scratch,
    put,
    scratch,
)
from fusejit.codegen.machine.probe import probe
from fusejit.ir.scalar_ops.evaluation import FITS

INTEGERS = [name for name, dtype in DTYPE_TOKENS.items() if dtype.kind in "iu"]
FLOATS = ["f32", "f64"]


def compile_for(source, *arguments, **options) -> Kernel:
    """Compile a text for arguments like these, without the disk cache."""
    signature = tuple(
        ArgType("array", a.dtype, a.ndim)
        if isinstance(a, np.ndarray)
        else ArgType("scalar", np.asarray(a).dtype)
        for a in arguments
    )
    return compile_kernel(source, signature, cache_enabled=False, **options)


def run_both(source, outputs, *inputs):
    """Run jitted and unjitted into copies of `outputs`; the bits must agree; returns the jitted."""
    kernel = compile_for(source, *outputs, *inputs)
    jitted = [o.copy() for o in outputs]
    unjitted = [o.copy() for o in outputs]
    assert kernel.call(*jitted, *inputs) == 0
    assert kernel.python(*unjitted, *inputs) == 0
    for a, b in zip(jitted, unjitted, strict=True):
        np.testing.assert_array_equal(a.view(np.uint8), b.view(np.uint8))
    return jitted


def assert_same_bits(actual, expected):
    """Equal, with NaN equal to NaN and -0.0 different from 0.0."""
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(actual, expected)
    if actual.dtype.kind == "f":
        numbers = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(actual[numbers]), np.signbit(expected[numbers]))


def integer_samples(dtype):
    info = np.iinfo(dtype)
    wanted = [info.min, info.min + 1, -128, -65, -7, -2, -1, 0, 1, 2, 3, 7, 8, 31, 32, 63, 64, 65]
    wanted += [100, info.max // 2, info.max - 1, info.max]
    return np.array([v for v in dict.fromkeys(wanted) if info.min <= v <= info.max], dtype)


def float_samples(dtype):
    info = np.finfo(dtype)
    positive = [0.0, info.smallest_subnormal, info.tiny, 1e-3, 0.1, 0.5, 1.0, 1.5, 2.0, 3.0, 7.3]
    positive += [1e3, 2.0**31, 2.0**32, 2.0**53, 2.0**63, 2.0**64, info.max, np.inf]
    return np.array([*positive, *(-v for v in positive), np.nan], dtype)


def pairs(values):
    first, second = np.meshgrid(values, values)
    return first.ravel().copy(), second.ravel().copy()


# -- memory ----------------------------------------------------------------------

COPY_2D = """
def kernel(o, a):
    p_a = flat(a)
    p_o = flat(o)
    st0 = a.strides[0] // 8
    st1 = a.strides[1] // 8
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            put(p_o, i * o.shape[1] + j, get(p_a, i * st0 + j * st1))
    return 0
"""

VIEWS = {
    "C": lambda x: x,
    "F": lambda x: x.T,
    "reversed": lambda x: x[::-1, ::-1],
    "strided": lambda x: x[::2, 1::2],
    "broadcast": lambda x: np.broadcast_to(x[:1], (3, x.shape[1])),
    "empty": lambda x: x[:0],
    "mixed": lambda x: x[::-2, ::3],
}


@pytest.mark.parametrize("view", VIEWS)
def test_offsets_reach_every_layout(view):
    a = VIEWS[view](np.arange(60.0).reshape(6, 10))
    (out,) = run_both(COPY_2D, [np.empty(a.shape)], a)
    assert_same_bits(out, a)


COPY_1D = """
def kernel(o, a):
    for i in range(a.shape[0]):
        put(flat(o), i, get(flat(a), i))
    return 0
"""


@pytest.mark.parametrize("name", DTYPE_TOKENS)
def test_get_and_put_keep_the_dtype(name):
    dtype = DTYPE_TOKENS[name]
    a = np.array([0, 1, 1, 0, 1], dtype)
    (out,) = run_both(COPY_1D, [np.zeros(5, dtype)], a)
    assert_same_bits(out, a)
    assert type(get(flat(a), 1)) is dtype.type


@pytest.mark.parametrize("offset", [-1, 4, 5])
def test_python_implementation_refuses_what_is_out_of_bounds(offset):
    a = np.arange(8.0)[4:]
    with pytest.raises(IndexError, match="outside the memory"):
        get(flat(a), offset)
    with pytest.raises(IndexError, match="outside the memory"):
        put(flat(a), offset, np.float64(1))


def test_python_implementation_reads_below_the_first_element_of_a_reversed_array():
    a = np.arange(12.0).reshape(3, 4)[::-1, ::-1]
    assert [get(flat(a), -k) for k in range(12)] == list(range(11, -1, -1))
    with pytest.raises(IndexError):
        get(flat(a), 1)


def test_put_converts_nothing():
    source = "def kernel(o, c):\n    put(flat(o), 0, c)\n    return 0\n"
    with pytest.raises(Exception, match="cast it first"):
        compile_for(source, np.zeros(1, np.float32), 1.0)
    with pytest.raises(TypeError, match="float64 into memory of float32"):
        put(flat(np.zeros(1, np.float32)), 0, 1.0)


SCOPED = """
def body(lo, hi, p_a, p_b, p_o):
    for i in range(lo, hi):
        put(p_o, i, get(p_a, i) * get(p_b, i) + get(p_a, i))

def kernel(o, a, b):
    p_a = FLAT(a, 1)
    p_b = FLAT(b, 2)
    p_o = FLAT(o, 3)
    body(0, a.shape[0], p_a, p_b, p_o)
    return 0
"""


def test_alias_scopes_save_the_run_time_checks():
    a, b = np.random.default_rng(1).random((2, 1000))
    unscoped = re.sub(r"FLAT\((\w), \d\)", r"flat(\1)", SCOPED)
    scoped = SCOPED.replace("FLAT", "flat_scoped")
    assert "memcheck" in compile_for(unscoped, a, a, b).llvm()
    kernel = compile_for(scoped, a, a, b)
    assert "memcheck" not in kernel.llvm()
    assert "vector.body" in kernel.llvm()
    (out,) = run_both(scoped, [np.empty(1000)], a, b)
    assert_same_bits(out, a * b + a)


def test_pointers_of_one_scope_may_meet():
    source = """
def kernel(o):
    p = flat_scoped(o, 1)
    for i in range(1, o.shape[0]):
        put(p, i, get(p, i - 1) + get(p, i))
    return 0
"""
    (out,) = run_both(source, [np.ones(100)])
    assert_same_bits(out, np.arange(1.0, 101.0))


def test_vector_width_option():
    a, b = np.ones((2, 10))
    kernels = [
        compile_for(SCOPED.replace("FLAT", "flat_scoped"), a, a, b, vector_width=w)
        for w in (0, 128)
    ]
    assert '"prefer-vector-width"="128"' in kernels[1].llvm()
    assert '"prefer-vector-width"' not in kernels[0].llvm()
    assert kernels[0].name != kernels[1].name


SCRATCH = """
def row(lo, hi, p_a, p_o, n):
    p_s = scratch(64, f32, 3)
    for i in range(lo, hi):
        for j in range(64):
            put(p_s, j, f32(0.0))
        for j in range(n):
            k = j % 64
            put(p_s, k, f32(get(p_s, k) + get(p_a, i * n + j)))
        total = get(p_s, 0)
        for j in range(1, 64):
            total = f32(total + get(p_s, j))
        put(p_o, i, total)

def kernel(o, a):
    row(0, a.shape[0], flat_scoped(a, 1), flat_scoped(o, 2), a.shape[1])
    return 0
"""


def test_stack_scratch():
    a = np.random.default_rng(2).random((5, 333), np.float32)
    (out,) = run_both(SCRATCH, [np.empty(5, np.float32)], a)
    np.testing.assert_allclose(out, a.sum(axis=1), rtol=1e-5)


HEAP = """
def kernel(o, a):
    n = a.shape[0]
    p = heap_scratch(n, i32)
    if is_null(p):
        return 9
    for i in range(n):
        put(p, i, i32(get(flat(a), n - 1 - i)))
    for i in range(n):
        put(flat(o), i, get(p, i))
    free_scratch(p)
    return 0
"""


@pytest.mark.parametrize("n", [0, 1, 1000])
def test_heap_scratch(n):
    a = np.arange(n, dtype=np.int32)
    (out,) = run_both(HEAP, [np.empty(n, np.int32)], a)
    assert_same_bits(out, a[::-1])


def test_scratch_python_implementations_hold_garbage_and_have_bounds():
    memory = scratch(4, TOKENS["f64"])
    assert np.isnan(get(memory, 3))
    with pytest.raises(IndexError):
        get(memory, 4)
    with pytest.raises(ValueError, match="heap_scratch"):
        scratch(4096, TOKENS["f64"])
    heap = heap_scratch(3, TOKENS["u8"])
    assert get(heap, 0) == 0x5A
    free_scratch(heap)
    with pytest.raises(IndexError):
        get(heap, 0)


ADDRESSES = """
def kernel(o, a):
    put(flat(o), 0, low_address(a) - address(a))
    put(flat(o), 1, high_address(a) - address(a))
    put(flat(o), 2, i64(itemsize_aligned(a)))
    return 0
"""


@pytest.mark.parametrize("view", VIEWS)
def test_byte_bounds(view):
    a = VIEWS[view](np.arange(60.0).reshape(6, 10))
    (out,) = run_both(ADDRESSES, [np.empty(3, np.int64)], a)
    low, high = np.lib.array_utils.byte_bounds(a)
    start = a.__array_interface__["data"][0]
    expected = [0, 0, 1] if a.size == 0 else [low - start, high - start, 1]
    assert out.tolist() == expected


def test_alignment_is_seen_in_address_and_strides():
    raw = np.zeros(200, np.uint8)
    shifted = raw[1:161].view(np.float64)
    strided = np.ndarray((3,), np.float64, raw, 0, (12,))
    for a in (shifted, strided):
        (out,) = run_both(ADDRESSES, [np.empty(3, np.int64)], a)
        assert out[2] == 0


# -- arithmetic ------------------------------------------------------------------


def binary_source(name):
    return (
        "def kernel(o, a, b):\n    for i in range(a.shape[0]):\n"
        f"        put(flat(o), i, {name}(get(flat(a), i), get(flat(b), i)))\n    return 0\n"
    )


BINARY = {
    "int_floordiv": np.floor_divide,
    "int_mod": np.remainder,
    "scalar_floordiv": np.floor_divide,
    "scalar_mod": np.remainder,
    "near_mod": np.remainder,
    "shift_left": np.left_shift,
    "shift_right": np.right_shift,
}


@pytest.mark.parametrize("dtype_name", INTEGERS)
@pytest.mark.parametrize("name", BINARY)
def test_integer_arithmetic_is_numpys(name, dtype_name):
    a, b = pairs(integer_samples(DTYPE_TOKENS[dtype_name]))
    (out,) = run_both(binary_source(name), [np.empty_like(a)], a, b)
    with np.errstate(all="ignore"):
        assert_same_bits(out, BINARY[name](a, b))


@pytest.mark.parametrize("dtype_name", INTEGERS)
def test_integer_power_abs_and_negative(dtype_name):
    dtype = DTYPE_TOKENS[dtype_name]
    a, b = pairs(integer_samples(dtype))
    a, b = a[b >= 0].copy(), b[b >= 0].copy()
    source = """
def kernel(o_pow, o_abs, o_neg, a, b):
    for i in range(a.shape[0]):
        put(flat(o_pow), i, int_pow(get(flat(a), i), get(flat(b), i)))
        put(flat(o_abs), i, int_abs(get(flat(a), i)))
        put(flat(o_neg), i, int_neg(get(flat(a), i)))
    return 0
"""
    power, absolute, negative = run_both(source, [np.empty_like(a) for _ in range(3)], a, b)
    with np.errstate(all="ignore"):
        assert_same_bits(power, a**b)
        assert_same_bits(absolute, np.abs(a))
        assert_same_bits(negative, np.negative(a))


@pytest.mark.parametrize("kind", ["int", "scalar"])
@pytest.mark.parametrize("dtype_name", INTEGERS)
def test_division_by_constants(dtype_name, kind):
    dtype = DTYPE_TOKENS[dtype_name]
    a = integer_samples(dtype)
    divisors = [1, 2, 3, 7, 10, 64, 100, np.iinfo(dtype).max]
    if dtype.kind == "i":
        divisors += [-1, -2, -7]
    divisors = [d for d in divisors if d < 2**63] + [0]
    lines = ["def kernel(o, a):", "    for i in range(a.shape[0]):"]
    for row, divisor in enumerate(divisors):
        for half, name in enumerate((f"{kind}_floordiv", f"{kind}_mod")):
            at = f"{2 * row + half} * a.shape[0] + i"
            call = f"{name}(get(flat(a), i), {dtype_name}({divisor}))"
            lines.append(f"        put(flat(o), {at}, {call})")
    source = "\n".join([*lines, "    return 0\n"])
    (out,) = run_both(source, [np.empty((2 * len(divisors), len(a)), dtype)], a)
    with np.errstate(all="ignore"):
        for row, divisor in enumerate(divisors):
            assert_same_bits(out[2 * row], a // dtype.type(divisor))
            assert_same_bits(out[2 * row + 1], a % dtype.type(divisor))


@pytest.mark.parametrize("dtype_name", FLOATS)
@pytest.mark.parametrize(
    ("name", "ufunc"), [("float_floordiv", np.floor_divide), ("float_mod", np.remainder)]
)
def test_float_division_is_numpys(name, ufunc, dtype_name):
    dtype = DTYPE_TOKENS[dtype_name]
    a, b = pairs(float_samples(dtype))
    rng = np.random.default_rng(3)
    a = np.concatenate([a, (rng.standard_normal(500) * 1e3).astype(dtype)])
    b = np.concatenate([b, rng.standard_normal(500).astype(dtype)])
    (out,) = run_both(binary_source(name), [np.empty_like(a)], a, b)
    with np.errstate(all="ignore"):
        assert_same_bits(out, ufunc(a, b))


REALS = {name: dtype for name, dtype in DTYPE_TOKENS.items() if dtype.kind != "c"}
CASTS = (
    "def kernel("
    + ", ".join(f"o_{name}" for name in REALS)
    + ", a):\n    for i in range(a.shape[0]):\n        x = get(flat(a), i)\n"
    + "".join(f"        put(flat(o_{name}), i, cast(x, {name}))\n" for name in REALS)
    + "    return 0\n"
)


@pytest.mark.parametrize("source_name", REALS)
def test_casts_are_astype(source_name):
    dtype = DTYPE_TOKENS[source_name]
    if dtype.kind == "b":
        a = np.array([True, False])
    elif dtype.kind == "f":
        edges = [127.5, 128, 255.9, 256, 32768, 65536, 2.0**31 - 1, -(2.0**31) - 0.5, 3e9, 1e20]
        a = np.concatenate([float_samples(dtype), np.array([*edges, *(-e for e in edges)], dtype)])
    else:
        a = integer_samples(dtype)
    outputs = [np.empty(a.shape, target) for target in REALS.values()]
    for out, target in zip(run_both(CASTS, outputs, a), REALS.values(), strict=True):
        with np.errstate(all="ignore"):
            if dtype.kind == "f" and target == np.uint32:
                # NumPy's own answer depends on the position: take that of a single element.
                expected = np.array([x.astype(target) for x in a])
            else:
                expected = a.astype(target)
        assert_same_bits(out, expected)


@pytest.mark.parametrize(("source_dtype", "dtype"), [("f4", "i4"), ("f8", "i8")])
def test_casts_vectorise(source_dtype, dtype):
    if dtype == "i8" and probe().vector_bits < 256:
        pytest.skip("vectors of 128 bits have no conversion of two numbers")
    source = f"""
def kernel(o, a):
    p_o = flat_scoped(o, 1)
    p_a = flat_scoped(a, 2)
    for i in range(a.shape[0]):
        put(p_o, i, cast(get(p_a, i), {dtype[0]}{8 * int(dtype[1])}))
    return 0
"""
    kernel = compile_for(source, np.empty(3, dtype), np.empty(3, source_dtype))
    assert "vector.body" in kernel.llvm()


def test_tokens_cast_when_called():
    source = """
def kernel(o, a):
    for i in range(a.shape[0]):
        put(flat(o), i, i8(get(flat(a), i) + get(flat(a), i)))
    return 0
"""
    a = np.array([100, -128, 127, 5], np.int8)
    (out,) = run_both(source, [np.empty(4, np.int8)], a)
    with np.errstate(all="ignore"):
        assert_same_bits(out, a + a)


@pytest.mark.parametrize(("name", "dtype"), [("int_mod", np.float64), ("float_mod", np.int64)])
def test_operands_of_another_kind_are_refused(name, dtype):
    a = np.ones(2, dtype)
    with pytest.raises(Exception, match="operands are"):
        compile_for(binary_source(name), a, a, a)
    with pytest.raises(TypeError, match="operands are"):
        INTRINSICS[name].python_implementation(a[0], a[1])


def test_a_name_is_registered_once():
    load_providers()
    with pytest.raises(ValueError, match="registered twice"):
        register("get", None, "somewhere:else")


def test_every_intrinsic_has_a_doc_and_both_sides():
    load_providers()
    for entry in INTRINSICS.values():
        assert entry.doc
        assert entry.jit is not None


def test_the_python_implementations_do_not_import_numba():
    program = (
        "import sys; from fusejit.codegen.intrinsics.intrinsic_table import "
        "python_namespace; python_namespace();"
        "sys.exit('numba' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("name", FITS)
def test_whether_a_result_has_64_bits_is_what_python_says(name):
    a, b = pairs(integer_samples(np.dtype(np.int64)))
    (out,) = run_both(binary_source(f"{name}_fits"), [np.empty(a.shape, np.bool_)], a, b)
    compute = {"add": operator.add, "subtract": operator.sub, "multiply": operator.mul}[name]
    results = [compute(int(x), int(y)) for x, y in zip(a, b, strict=True)]
    assert out.tolist() == [-(2**63) <= r < 2**63 for r in results]
    assert 0 < out.sum() < len(out)
