"""Which vector math functions this process can call.

Two libraries hold versions of ``exp``, ``sin``, ... that take a whole vector register:

- *libmvec*, part of the C library of Linux on x86-64 (glibc 2.22; complete since 2.35);
- NumPy's ``_multiarray_umath``, which on Linux exports Intel's SVML for 512-bit registers. It is
  faster for `power`, `log`, `arccosh`, and stands in where libmvec lacks a function. NumPy does
  not promise these symbols: they are used only if they are found.

`probe` says which are there and in which width they will be used. No kernel is compiled and Numba
is not imported.

Environment
-----------
FUSEJIT_NO_LIBMVEC
    Set to 1, neither library is used: each function is a scalar call of the C library.
FUSEJIT_NO_SVML
    Set to 1, NumPy's SVML is not used.
FUSEJIT_VECTOR_BITS
    At most this register width (128, 256 or 512), for tests.
NUMBA_CPU_NAME, NUMBA_CPU_FEATURES, NUMBA_ENABLE_AVX
    Read as Numba reads them: a vector may be passed in a register only if Numba compiles for it.
"""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import sys
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.ir.scalar_ops.math_functions import MathFunction
from fusejit.ir.scalar_ops.scalar_op_table import MATH_FUNCTIONS

LIBMVEC = "libmvec.so.1"
"""The vector half of glibc's libm."""

NUMPY_CORE = "numpy._core._multiarray_umath"
"""The module whose shared library exports SVML."""

FLOAT_BITS = {"f32": 32, "f64": 64}
"""Dtypes that have math functions, with their size."""

ISA_LETTERS = {128: "b", 256: "d", 512: "e"}
"""Letter of a register width in the x86-64 vector function ABI."""

_NEEDED_FEATURES = {
    512: frozenset({"avx512f", "avx512dq", "avx512bw", "avx512vl"}),
    256: frozenset({"avx2", "fma"}),
    128: frozenset({"sse2"}),
}


@dataclass(frozen=True, slots=True)
class VectorForm:
    """The vector function that serves one function and dtype.

    Attributes
    ----------
    name, dtype : str
        ``"exp"``, ``"f64"``.
    bits : int
        Register width. All calls use this one width, since other widths return other last bits.
    symbol : str
        ``"_ZGVeN8v_exp"``.
    """

    name: str
    dtype: str
    bits: int
    symbol: str


@dataclass(frozen=True, slots=True)
class VectorSupport:
    """What the vector math libraries offer here; part of every cache key that holds their calls.

    Attributes
    ----------
    libc : str
        Name and version of the C library, ``"glibc 2.36"``, or ``""`` where it does not tell.
    vector_bits : int
        Widest register that Numba compiles for and a library serves: 0 (none), 128, 256, 512.
    forms : tuple of VectorForm
        One for each function with a vector form, sorted.
    libraries : tuple of str
        What `load_library` loads, by name or path.
    """

    libc: str
    vector_bits: int
    forms: tuple[VectorForm, ...]
    libraries: tuple[str, ...] = ()

    def form(self, name: str, dtype: str) -> VectorForm | None:
        """The vector form of `name` (``"exp"``) for `dtype` (``"f32"``, ``"f64"``), if any."""
        for form in self.forms:
            if (form.name, form.dtype) == (name, dtype):
                return form
        return None

    def has_vector(self, name: str, dtype: str) -> bool:
        """Whether a loop that calls `name` vectorises."""
        return self.form(name, dtype) is not None

    def key(self) -> str:
        """Text for cache keys: equal only if the same library functions are called."""
        symbols = ",".join(form.symbol for form in self.forms)
        return f"{self.libc};numpy {np.__version__};{self.vector_bits};{symbols}"


def vector_symbol(function: MathFunction, dtype: str, bits: int) -> str:
    """Name of the libmvec function for one register of `bits`.

    Source: Vector Function Application Binary Interface for AMD64, "Vector function name mangling".

    Examples
    --------
    >>> from fusejit.ir.scalar_ops.scalar_op_table import MATH_FUNCTIONS
    >>> vector_symbol(MATH_FUNCTIONS["arcsin"], "f64", 256)
    '_ZGVdN4v_asin'
    """
    lanes = bits // FLOAT_BITS[dtype]
    return f"_ZGV{ISA_LETTERS[bits]}N{lanes}{'v' * function.arity}_{scalar_symbol(function, dtype)}"


def svml_symbol(function: MathFunction, dtype: str) -> str:
    """Name of NumPy's 512-bit SVML function: ``__svml_pow8``, ``__svml_powf16``."""
    accuracy = "_ha" if dtype in function.high_accuracy else ""
    return f"__svml_{function.libm}{'f16' if dtype == 'f32' else '8'}{accuracy}"


def scalar_symbol(function: MathFunction, dtype: str) -> str:
    """Name of the libm function: ``exp`` or ``expf``."""
    return function.libm + ("f" if dtype == "f32" else "")


def _libc_version() -> str:
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (AttributeError, OSError, ValueError):  # not Linux, or musl
        return ""


def _cpu_features() -> frozenset[str]:
    """Features Numba will compile for, by LLVM's names."""
    if os.environ.get("NUMBA_ENABLE_AVX", "1") == "0":
        return frozenset({"sse2"})
    explicit = os.environ.get("NUMBA_CPU_FEATURES")
    if explicit is None and os.environ.get("NUMBA_CPU_NAME", "").lower() == "generic":
        explicit = ""
    if explicit is not None:
        listed = {part[1:] for part in explicit.split(",") if part.startswith("+")}
        return frozenset(listed | {"sse2"})
    import llvmlite.binding as llvm

    return frozenset(name for name, is_on in llvm.get_host_cpu_features().items() if is_on)


def _widest(features: frozenset[str], limit: int) -> int:
    for bits, needed in _NEEDED_FEATURES.items():
        if bits <= limit and needed <= features:
            return bits
    return 0


def detect() -> VectorSupport:
    """Look at the machine and the environment now, without the memory of `probe`."""
    libc = _libc_version()
    nothing = VectorSupport(libc, 0, ())
    if (
        os.environ.get("FUSEJIT_NO_LIBMVEC", "0") not in ("", "0")
        or sys.platform != "linux"
        or platform.machine() not in ("x86_64", "AMD64")
        or sys.maxsize < 2**32
    ):
        return nothing
    limit = os.environ.get("FUSEJIT_VECTOR_BITS", "")
    widest = _widest(_cpu_features(), int(limit) if limit.isdigit() else 512)
    libmvec = _open(LIBMVEC)
    svml_path = getattr(sys.modules.get(NUMPY_CORE), "__file__", None)
    is_svml_allowed = widest == 512 and os.environ.get("FUSEJIT_NO_SVML", "0") in ("", "0")
    svml = _open(svml_path) if svml_path and is_svml_allowed else None
    forms = []
    for function in MATH_FUNCTIONS.values():
        for dtype in FLOAT_BITS:
            bits = function.preferred_bits(dtype, widest)
            if not bits:
                continue
            candidates = [
                (
                    libmvec,
                    VectorForm(function.name, dtype, bits, vector_symbol(function, dtype, bits)),
                ),
                (svml, VectorForm(function.name, dtype, 512, svml_symbol(function, dtype))),
            ]
            if dtype in function.prefer_svml:
                candidates.reverse()
            found = [form for library, form in candidates if hasattr(library, form.symbol)]
            forms += found[:1]
    if not forms:
        return nothing
    used = {form.symbol.startswith("__svml_") for form in forms}
    libraries = [LIBMVEC] * (False in used) + [str(svml_path)] * (True in used)
    return VectorSupport(
        libc,
        widest,
        tuple(sorted(forms, key=lambda form: (form.name, form.dtype))),
        tuple(libraries),
    )


def _open(path: str) -> Any:
    try:
        return ctypes.CDLL(path)
    except OSError:
        return None


@functools.cache
def probe() -> VectorSupport:
    """What `detect` found at the first call in this process.

    Returns
    -------
    VectorSupport
        Frozen and hashable; `VectorSupport.key` goes into cache keys.
    """
    return detect()


def load_library(support: VectorSupport | None = None) -> None:
    """Make the vector functions visible to LLVM's linker; does nothing where none are used."""
    import llvmlite.binding as llvm

    for path in (support or probe()).libraries:
        llvm.load_library_permanently(path)
