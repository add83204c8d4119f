"""Names, Python implementations and machine code of the math functions."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from fusejit import fuse_jit
from fusejit.codegen.intrinsics import vector_math
from fusejit.codegen.intrinsics.intrinsic_table import INTRINSICS
from fusejit.codegen.intrinsics_jit import vector_math as jitted
from fusejit.codegen.machine import probe as probing
from fusejit.codegen.machine.probe import VectorSupport, probe
from fusejit.dataclass import replace
from fusejit.ir.scalar_ops.scalar_op_table import MATH_FUNCTIONS
from fusejit_testing.external_symbols import external_symbols

FLOATS = (np.float32, np.float64)
NUMBERS = (*FLOATS, np.int8, np.int32, np.int64, np.uint8, np.uint64, np.bool_)
EDGES = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -2.5, 2.5, 1e30, -1e-40]

needs_avx512 = pytest.mark.skipif(probe().vector_bits < 512, reason="needs AVX-512")
needs_libmvec = pytest.mark.skipif(not probe().forms, reason="needs libmvec")


def loop(function: Any, arity: int = 1) -> Any:
    if arity == 1:

        def unary(x, out):
            for i in range(x.size):
                out[i] = function(x[i])

        return njit(error_model="numpy")(unary)

    def binary(x, y, out):
        for i in range(x.size):
            out[i] = function(x[i], y[i])

    return njit(error_model="numpy")(binary)


def narrowed(bits: int) -> VectorSupport:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FUSEJIT_VECTOR_BITS", str(bits))
        return probing.detect()


def vector_calls(dispatcher: Any) -> set[str]:
    (text,) = dispatcher.inspect_asm().values()
    return set(re.findall(r"_ZGV\w+|__svml_\w+", text))


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal in every bit, but any NaN is any other."""
    nan = np.isnan(a) & np.isnan(b) if a.dtype.kind == "f" else np.zeros(a.shape, bool)
    words = f"u{a.itemsize}"
    return a.dtype == b.dtype and bool(np.all((a.view(words) == b.view(words)) | nan))


def test_every_name_is_registered_with_a_python_implementation_and_a_jitted_meaning() -> None:
    names = (*MATH_FUNCTIONS, *vector_math.EXACT_FUNCTIONS, *vector_math.EXTREMA)
    for name in names:
        assert INTRINSICS[name].jit is getattr(jitted, name)
        assert INTRINSICS[name].python_implementation.__name__ == name
    with pytest.raises(AttributeError, match="nonsense"):
        _ = jitted.nonsense


def test_the_python_implementation_side_does_not_import_numba() -> None:
    code = (
        "import sys, fusejit.codegen.intrinsics.vector_math\n"
        "import fusejit.codegen.machine.probe as p; p.probe()\n"
        "sys.exit('numba' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# Vectorisation


@needs_avx512
def test_a_fused_loop_calls_512_bit_functions() -> None:
    exp, sin = jitted.exp, jitted.sin
    kernel = loop(njit(lambda v: exp(v) * sin(v)))
    kernel(np.ones(4), np.ones(4))
    forms = [probe().form(name, "f64") for name in ("exp", "sin")]
    assert all(form is not None and form.bits == 512 for form in forms)
    assert {form.symbol for form in forms if form is not None} <= vector_calls(kernel)


@pytest.mark.skipif(probe().vector_bits < 256, reason="needs AVX2")
@pytest.mark.parametrize(("dtype", "symbol"), [("f4", "_ZGVdN8v_expf"), ("f8", "_ZGVdN4v_exp")])
def test_a_machine_without_avx512_calls_256_bit_functions(dtype: str, symbol: str) -> None:
    kernel = loop(jitted.library_intrinsic("exp", narrowed(256)))
    kernel(np.ones(4, dtype), np.ones(4, dtype))
    assert vector_calls(kernel) == {symbol}


@needs_libmvec
def test_an_out_of_line_body_called_from_another_kernel_vectorises() -> None:
    body = loop(jitted.exp)

    @njit(error_model="numpy")
    def caller(x, out):
        body(x, out)

    caller(np.ones(4), np.ones(4))
    assert external_symbols("exp", "f64")[0] in vector_calls(caller)


@pytest.mark.skipif(probe().vector_bits < 256, reason="vectors of 128 bits need no alignment")
def test_vector_registers_are_spilled_to_an_aligned_stack() -> None:
    kernel = loop(jitted.exp)
    kernel(np.ones(4), np.ones(4))
    (text,) = kernel.inspect_asm().values()
    assert "$-64, %rsp" in text[text.index(f"{kernel.py_func.__name__}") :]


@pytest.mark.skipif(probe().vector_bits < 512, reason="no registers of 512 bits")
@pytest.mark.parametrize("dtype", FLOATS)
def test_a_kernel_that_calls_wide_functions_asks_for_wide_registers(dtype: Any) -> None:
    """LLVM prefers 256 bits on many Intel processors: half of each call was thrown away."""
    log = loop(jitted.log)
    log(np.ones(4, dtype), np.ones(4, dtype))
    (text,) = log.inspect_llvm().values()
    form = probe().form("log", f"f{np.dtype(dtype).itemsize * 8}")
    assert ('"prefer-vector-width"="512"' in text) == (form is not None and form.bits == 512)


@needs_libmvec
def test_a_call_under_a_condition_vectorises() -> None:
    log = jitted.log

    @njit(error_model="numpy")
    def kernel(x, out):
        for i in range(x.size):
            if x[i] > 0:
                out[i] = log(x[i])
            else:
                out[i] = x[i]

    x = np.linspace(-1, 1, 1001)
    out = np.empty_like(x)
    kernel(x, out)
    (text,) = kernel.inspect_asm().values()
    calls = len(re.findall(re.escape(external_symbols("log", "f64")[0]), text))
    alone = len(re.findall(r"\bfj_log_\w+_n\d+:|\bfj_log_[a-z0-9]+:", text))
    assert calls > alone  # the definitions of the other widths hold one call each
    with np.errstate(all="ignore"):
        np.testing.assert_array_max_ulp(out, np.where(x > 0, np.log(x), x), 4)


@needs_libmvec
def test_a_loop_of_mixed_dtypes_gives_the_bits_of_unmixed_loops() -> None:
    exp, sin = jitted.exp, jitted.sin

    @njit(error_model="numpy")
    def mixed(x, out):
        for i in range(x.size):
            out[i] = exp(np.float64(x[i])) + np.float64(sin(x[i]))

    x = np.random.default_rng(0).normal(size=1003).astype(np.float32)
    wide, narrow, out = np.empty(x.size), np.empty_like(x), np.empty(x.size)
    loop(exp)(x.astype(np.float64), wide)
    loop(sin)(x, narrow)
    mixed(x, out)
    assert same_bits(out, wide + narrow)


@needs_libmvec
def test_object_code_from_the_disk_cache_calls_the_vector_functions(tmp_path: Path) -> None:
    (tmp_path / "cached_kernel.py").write_text(
        textwrap.dedent("""
            import sys, numpy as np
            from numba import njit
            from fusejit.codegen.intrinsics_jit.vector_math import exp

            @njit(error_model="numpy", cache=True)
            def kernel(x, out):
                for i in range(x.size):
                    out[i] = exp(x[i])

            x = np.linspace(-3.0, 3.0, 1001)
            out = np.empty_like(x)
            kernel(x, out)
            print(sum(kernel.stats.cache_hits.values()), hash(out.tobytes()))
        """)
    )
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.pathsep.join([str(tmp_path), str(Path(probing.__file__).parents[3])]),
    }
    answers = [
        subprocess.run(
            [sys.executable, "-c", "import cached_kernel"],
            env=environment, check=True, capture_output=True, text=True,
        ).stdout.split()
        for _ in range(2)
    ]  # fmt: skip
    assert [hits for hits, _ in answers] == ["0", "1"]
    assert answers[0][1] == answers[1][1]
    (object_file,) = (tmp_path / "cache").rglob("*.nbc")
    assert external_symbols("exp", "f64")[0].encode() in object_file.read_bytes()


# Probing


def test_without_libmvec_every_function_is_a_scalar_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSEJIT_NO_LIBMVEC", "1")
    support = probing.detect()
    assert (support.vector_bits, support.forms, support.libraries) == (0, (), ())
    assert not support.has_vector("exp", "f64")
    assert external_symbols("arctan2", "f32", support) == ("atan2f",)
    kernel = loop(jitted.library_intrinsic("exp", support))
    x, out = np.linspace(-3, 3, 101), np.empty(101)
    kernel(x, out)
    assert vector_calls(kernel) == set()
    np.testing.assert_array_max_ulp(out, np.exp(x), 4)


def test_a_missing_library_counts_as_no_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "LIBMVEC", "libmvec-is-not-here.so")
    monkeypatch.setattr(probing, "NUMPY_CORE", "no.such.module")
    assert probing.detect().forms == ()


def test_svml_stands_in_for_libmvec_and_the_other_way_round(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if "__svml_pow8" not in external_symbols("power", "f64"):
        pytest.skip("this NumPy has no SVML, or this CPU no AVX-512")
    monkeypatch.setenv("FUSEJIT_NO_SVML", "1")
    assert external_symbols("power", "f64", probing.detect()) == ("_ZGVeN8vv_pow",)
    monkeypatch.delenv("FUSEJIT_NO_SVML")
    monkeypatch.setattr(probing, "LIBMVEC", "libmvec-is-not-here.so")
    support = probing.detect()
    assert external_symbols("exp", "f64", support) == ("__svml_exp8",)
    assert external_symbols("erf", "f64", support) == ("erf",)
    assert len(support.libraries) == 1
    kernel = loop(jitted.library_intrinsic("exp", support))
    x, out = np.linspace(-3, 3, 101), np.empty(101)
    kernel(x, out)
    assert vector_calls(kernel) == {"__svml_exp8"}
    np.testing.assert_array_max_ulp(out, np.exp(x), 4)


def test_a_missing_function_falls_back_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = replace(MATH_FUNCTIONS["exp"], libm="no_such_function")
    monkeypatch.setitem(probing.MATH_FUNCTIONS, "exp", missing)
    support = probing.detect()
    assert not support.has_vector("exp", "f64")
    assert support.has_vector("sin", "f64") == probe().has_vector("sin", "f64")


@pytest.mark.parametrize(
    ("variable", "value"),
    [("NUMBA_CPU_NAME", "generic"), ("NUMBA_CPU_FEATURES", "+sse4.2"), ("NUMBA_ENABLE_AVX", "0")],
)
def test_registers_numba_does_not_use_are_not_used(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    for other in ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_ENABLE_AVX"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(variable, value)
    assert probing.detect().vector_bits <= 128


def test_a_limit_that_is_no_number_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FUSEJIT_VECTOR_BITS", raising=False)
    widest = probing.detect()
    monkeypatch.setenv("FUSEJIT_VECTOR_BITS", "all")
    assert probing.detect() == widest


def test_the_key_tells_machines_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSEJIT_VECTOR_BITS", "128")
    keys = {probing.detect().key(), VectorSupport("glibc 2.17", 0, ()).key()}
    assert len(keys) == 2
    assert hash(probe()) == hash(replace(probe()))


def test_external_symbols_resolve() -> None:
    probing.load_library()
    for name in MATH_FUNCTIONS:
        for dtype in probing.FLOAT_BITS:
            for symbol in external_symbols(name, dtype):
                assert llvm.address_of_symbol(symbol) is not None, symbol
    assert external_symbols("sqrt", "f64") == ()
    assert external_symbols("maximum", "i64") == ()


# Twins


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", vector_math.EXACT_FUNCTIONS)
def test_exact_functions_have_the_bits_of_numpy_and_of_their_python_implementation(
    name: str, dtype: Any
) -> None:
    random = np.random.default_rng(0)
    x = np.concatenate([np.array(EDGES), random.normal(size=1001) * 100]).astype(dtype)
    operands = (x, random.permutation(x)) if name == "copysign" else (x,)
    out = np.empty_like(x)
    loop(getattr(jitted, name), len(operands))(*operands, out)
    with np.errstate(all="ignore"):
        assert same_bits(out, getattr(np, name)(*operands))
    python_implementation = INTRINSICS[name].python_implementation
    assert same_bits(
        out, np.array([python_implementation(*o) for o in zip(*operands, strict=True)])
    )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", MATH_FUNCTIONS)
def test_python_implementations_of_library_functions_keep_the_dtype(name: str, dtype: Any) -> None:
    operands = [dtype(1.25)] * MATH_FUNCTIONS[name].arity
    result = INTRINSICS[name].python_implementation(*operands)
    assert type(result) is dtype
    if name not in ("erf", "erfc"):
        with np.errstate(all="ignore"):
            assert same_bits(np.array([result]), np.array([getattr(np, name)(*operands)]))


def test_python_implementations_are_silent_and_take_python_floats_for_float64() -> None:
    assert INTRINSICS["log"].python_implementation(np.float32(-1.0)).dtype == np.float32
    assert INTRINSICS["exp"].python_implementation(1e4) == np.inf


@pytest.mark.parametrize(("name", "x", "y"), [
    ("power", np.float32(1), np.float64(1)),
    ("maximum", np.int32(1), np.int64(1)),
    ("hypot", np.int64(1), np.int64(1)),
])  # fmt: skip
def test_operands_must_have_one_dtype(name: str, x: Any, y: Any) -> None:
    function = getattr(jitted, name)
    with pytest.raises(TypeError, match=name):
        INTRINSICS[name].python_implementation(x, y)
    with pytest.raises(TypingError, match=name):
        njit(lambda a, b: function(a, b))(x, y)


# Extrema


def numbers(dtype: Any, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        values = np.concatenate([random.normal(size=991), np.tile(EDGES, 12)])
        return random.permutation(values).astype(dtype)
    if dtype is np.bool_:
        return random.integers(0, 2, 1135).astype(bool)
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max, 1135, dtype=dtype, endpoint=True)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", vector_math.EXTREMA)
def test_extrema_agree_with_numpy_and_with_their_python_implementation(
    name: str, dtype: Any
) -> None:
    x, y = numbers(dtype, 1), numbers(dtype, 2)
    out = np.empty_like(x)
    kernel = loop(getattr(jitted, name), 2)
    kernel(x, y, out)
    np.testing.assert_array_equal(out, getattr(np, name)(x, y))
    python_implementation = INTRINSICS[name].python_implementation
    assert same_bits(
        out, np.array([python_implementation(a, b) for a, b in zip(x, y, strict=True)])
    )
    single = np.empty_like(x)
    for i in range(x.size):
        kernel(x[i : i + 1], y[i : i + 1], single[i : i + 1])
    assert same_bits(out, single)


def reduction(function: Callable[..., Any]) -> Any:
    def reduce(x):
        accumulator = x[0]
        for i in range(x.size):
            accumulator = function(accumulator, x[i])
        return accumulator

    return njit(error_model="numpy")(reduce)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", vector_math.EXTREMA)
def test_reductions_of_extrema_vectorise_and_do_not_depend_on_the_order(
    name: str, dtype: Any
) -> None:
    kernel = reduction(getattr(jitted, name))
    random = np.random.default_rng(0)
    for values in ([0.0, -0.0], [np.nan, 1.0], [1.0, 2.0, -3.0], [np.nan, np.nan]):
        expected = getattr(np, name).reduce(np.array(values, dtype))
        shuffled = [random.permutation(np.array(values * 50, dtype)) for _ in range(3)]
        results = {dtype(kernel(x)).tobytes() for x in shuffled}
        assert len(results) == 1
        assert np.array_equal(np.frombuffer(results.pop(), dtype)[0], expected, equal_nan=True)
    if probe().vector_bits >= 256 and name in ("maximum", "minimum"):  # fmax and fmin: one by one
        (text,) = kernel.inspect_asm().values()
        assert re.search(r"v(max|min)p[sd]|vrangep[sd]", text)


# Powers


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("exponent", [2.0, 0.5, -1.0, 1.0, 0.0])
def test_powers_have_numpys_bits_for_uniform_exponents(exponent: float, dtype: Any) -> None:
    random = np.random.default_rng(0)
    words = random.integers(0, 2 ** (8 * np.dtype(dtype).itemsize), 4096, dtype=np.uint64)
    any_bits = words.astype(f"u{np.dtype(dtype).itemsize}").view(dtype)
    x = np.concatenate([any_bits, random.normal(size=4096).astype(dtype), np.array(EDGES, dtype)])
    p = dtype(exponent)
    powers: list[Callable[[Any], Any]] = [
        lambda x: x**exponent,
        lambda x: x**p,
        lambda x: np.power(x, exponent),
        lambda x: x ** int(exponent) if exponent == int(exponent) else x**exponent,
    ]
    repeated = np.array(p), np.array([p]), np.broadcast_to(p, x.shape)
    with np.errstate(all="ignore"):
        for power in powers:
            assert same_bits(power(x), fuse_jit(power)(x))
            assert all(same_bits(power(x), x**exponents) for exponents in repeated)


@pytest.mark.parametrize("dtype", FLOATS)
def test_numpy_calls_pow_for_exponents_that_vary(dtype: Any) -> None:
    x = np.array([-np.inf, -0.0, 4.0], dtype)
    with np.errstate(all="ignore"):
        varying, uniform = x ** np.full(3, 0.5, dtype), x**0.5
    out = np.empty_like(x)
    loop(jitted.power, 2)(x, np.full(3, 0.5, dtype), out)
    assert varying.tolist() == out.tolist() == [np.inf, 0.0, 2.0]
    assert np.isnan(uniform[0])
    assert np.signbit(uniform[1])
