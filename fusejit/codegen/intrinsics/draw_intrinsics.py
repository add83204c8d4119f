"""Random numbers drawn in kernels: NumPy's and Python's algorithms, and so their bits and states.

    draw_normal(bits)                  one number of the standard normal distribution
    draw_normals(pointer, n, bits)     ``n`` of them, into the memory behind the pointer

and so on for each row of `fusejit.ir.inline_calls.inline_draws`. ``bits`` is the address of the
generator's ``bitgen_t`` (numpy/random/bitgen.h), or of the state of `random.Random`; parameters
follow. The caller of the kernel holds the lock of the generator: that of Python's is the GIL.
"""

from __future__ import annotations

import ctypes
import functools
import random
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.codegen.intrinsics.intrinsic_table import jit_path, register
from fusejit.codegen.intrinsics.raw_memory import Flat
from fusejit.ir.host import TWISTER
from fusejit.ir.inline_calls.inline_draws import INLINE_DRAWS, NUMPY, PYTHON, InlineDraw

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
    if row.owner == PYTHON:
        return _drawn_by_python(row, bits, parameters)
    generator: Any = np.random.Generator(_Bits(bits))  # type: ignore[arg-type]
    if row.num_parameters:  # both bounds can be drawn
        return generator.integers(*map(int, parameters), size=size, endpoint=True)
    return getattr(generator, row.method)(size, dtype=np.dtype(row.dtype))


def _drawn_by_python(row: InlineDraw, address: int, parameters: tuple[Any, ...]) -> Any:
    memory, rng = TWISTER.from_address(int(address)), random.Random()
    at, *words = memory
    rng.setstate((3, (*words, at), None))
    number = getattr(rng, row.method)(*map(int, parameters))
    *words, at = rng.getstate()[1]
    memory[:] = [at, *words]
    return number


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
    _one = "One number of `{}`, {}."
    _forms = [(_row.intrinsic, _python_draw(_row), _one)]
    if _row.owner == NUMPY:
        _many = "Numbers of `{}`, {}, one after the other."
        _forms.append((f"{_row.intrinsic}s", _python_draws(_row), _many))
    for _name, _function, _doc in _forms:
        register(
            _name, _function, jit_path(__name__, _name), _doc.format(_row.function, _row.dtype)
        )
