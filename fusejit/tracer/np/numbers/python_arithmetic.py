"""Arithmetic on Python numbers of which some are known only in the kernel, by Python's rules."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from fusejit.ir.scalar_ops.scalar_op_table import HOST_ROWS
from fusejit.ir.types import Kind
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.np.numbers.complex_parts import ImaginarySizes
from fusejit.tracer.np.numbers.complex_ufuncs import python_complex
from fusejit.tracer.ops.domains import check_convertible, check_divisor, check_domain
from fusejit.tracer.ops.elementwise_op import emit_scalar
from fusejit.tracer.ops.kernel_numbers import (
    as_kernel_number,
    as_python,
    as_strong,
    is_kernel_number,
    kernel_number,
    needs_kernel,
    number_type,
    python_number,
)
from fusejit.tracer.ops.python_powers import float_power, integer_power
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.program.locations import unsupported
from fusejit.tracer.values.array import ARRAY_OPS, TracedArray
from fusejit.tracer.values.graph_scalars import scalar_value
from fusejit.tracer.values.operand_types import BOOL, C128, F64, I64
from fusejit.tracer.values.symbolic_number import SymbolicNumber, apply_host

_UFUNCS: dict[str, np.ufunc | None] = {
    "pos": np.positive,
    **{name: row.ufunc for name, row in HOST_ROWS.items()},
}


_PYTHON_OPERATORS = frozenset(
    [
        *(np.add, np.subtract, np.multiply, np.true_divide, np.floor_divide, np.remainder),
        *(np.power, np.left_shift, np.right_shift, np.bitwise_and, np.bitwise_or, np.bitwise_xor),
        *(np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal),
        *(np.minimum, np.maximum, np.negative, np.positive, np.invert, np.absolute),
    ]
)


_ON_BOOLS = {np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.logical_and, np.logical_not}


_DIVISIONS = {np.true_divide, np.floor_divide, np.remainder}


_LARGEST_PRODUCT = 4  # the exponent up to which a power of an int is a product


_FLOAT_ONLY = frozenset(_UFUNCS) - {op for op, f in _UFUNCS.items() if f in _PYTHON_OPERATORS}
"""Functions of `math`: their arguments are converted to floats."""


def kernel_arithmetic(op: str, operands: tuple[Any, ...]) -> Any:
    """A row of `HOST_OPS` in the kernel."""
    if op == "pow" and all(number_type(o) == (Kind.PYTHON, I64) for o in operands):
        return _integer_power(*operands)  # which asks for the bounds of an induction variable
    operands = tuple(
        kernel_number(o) if isinstance(o, SymbolicNumber) and o.is_local else o for o in operands
    )
    if op in ("int", "float", "truth"):
        kind = {"int": I64, "float": F64, "truth": BOOL}[op]
        if op == "int":
            _check_convertible(operands[0])
        return python_number(operands[0], kind)
    if op in _ROUNDED:
        return _rounded(op, operands[0])
    if op in _FLOAT_ONLY:
        operands = tuple(python_number(o, F64) for o in operands)
        check_domain(op, *operands)
    if op not in _UFUNCS:
        raise unsupported(
            f"computes {op} of a number that is known only when compiled code runs",
            "use a NumPy function",
        )
    ufunc = _UFUNCS[op]
    if ufunc is None:
        row = HOST_ROWS[op].name  # a function of `math` that NumPy has not
        return emit_scalar(op, operands, [F64], F64, lambda b, refs: b.op(row, refs, F64))
    return ARRAY_OPS.operator(ufunc, operands)


def python_arithmetic(ufunc: np.ufunc, operands: tuple[Any, ...]) -> Any:
    """An operator on Python numbers of which one is known only in the kernel."""
    kinds = [number_type(o)[1] for o in operands]
    if not (ufunc in _ON_BOOLS and all(k == BOOL for k in kinds)):
        operands = tuple(
            python_number(o, I64) if k == BOOL else o for o, k in zip(operands, kinds, strict=True)
        )
    if ufunc is np.bitwise_and:
        _decide_signs(operands)
    if ufunc in _DIVISIONS and not needs_kernel(operands[1]) and operands[1] == 0:
        raise numpy_raises("ZeroDivisionError")
    if C128 in kinds:
        base = as_kernel_number(operands[0], Kind.PYTHON, C128)
        if ufunc is np.power:  # only by an int that is known
            return python_complex(ufunc, [base], operands[1])
        others = [as_kernel_number(o, Kind.PYTHON, C128) for o in operands[1:]]
        return python_complex(ufunc, [base, *others], None)
    if ufunc in _DIVISIONS and needs_kernel(operands[1]):
        divisor = as_kernel_number(operands[1])
        operands = (operands[0], divisor)
        check_divisor(ufunc, divisor, any(k == F64 for k in kinds))
    if ufunc is np.power:
        if all(k != F64 for k in kinds):
            return _integer_power(*operands)
        if not _is_product(operands[1]):
            return float_power(*operands)
    return _on_strong(ufunc, operands)


def _decide_signs(operands: tuple[Any, ...]) -> None:
    """Masks that each call knows are told from negative numbers: then only low bits count."""
    for operand in operands:
        if isinstance(operand, SymbolicNumber) and not operand.is_local:
            is_int = type(operand.value) is int
            if is_int and bool(apply_host("ge", operand, 0)):
                trace = current_trace()
                trace.nonnegative.add(scalar_value(operand))


def _integer_power(base: Any, exponent: Any) -> Any:
    if type(exponent) is not int:
        return integer_power(base, exponent)
    if exponent < 0:
        return float_power(base, exponent)
    if exponent > _LARGEST_PRODUCT:
        return integer_power(base, exponent)
    if exponent > 1:
        return functools.reduce(lambda x, y: _on_strong(np.multiply, (x, y)), [base] * exponent)
    return _on_strong(np.power, (base, exponent))


def _on_strong(ufunc: np.ufunc, operands: tuple[Any, ...]) -> Any:
    """The ufunc's loop for int64 or float64."""
    kernel = tuple(as_kernel_number(o) if isinstance(o, SymbolicNumber) else o for o in operands)
    strong = tuple(as_strong(o) for o in kernel)
    return as_python(ARRAY_OPS.compute(ufunc, strong))


def _is_product(exponent: Any) -> bool:
    """Whether a power of a float is as many factors, of which no overflow is noticed."""
    is_known = type(exponent) in (int, float)
    return is_known and 0 <= exponent <= _LARGEST_PRODUCT and exponent == int(exponent)


def _check_convertible(number: Any) -> None:
    if is_kernel_number(number) and number.dtype.kind == "f":
        check_convertible(number)


_ROUNDED = {"floor": np.floor, "ceil": np.ceil, "round": np.rint, "trunc": np.trunc}


def _rounded(op: str, number: Any) -> Any:
    number = as_kernel_number(number)
    if op == "round" and number.kind is Kind.SCALAR and number.dtype == BOOL:
        raise numpy_raises("TypeError: type numpy.bool doesn't define __round__ method")
    if number.dtype.kind != "f":
        return as_kernel_number(number, Kind.PYTHON, I64)
    _check_convertible(number)
    whole = ARRAY_OPS.compute(_ROUNDED[op], (as_strong(number),))
    return as_kernel_number(whole, Kind.PYTHON, I64)


def complex_arithmetic(op: str, operands: tuple[Any, ...]) -> Any:
    """A number of the call and a complex one, in the kernel; ``n * 1j`` is a size in `np.mgrid`."""
    numbers = tuple(as_kernel_number(o) if isinstance(o, SymbolicNumber) else o for o in operands)
    made = kernel_arithmetic(op, numbers)
    if op == "mul" and any(type(o) is complex and o == 1j for o in operands):
        size = next((o for o in operands if isinstance(o, SymbolicNumber)), None)
        if size is not None and size.affine is not None and isinstance(made, TracedArray):
            current_trace().owned(ImaginarySizes)[made.storage] = size
    return made
