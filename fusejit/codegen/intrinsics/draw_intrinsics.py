"""Random numbers drawn in kernels: NumPy's algorithms, and so its bits and states.

    draw_normal(bits)                  one number of the standard normal distribution
    draw_normals(pointer, n, bits)     ``n`` of them, into the memory behind the pointer

and so on for each row of `fusejit.ir.inline_calls.inline_draws`. ``bits`` is the address of the
generator's ``bitgen_t`` (numpy/random/bitgen.h); parameters follow. The caller of the kernel holds
the lock of the generator.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.codegen.intrinsics.intrinsic_table import jit_path, register
from fusejit.codegen.intrinsics.raw_memory import Flat
from fusejit.ir.inline_calls.inline_draws import INLINE_DRAWS, InlineDraw

_new_capsule = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", ctypes.pythonapi))
_NAME = b"BitGenerator"  # outlives the capsules, which keep a pointer to it

DRAW_SYMBOL = "fusejit_"
"""Before the names of NumPy's functions, as LLVM knows them."""

_FUNCTIONS = ("random_standard_normal", "random_standard_exponential")


@functools.cache
def draw_functions() -> dict[str, int]:
    """Addresses of functions that NumPy offers to C (numpy/random/distributions.h), by symbol."""
    try:
        library = ctypes.CDLL(sys.modules["numpy.random._generator"].__file__)
        functions = {DRAW_SYMBOL + name: getattr(library, name) for name in _FUNCTIONS}
    except (OSError, AttributeError, KeyError):
        return {}
    casts = {name: ctypes.cast(f, ctypes.c_void_p).value for name, f in functions.items()}
    return {name: address for name, address in casts.items() if address}


class _Bits:
    """What NumPy's `Generator` needs of a bit generator, at its address."""

    def __init__(self, address: int) -> None:
        self.capsule = _new_capsule(int(address), _NAME, None)
        self.lock = threading.Lock()  # the caller holds the other one


def _drawn(row: InlineDraw, size: int | None, bits: int, parameters: tuple[Any, ...]) -> Any:
    generator: Any = np.random.Generator(_Bits(bits))  # type: ignore[arg-type]
    if row.num_parameters:  # both bounds can be drawn
        return generator.integers(*map(int, parameters), size=size, endpoint=True)
    return getattr(generator, row.method)(size, dtype=np.dtype(row.dtype))


def _python_draw(row: InlineDraw) -> Callable[..., Any]:
    def draw(bits: int, *parameters: Any) -> Any:
        return np.dtype(row.dtype).type(_drawn(row, None, bits, parameters))

    return draw


def _python_draws(row: InlineDraw) -> Callable[..., None]:
    def draws(pointer: Flat, n: int, bits: int, *parameters: Any) -> None:
        if n > 0:
            first, end = pointer.index(0), pointer.index(n - 1) + 1
            pointer.memory[first:end] = _drawn(row, int(n), bits, parameters)

    return draws


for _row in INLINE_DRAWS:
    for _name, _function, _doc in (
        (_row.intrinsic, _python_draw(_row), "One number of `Generator.{}`, {}."),
        (
            f"{_row.intrinsic}s",
            _python_draws(_row),
            "Numbers of `Generator.{}`, {}, one after the other.",
        ),
    ):
        _doc = _doc.format(_row.method, _row.dtype)
        register(_name, _function, jit_path(__name__, _name), _doc)
