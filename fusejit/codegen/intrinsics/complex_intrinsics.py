"""Complex numbers in generated code: taken apart, put together, and seen as memory of their parts.

All arithmetic is on the parts (`fusejit.ir.complex_numbers`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.codegen.intrinsics.intrinsic_table import python_implementation
from fusejit.codegen.intrinsics.raw_memory import Flat
from fusejit.ir.scalar_ops import evaluation

Scalar = Any


def _complex(name: str, x: Scalar) -> Scalar:
    if not isinstance(x, np.complexfloating):
        raise TypeError(f"{name}: the operand is {type(x).__name__}")
    return x


@python_implementation
def real_part(x: Scalar) -> Scalar:
    """The real part of a complex number."""
    return _complex("real_part", x).real


@python_implementation
def imag_part(x: Scalar) -> Scalar:
    """The imaginary part of a complex number."""
    return _complex("imag_part", x).imag


@python_implementation
def complex_of(real: Scalar, imag: Scalar) -> Scalar:
    """The complex number with two parts of one dtype."""
    if type(real) is not type(imag) or not isinstance(real, np.floating):
        raise TypeError(f"complex_of: {type(real).__name__} and {type(imag).__name__}")
    return evaluation.complex_of(real, imag)


@python_implementation
def fma(a: Scalar, b: Scalar, c: Scalar) -> Scalar:
    """``a * b + c`` of floats of one dtype, rounded once."""
    if len({type(x) for x in (a, b, c)}) != 1 or not isinstance(a, np.floating):
        raise TypeError(f"fma: {[type(x).__name__ for x in (a, b, c)]}")
    return evaluation.fused_multiply_add(a, b, c)


@python_implementation
def parts(pointer: Flat) -> Flat:
    """Memory of complex numbers as memory of floats: real, imaginary, real, imaginary ..."""
    return pointer.parts()
