"""Traced numbers: sizes, number arguments and what Python computes from them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from types import MethodType
from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.index_symbols import LARGEST_COEFFICIENT, LARGEST_SYMBOL
from fusejit.ir.host import HOST_OPS, HostExpr, errstate_text
from fusejit.ir.host_affine import host_of
from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import method_of_number
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.program.active_trace import makes_text
from fusejit.tracer.program.fallback import Fallback, numpy_raises
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python
from fusejit.tracer.values.operations import NumberOperations
from fusejit.tracer.values.subclass_numbers import number_of_subclass

Condition = tuple[str, AffineExpr, bool]  # "ge" or "eq", compared with 0, whether it is negated
_LIMIT = 1 << 62

NUMBER_OPS: NumberOperations[Any] = NumberOperations()


class SymbolicNumber:
    """A number that each call computes again: an expression and its value in this call.

    Deliberately not an ``int``: C code would read past every callback.

    Attributes
    ----------
    value : int, float, bool or numpy.generic
        The value in this call; its type is the type in every call.
    expr : HostExpr
        How the launcher computes it.
    affine : AffineExpr or None
        For Python ints: the expression over symbols that it is.
    condition : tuple or None
        For the result of an integer comparison: what it asks of an affine expression.
    """

    __slots__ = ("affine", "condition", "expr", "trace", "value")

    def __init__(
        self,
        trace: Trace,
        value: Any,
        expr: HostExpr,
        affine: AffineExpr | None = None,
        condition: Condition | None = None,
    ) -> None:
        self.trace = trace
        self.value = value
        self.expr = expr
        self.affine = affine
        self.condition = condition

    @staticmethod
    def of_affine(trace: Trace, affine: AffineExpr) -> SymbolicNumber:
        """An int that is an affine expression of symbols."""
        return SymbolicNumber(trace, trace.decisions.hint(affine), host_of(affine), affine)

    @property
    def is_local(self) -> bool:
        """Whether it varies within a call: an induction variable and what is computed from it."""
        is_local = self.trace.decisions.is_local
        if self.affine is not None:
            return is_local(self.affine)
        return self.condition is not None and is_local(self.condition[1])

    @property
    def is_strong(self) -> bool:
        """Whether it is a NumPy scalar, whose dtype counts in NEP 50."""
        return isinstance(self.value, np.generic)

    @property
    def dtype(self) -> np.dtype:
        """The dtype of a NumPy scalar."""
        if not self.is_strong:
            raise AttributeError(f"'{type(self.value).__name__}' object has no attribute 'dtype'")
        dtype: np.dtype = self.value.dtype
        return dtype

    def as_scalar(self) -> Any:
        """A NumPy scalar as the traced array of rank 0 that has the same interface."""
        return NUMBER_OPS.as_array(self)

    def __getattr__(self, name: str) -> Any:
        kind = type(self.value)
        if not hasattr(kind, name):
            raise AttributeError(f"'{kind.__name__}' object has no attribute '{name}'")
        if self.is_strong and not name.startswith("__"):
            return self.as_scalar().user_attribute(name)
        if name in ("real", "imag") and kind in (int, float):
            return self if name == "real" else kind(0)
        if (handler := method_of_number(kind, name)) is not None:
            return MethodType(handler, self)
        raise needs_python(f"fusejit does not trace {kind.__name__}.{name}", MOVE_OUTSIDE)

    def user_attribute(self, name: str) -> Any:
        """``p.name`` in the user's program, to which what only the tracer uses is hidden."""
        if name == "trace" or not hasattr(type(self.value), name):
            return self.__getattr__(name)
        return getattr(self, name)

    def __getitem__(self, index: Any) -> Any:
        if not self.is_strong:
            kind = type(self.value).__name__
            raise numpy_raises(f"TypeError: '{kind}' object is not subscriptable")
        return self.as_scalar()[index]

    def __divmod__(self, other: Any) -> Any:
        if not is_host_number(other):
            return NUMBER_OPS.unsupported_operand("divmod", self, other)
        return apply_host("floordiv", self, other), apply_host("mod", self, other)

    def __rdivmod__(self, other: Any) -> Any:
        if not is_host_number(other):
            return NUMBER_OPS.unsupported_operand("divmod", self, other)
        return apply_host("floordiv", other, self), apply_host("mod", other, self)

    # -- what needs the value ---------------------------------------------------------------------
    def __bool__(self) -> bool:
        decisions = self.trace.decisions
        if self.condition is not None:
            kind, affine, negated = self.condition
            holds = decisions.nonnegative(affine) if kind == "ge" else decisions.equal(affine, 0)
            return holds is not negated
        if self.affine is not None:
            return not decisions.equal(self.affine, 0)
        expr = self.expr
        if type(self.value) is not bool:
            expr = HostExpr("truth", (expr,))
        return decisions.condition(expr, bool(self.value), "a condition on numbers")

    def exact(self) -> Any:
        """The value, guarded: every call must have the same one."""
        if type(self.value) is bool:
            return bool(self)
        if self.affine is not None:
            return self.trace.decisions.exactly(self.affine, "a number that had to be exact")
        reason = "a number that had to be exact"
        if self.value != self.value:
            raise needs_python("a NaN had to be an exact number", "pass another number")
        same = HostExpr("eq", (self.expr, HostExpr.const(self.value)))
        self.trace.decisions.condition(same, True, reason)
        if self.value == 0 and isinstance(self.value, float | np.floating):
            sign = HostExpr("copysign", (HostExpr.const(1.0), self.expr))
            positive = HostExpr("ge", (sign, HostExpr.const(0)))
            self.trace.decisions.condition(positive, math.copysign(1.0, self.value) > 0, reason)
        return self.value

    def as_affine(self) -> AffineExpr:
        """The int it is, as an affine expression: bools and NumPy integers are converted."""
        if self.affine is not None:
            return self.affine
        if not isinstance(self.value, int | np.integer):
            raise numpy_raises("TypeError: an integer is needed")
        if self.is_local:
            return NUMBER_OPS.symbol(NUMBER_OPS.kernel_arithmetic("int", (self,)))
        return self.trace.symbol(HostExpr("int", (self.expr,)), int(self.value))

    def __index__(self) -> int:
        if not isinstance(self.value, int | np.integer):
            kind = type(self.value).__name__
            raise numpy_raises(f"TypeError: '{kind}' object cannot be interpreted as an integer")
        return int(self.exact())

    def __int__(self) -> int:
        return int(self.exact())

    def __float__(self) -> float:
        return float(self.exact())

    def __hash__(self) -> int:
        return hash(self.exact())

    # text that the program makes is Python's; what `explain` and errors say has a form of its own
    def in_text(self) -> Any:
        """The value that text of the program shows: exact, or Python's to find in each call."""
        if self.trace.formats_in_python:
            raise needs_python("makes text of a number that changes with each call", MOVE_OUTSIDE)
        self.trace.shows_numbers = True
        return self.exact()

    def __format__(self, spec: str) -> str:
        return format(self.in_text() if makes_text(self.trace) else self.value, spec)

    def __str__(self) -> str:
        return str(self.in_text()) if makes_text(self.trace) else repr(self)

    def __repr__(self) -> str:
        if makes_text(self.trace):
            return repr(self.in_text())
        return f"<traced number {self.expr} = {self.value!r}>"

    def __copy__(self) -> SymbolicNumber:
        return self

    def __deepcopy__(self, memo: Any) -> SymbolicNumber:
        return self

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        what = f"a function that fusejit does not trace asked for the value of {self.expr}"
        raise needs_python(what, MOVE_OUTSIDE)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
        return NUMBER_OPS.ufunc(ufunc, method, args, kwargs)

    def rounded(self, *digits: Any) -> Any:
        """``round(x)``; with digits the value has to be exact."""
        if digits:
            return round(self.exact(), *map(operator.index, digits))
        return apply_host("round", self)

    def is_integer(self) -> Any:
        """``x.is_integer()``, of floats and of NumPy's numbers."""
        if not hasattr(type(self.value), "is_integer"):
            return self.__getattr__("is_integer")
        return apply_host("is_integer", self)

    def item(self, *at: Any) -> Any:
        """A NumPy scalar as a Python number."""
        _ = self.dtype
        if at not in ((), (0,), (-1,), ((),)):
            raise needs_python("fusejit does not trace item of numbers", MOVE_OUTSIDE)
        kind = self.value.dtype.kind
        if kind == "b":
            return apply_host("truth", self)
        return apply_host("float" if kind == "f" else "int", self)


def affine_number(trace: Trace, expr: AffineExpr) -> SymbolicNumber | int:
    """An extent as the program sees it: a number, or the int it always is."""
    expr = trace.decisions.canonical(expr)
    known = expr.as_constant()
    return known if known is not None else SymbolicNumber.of_affine(trace, expr)


# --------------------------------------------------------------------------------------- arithmetic
def is_host_number(obj: Any) -> bool:
    """Whether ``obj`` can stand in host arithmetic."""
    return isinstance(obj, SymbolicNumber | np.generic) or type(obj) in (int, float, bool)


def value_of(obj: Any) -> Any:
    """The value in this call."""
    return obj.value if isinstance(obj, SymbolicNumber) else obj


def expr_of(obj: Any) -> HostExpr:
    """How the launcher computes it."""
    return obj.expr if isinstance(obj, SymbolicNumber) else HostExpr.const(obj)


def as_affine(number: Any, refusal: str = "TypeError: {0!r} is no integer") -> AffineExpr:
    """An integer of the call or of the program; ``refusal`` is NumPy's error for anything else.

    Its ``{0}`` stands for the object, ``{1}`` for the name of its type.
    """
    if isinstance(number, SymbolicNumber):
        return number.as_affine()
    try:
        return AffineExpr.const(number.__index__())
    except AttributeError as error:
        raise numpy_raises(refusal.format(number, type(number).__name__)) from error


def _affine_of(obj: Any) -> AffineExpr | None:
    if isinstance(obj, SymbolicNumber):
        if obj.affine is None and type(obj.value) is bool and not obj.is_local:
            return obj.as_affine()
        return obj.affine
    if isinstance(obj, int):
        return AffineExpr.const(int(obj)) if abs(obj) < _LIMIT else None
    return None


MAX_ATOMS = 100  # of an affine number
MAX_NODES = 1000
"""Of the expression of a number. ``x = x * (1 - x)`` doubles it each time, and its text with it."""


def apply_host(op: str, *operands: Any) -> Any:
    """One row of `HOST_OPS` on numbers; falls back where Python would raise."""
    trace = next(o.trace for o in operands if isinstance(o, SymbolicNumber))
    affine = [_affine_of(o) for o in operands]
    if all(a is not None for a in affine):
        done = _apply_affine(trace, op, [a for a in affine if a is not None])
        if done is not None and not _is_large(done):
            return done
    if any(isinstance(o, SymbolicNumber) and o.is_local for o in operands):
        return NUMBER_OPS.kernel_arithmetic(op, operands)
    if op == "pow":
        _guard_power(trace, *operands)
    try:
        with np.errstate(all="ignore"):  # the launcher warns
            value = HOST_OPS[op].function(*map(value_of, operands))
    except (ArithmeticError, ValueError, TypeError) as error:
        raise numpy_raises(error) from error
    if isinstance(value, complex) and not isinstance(value, float):
        raise Fallback("a complex number")
    if op in ("truediv", "floordiv", "mod"):
        _guard_division(trace, affine[1], *operands)
    warns = trace.errstate and any(isinstance(value_of(o), np.generic) for o in operands)
    attr = errstate_text(trace.errstate) if warns else None
    expr = HostExpr(op, tuple(map(expr_of, operands)), attr)
    if expr.num_nodes > MAX_NODES:
        what = "a number is computed from arguments in many steps, without arrays"
        raise needs_python(what, "Python does that as fast; compute it outside")
    if type(value) is int:
        return _derived(trace, expr, value, affine if op in ("mul", "min", "max", "abs") else ())
    return SymbolicNumber(trace, value, expr)


def _derived(trace: Trace, expr: HostExpr, value: int, operands: Any) -> SymbolicNumber:
    """An int that is not affine: a symbol of its own."""
    if abs(value) >= _LIMIT:
        raise Fallback("integer arithmetic beyond 62 bits")
    decisions = trace.decisions
    signs = [a is not None and decisions.proves_nonnegative(a) for a in operands]
    if expr.op == "mul" and all(signs):
        known = NUMBER_OPS.product(trace, operands)
        if known is not None:
            return SymbolicNumber.of_affine(trace, known)
    low = 0 if expr.op == "abs" or (signs and all(signs)) else None
    symbol = trace.symbol(expr, value, low)
    if expr.op in ("min", "max"):
        for a in operands:
            decisions.assume_nonnegative(a - symbol if expr.op == "min" else symbol - a)
    return SymbolicNumber.of_affine(trace, symbol)


def _is_large(result: Any) -> bool:
    """Whether it is an affine expression of large coefficients, or of many quotients.

    It becomes a symbol of its own. A kernel should not multiply by the former; the text of the
    latter may double with each operation: ``k = k // 2 + k // 3``.
    """
    if not isinstance(result, SymbolicNumber) or result.affine is None:
        return False
    if result.affine.num_nodes > MAX_ATOMS:
        return True
    size = sum(abs(c) for _, c in result.affine.terms)
    return size > LARGEST_COEFFICIENT or abs(result.affine.constant) > LARGEST_SYMBOL


def _apply_affine(trace: Trace, op: str, operands: list[AffineExpr]) -> Any:
    """Integer arithmetic and comparisons that stay affine; None where they do not."""
    left = trace.decisions.canonical(operands[0])
    if len(operands) == 1:
        if op == "neg":
            return affine_number(trace, -left)
        if op in ("pos", "int", "floor", "ceil", "round"):
            return affine_number(trace, left)
        if op == "abs" and trace.decisions.proves_nonnegative(left):
            return affine_number(trace, left)
        return None
    right = trace.decisions.canonical(operands[1])
    if op == "add":
        return affine_number(trace, left + right)
    if op == "sub":
        return affine_number(trace, left - right)
    if op == "mul" and (left.is_constant or right.is_constant):
        return affine_number(
            trace, left * right.constant if right.is_constant else right * left.constant
        )
    if op in ("floordiv", "mod") and right.is_constant:
        if not right.constant:
            raise numpy_raises("ZeroDivisionError")
        known = left.floordiv(right.constant) if op == "floordiv" else left.mod(right.constant)
        return affine_number(trace, known)
    if op in ("min", "max"):
        for small, large in ((left, right), (right, left)):
            if trace.decisions.proves_nonnegative(large - small):
                return affine_number(trace, small if op == "min" else large)
        return None
    condition: Condition | None = {
        "ge": ("ge", left - right, False),
        "lt": ("ge", left - right, True),
        "le": ("ge", right - left, False),
        "gt": ("ge", right - left, True),
        "eq": ("eq", left - right, False),
        "ne": ("eq", left - right, True),
    }.get(op)
    if condition is None:
        return None
    value = HOST_OPS[op].function(*map(trace.decisions.hint, (left, right)))
    expr = HostExpr(op, (host_of(left), host_of(right)))
    return SymbolicNumber(trace, value, expr, None, condition)


def _guard_power(trace: Trace, base: Any, exponent: Any) -> None:
    """Decide what the type of ``base ** exponent`` depends on."""
    b, e = value_of(base), value_of(exponent)
    if isinstance(b, np.generic) or isinstance(e, np.generic):
        return
    zero = HostExpr.const(0)
    decide = trace.decisions.condition
    if isinstance(b, int) and isinstance(e, int):
        if isinstance(exponent, SymbolicNumber):
            decide(HostExpr("ge", (expr_of(exponent), zero)), e >= 0, "the sign of an exponent")
    elif isinstance(base, SymbolicNumber) or isinstance(exponent, SymbolicNumber):
        decide(HostExpr("ge", (expr_of(base), zero)), b >= 0, "the sign of the base of a power")
        if b < 0 and isinstance(exponent, SymbolicNumber) and isinstance(e, float):
            raise Fallback("a negative number to a power")


def _guard_division(trace: Trace, affine: AffineExpr | None, number: Any, divisor: Any) -> None:
    """Python raises where it divides by zero, also for a quotient that nothing needs."""
    by_numpy = isinstance(value_of(number), np.generic) or isinstance(value_of(divisor), np.generic)
    if by_numpy or not isinstance(divisor, SymbolicNumber):
        return
    reason = "a number is divided by it"
    if affine is not None:
        trace.decisions.equal(affine, 0, reason)
    else:
        is_zero = HostExpr("eq", (divisor.expr, HostExpr.const(0)))
        trace.decisions.condition(is_zero, False, reason)


_SAME_NAME = "add sub mul truediv floordiv mod pow lshift rshift"
_BINARY = {
    **{op: op for op in _SAME_NAME.split()},
    **{op: f"bit{op}" for op in ("and", "or", "xor")},
}
_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
_UNARY = ("neg", "pos", "invert", "abs", "floor", "ceil")


def _install() -> None:
    def binary(name: str, op: str, reflected: bool) -> Callable[[SymbolicNumber, Any], Any]:
        def method(self: SymbolicNumber, other: Any) -> Any:
            if isinstance(other, complex | np.complexfloating):
                operands = (other, self) if reflected else (self, other)
                return NUMBER_OPS.complex_arithmetic(op, operands)
            if not is_host_number(other):
                kind = Kind.SCALAR if self.is_strong else Kind.PYTHON
                number = number_of_subclass(other, kind, reflected, (name,))
                if number is None:
                    return NUMBER_OPS.unsupported_operand(op, self, other)
                other = number
            return apply_host(op, other, self) if reflected else apply_host(op, self, other)

        return method

    def unary(op: str) -> Callable[[SymbolicNumber], Any]:
        def method(self: SymbolicNumber) -> Any:
            return apply_host(op, self)

        return method

    for python_name, op in _BINARY.items():
        setattr(SymbolicNumber, f"__{python_name}__", binary(python_name, op, False))
        setattr(SymbolicNumber, f"__r{python_name}__", binary(python_name, op, True))
    for op in _COMPARISONS:
        setattr(SymbolicNumber, f"__{op}__", binary(op, op, False))
    for op in _UNARY:
        setattr(SymbolicNumber, f"__{op}__", unary(op))
    SymbolicNumber.__round__ = SymbolicNumber.rounded  # type: ignore[attr-defined]


_install()
