"""Math functions against mpmath: at most 4 ulp, special values as NumPy, bits free of position.

``FUSEJIT_UPDATE_DOCS=1 pytest tests/codegen/test_accuracy.py`` writes the docs/semantics.md table.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import mpmath
import numpy as np
import pytest
from numba import njit

from fusejit.codegen.intrinsics_jit.vector_math import library_intrinsic
from fusejit.codegen.machine.probe import VectorSupport, detect, probe
from fusejit.ir.scalar_ops.scalar_op_table import MATH_FUNCTIONS

BOUND_ULP = 4.0
WORDS = {"f32": np.float32, "f64": np.float64}
DOCS = Path(__file__).parents[2] / "docs" / "semantics.md"
BEGIN, END = "<!-- begin: ulp table -->", "<!-- end: ulp table -->"

WORST = json.loads((Path(__file__).parent / "worst_inputs.json").read_text())
"""Worst inputs per function and dtype found by a search over millions (x86 long double), as hex."""

ALL_FORMS = [("512", 512), ("256", 256), ("128", 128), ("scalar", 0)]
"""Columns of the published table: register widths, 0 for scalar calls."""


@functools.cache
def support_for(bits: int) -> VectorSupport:
    """What `detect` says on a machine with registers of at most `bits`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FUSEJIT_VECTOR_BITS" if bits else "FUSEJIT_NO_LIBMVEC", str(bits or 1))
        return detect()


@functools.cache
def kernel(bits: int, dtype: str) -> Callable[..., None]:
    """``f(which, x, y, out)``: every function of the table in a loop of its own, compiled once."""
    support = support_for(bits)
    namespace: dict[str, Any] = {n: library_intrinsic(n, support) for n in MATH_FUNCTIONS}
    lines = ["def f(which, x, y, out):"]
    for which, function in enumerate(MATH_FUNCTIONS.values()):
        arguments = "x[i], y[i]" if function.arity == 2 else "x[i]"
        lines += [
            f"    if which == {which}:",
            "        for i in range(out.size):",
            f"            out[i] = {function.name}({arguments})",
        ]
    exec("\n".join(lines), namespace)
    word = WORDS[dtype]
    compiled: Callable[..., None] = njit(error_model="numpy")(namespace["f"])
    compiled(0, np.zeros(1, word), np.zeros(1, word), np.zeros(1, word))
    return compiled


def evaluate(name: str, bits: int, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    out = np.empty_like(x)
    dtype = "f32" if x.dtype == np.float32 else "f64"
    kernel(bits, dtype)(list(MATH_FUNCTIONS).index(name), x, y, out)
    return out


def forms() -> list[Any]:
    widest = probe().vector_bits
    missing = pytest.mark.skip("not on this machine")
    return [
        pytest.param(bits, id=label, marks=[missing] if bits > widest else [])
        for label, bits in ALL_FORMS
    ]


SPECIALS = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 1e30]
SPECIALS += [-1e30, 1.5, -1.5, 0.1, 1000.0, -1000.0, 16777217.0, 1e-30, -1e-30, 1e5, -1e5]


def special_inputs(dtype: str, arity: int) -> tuple[np.ndarray, np.ndarray]:
    info = np.finfo(WORDS[dtype])
    edges = [float(s * v) for v in (info.max, info.tiny, info.smallest_subnormal) for s in (1, -1)]
    points = np.array(SPECIALS + edges, WORDS[dtype])
    if arity == 1:
        return points, points
    x, y = np.meshgrid(points, points)
    return x.ravel(), y.ravel()


def random_inputs(name: str, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """About 500 seeded points: all exponents, huge values, branch points, the worst known."""
    word, info = WORDS[dtype], np.finfo(WORDS[dtype])
    seed = [list(MATH_FUNCTIONS).index(name), info.bits]
    random = np.random.default_rng(seed)
    n = 64
    sign = random.choice([-1.0, 1.0], n)
    near = random.choice([-1.0, 0.0, 0.5, 1.0, np.pi / 2, np.pi, 100 * np.pi], n)
    largest = 6.0 if name in ("cosh", "sinh", "exp", "expm1", "exp2") else 22.0
    parts = [
        random.uniform(-1, 1, n),
        random.uniform(-10, 10, n),
        random.uniform(0, 100, n),
        near + random.normal(size=n) * 10.0 ** random.uniform(-8, -1, n),
        sign * 10.0 ** random.uniform(-30, -1, n),
        sign * 10.0 ** random.uniform(0, largest, n),
        sign * 2.0 ** random.uniform(info.minexp, info.maxexp - 1, n),
        random.uniform(-1, 1, n) * float(info.tiny),
    ]
    x = np.concatenate(parts)
    y = random.permutation(x)
    if name == "power":
        x, y = np.abs(x), np.where(random.random(x.size) < 0.5, random.uniform(-30, 30, x.size), y)
    worst = WORST[f"{name} {dtype}"]
    x = np.append(x, [float.fromhex(a) for a, _ in worst]).astype(word)
    y = np.append(y, [float.fromhex(b) for _, b in worst]).astype(word)
    return x, y


SAME_NAME = ("exp", "expm1", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh")
SAME_NAME += ("log", "log10", "erf", "erfc", "power", "hypot")


def cbrt_exact(x: Any) -> Any:
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


EXACT: dict[str, Callable[..., Any]] = {
    **{n: getattr(mpmath, n) for n in SAME_NAME},
    **{n: getattr(mpmath, n.replace("arc", "a")) for n in MATH_FUNCTIONS if n.startswith("arc")},
    "exp2": lambda x: mpmath.power(2, x),
    "log2": lambda x: mpmath.log(x) / mpmath.log(2),
    "cbrt": cbrt_exact,
}


@functools.cache
def exact_values(name: str, dtype: str) -> list[Any]:
    """Results in 200 bits; None where the real function has none, or 0 or inf without doubt."""
    x, y = random_inputs(name, dtype)
    info = np.finfo(WORDS[dtype])
    arity = MATH_FUNCTIONS[name].arity
    with np.errstate(all="ignore"):
        numpy_function = {"erf": np.tanh, "erfc": np.tanh}.get(name) or getattr(np, name)
        rough = numpy_function(*(x.astype(np.float64), y.astype(np.float64))[:arity])
    results = []
    with mpmath.workprec(200):
        for a, b, r in zip(x.tolist(), y.tolist(), rough.tolist(), strict=True):
            skipped = not np.isfinite(r) or abs(r) > 2 * float(info.max) or (r == 0 and a != 0)
            if name == "erfc":
                skipped = not -30 < a < 30
            if skipped or (name == "power" and a == 0):
                results.append(None)
            else:
                results.append(EXACT[name](*(mpmath.mpf(a), mpmath.mpf(b))[:arity]))
    return results


def ulp_error(got: float, exact: Any, dtype: str) -> float:
    """Distance in units of the last place at `exact`; inf counts as the next power of two."""
    info = np.finfo(WORDS[dtype])
    ceiling = mpmath.ldexp(1, int(info.maxexp))
    value = mpmath.sign(got) * ceiling if np.isinf(got) else mpmath.mpf(got)
    exact = max(-ceiling, min(ceiling, exact))
    exponent = int(mpmath.frexp(exact)[1]) - 1 if exact else int(info.minexp)
    binade = max(min(exponent, int(info.maxexp) - 1), int(info.minexp))
    ulp = mpmath.ldexp(1, binade - int(info.nmant))
    return float(abs(value - exact) / ulp)


@functools.cache
def worst_ulp(name: str, dtype: str, bits: int) -> float:
    got = evaluate(name, bits, *random_inputs(name, dtype))
    pairs = zip(got.tolist(), exact_values(name, dtype), strict=True)
    with mpmath.workprec(200):
        return max(ulp_error(g, e, dtype) for g, e in pairs if e is not None)


def result_class(values: np.ndarray) -> np.ndarray:
    """0 finite, 1 nan, 2 +inf, 3 -inf, 4 +0, 5 -0."""
    negative = np.signbit(values).astype(int)
    kinds = np.where(np.isinf(values), 2 + negative, np.where(values == 0, 4 + negative, 0))
    return np.where(np.isnan(values), 1, kinds)


@pytest.mark.parametrize("dtype", WORDS)
@pytest.mark.parametrize("bits", forms())
def test_error_is_at_most_four_ulp(bits: int, dtype: str) -> None:
    errors = {name: worst_ulp(name, dtype, bits) for name in MATH_FUNCTIONS}
    assert {name: ulp for name, ulp in errors.items() if not ulp <= BOUND_ULP} == {}


@pytest.mark.parametrize("dtype", WORDS)
@pytest.mark.parametrize("bits", forms())
def test_special_values_have_the_class_of_numpys_result(bits: int, dtype: str) -> None:
    wrong = []
    for name, function in MATH_FUNCTIONS.items():
        if name in ("erf", "erfc"):
            continue
        x, y = special_inputs(dtype, function.arity)
        with np.errstate(all="ignore"):
            expected = getattr(np, name)(*(x, y)[: function.arity])
        got = evaluate(name, bits, x, y)
        for i in np.flatnonzero(result_class(got) != result_class(expected)):
            wrong.append((name, float(x[i]), float(y[i]), float(got[i]), float(expected[i])))
    assert wrong == []


@pytest.mark.parametrize("dtype", WORDS)
@pytest.mark.parametrize("bits", forms())
def test_bits_do_not_depend_on_the_position(bits: int, dtype: str) -> None:
    words = np.uint32 if dtype == "f32" else np.uint64
    for name in MATH_FUNCTIONS:
        x, y = random_inputs(name, dtype)
        full = evaluate(name, bits, x, y)
        order = np.random.default_rng(0).permutation(x.size)
        permuted = evaluate(name, bits, x[order], y[order])
        for size in (1, 3, 7, 23, 130):
            chunks = [
                evaluate(name, bits, x[i : i + size], y[i : i + size])
                for i in range(0, x.size, size)
            ]
            assert np.array_equal(np.concatenate(chunks).view(words), full.view(words)), name
        assert np.array_equal(permuted.view(words), full[order].view(words)), name


def machine() -> str:
    of_numpy = "" if len(probe().libraries) > 1 else ", without NumPy's SVML"
    return f"{probe().libc}, {llvm.get_host_cpu_name()}{of_numpy}"


def generated_table() -> str:
    lines = [
        f"Measured on: {machine()}",
        "",
        f"| function | {' | '.join(f'{d} {label}' for label, _ in ALL_FORMS for d in WORDS)} |",
        "|---|" + "---|" * (2 * len(ALL_FORMS)),
    ]
    for name in MATH_FUNCTIONS:
        cells = []
        for _, bits in ALL_FORMS:
            for dtype in WORDS:
                form = support_for(bits).form(name, dtype)
                mark = "*" if form and form.bits != bits else ""
                mark = "†" if form and "svml" in form.symbol else mark
                cells.append(f"{worst_ulp(name, dtype, bits):.2f}{mark}")
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def test_docs_have_the_measured_table() -> None:
    if probe().vector_bits < 512:
        pytest.skip("the published table needs AVX-512")
    text = DOCS.read_text("utf-8")
    before, rest = text.split(BEGIN)
    published, after = rest.split(END)
    table = generated_table()
    print(table)
    if os.environ.get("FUSEJIT_UPDATE_DOCS"):
        DOCS.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", "utf-8")
        return
    if f"Measured on: {machine()}\n" not in published:
        pytest.skip(f"the published table is of another machine; this is {machine()}")
    assert published.strip() == table


def test_detection_is_stable() -> None:
    assert detect() == probe()
