"""Typed values in registers, and what is computed of them: see `codegen.backend.llvm_emitter`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from fusejit.codegen.intrinsics_jit.parallel import LoopBody
from fusejit.codegen.machine.numba_api import from_dtype, ir, types
from fusejit.dataclass import dataclass

Value = Any
_I1, _I64 = ir.IntType(1), ir.IntType(64)
_ARITHMETIC: dict[str, tuple[Any, str, str]] = {
    "+": (operator.add, "add", "fadd"),
    "-": (operator.sub, "sub", "fsub"),
    "*": (operator.mul, "mul", "fmul"),
    "/": (operator.truediv, "", "fdiv"),
    "//": (operator.floordiv, "", ""),
    "%": (operator.mod, "", ""),
    "&": (operator.and_, "and_", ""),
    "|": (operator.or_, "or_", ""),
    "^": (operator.xor, "xor", ""),
    ">>": (operator.rshift, "", ""),
}
"""Operator -> function, instruction for int64, instruction for two floats of one type."""
_COMPARISONS: dict[str, Any] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_UNARY: dict[str, Any] = {"neg": operator.neg, "~": operator.invert}
_WITHOUT_OVERFLOW = ("add", "sub", "mul")  # to Numba signed overflow does not happen


class UnsupportedLowering(Exception):
    """The loops have something that is not written here."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A value in a register and its Numba type; ``literal`` is the int it is known to be."""

    type: Any
    value: Value
    literal: int | None = None


class ModuleOfKernel(Protocol):
    """The part of a `KernelModule` that its functions use.

    Attributes
    ----------
    target
        Numba's target context.
    module
        The LLVM module.
    """

    target: Any
    module: Any

    def constant(self, name: str) -> Any:
        """A float, or the Numba type of what a global name stands for."""

    def intrinsic(self, name: str, given: Sequence[Any], literals: Sequence[Any]) -> Any:
        """(signature, code) of an intrinsic."""

    def operation(self, function: Any, given: tuple[Any, ...]) -> Any:
        """(signature, code) of one of Python's operators."""

    def body(self, name: str) -> LoopBody:
        """A definition as an argument of ``parallel_for``."""

    def loop_metadata(self, hints: tuple[tuple[str, int], ...]) -> Any:
        """Metadata of one more loop."""


class ValueEmitter:
    """Writes operations on values where its builder stands."""

    def __init__(self, module: ModuleOfKernel) -> None:
        self.module = module
        self.target = module.target
        self.builder: Any = None

    # -- numbers ---------------------------------------------------------------------------------
    def integer(self, number: int) -> Typed:
        """An int64 that is known."""
        return Typed(types.int64, ir.Constant(_I64, number), number)

    def number(self, value: Any, dtype: np.dtype) -> Typed:
        """A number of an exact dtype."""
        kind = from_dtype(dtype)
        if dtype.kind == "c":
            parts = dtype.type(value)
            sides = (self.number(part, part.dtype) for part in (parts.real, parts.imag))
            return self.call("complex_of", [*sides])
        plain = float(dtype.type(value)) if dtype.kind == "f" else int(value)
        return Typed(kind, ir.Constant(self.target.get_value_type(kind), plain))

    def literal(self, value: bool | int | float) -> Typed:
        """A number of Python's."""
        if type(value) is bool:
            return Typed(types.boolean, ir.Constant(_I1, int(value)))
        if type(value) is int:
            return self.integer(value)
        return Typed(types.float64, ir.Constant(ir.DoubleType(), value))

    def global_name(self, name: str) -> Typed:
        """A constant, or the name of a dtype."""
        found = self.module.constant(name)
        if isinstance(found, float):
            return self.literal(found)
        return Typed(found, self.target.get_dummy_value())

    def cast(self, given: Typed, wanted: Any) -> Value:
        """As Numba converts arguments."""
        if given.type is wanted or types.unliteral(wanted) is given.type:
            return given.value
        return self.target.cast(self.builder, given.value, given.type, wanted)

    # -- operators -------------------------------------------------------------------------------
    def apply(self, function: Any, *operands: Typed) -> Typed:
        """One of Python's operators as Numba implements it."""
        signature, code = self.module.operation(function, tuple(o.type for o in operands))
        pairs = zip(operands, signature.args, strict=True)
        value = code(self.builder, [self.cast(o, wanted) for o, wanted in pairs])
        return Typed(types.unliteral(signature.return_type), value)

    def operate(self, sign: str, *operands: Typed) -> Typed:
        """An operator by its sign: ``"neg"`` is that of one operand."""
        if sign in _UNARY:
            return self.apply(_UNARY[sign], *operands)
        if sign == "not":
            return Typed(types.boolean, self.builder.not_(self.truth(*operands)))
        left, right = operands
        if sign in _COMPARISONS:
            return self._compare(sign, left, right)
        return self._arithmetic(sign, left, right)

    def _arithmetic(self, sign: str, left: Typed, right: Typed) -> Typed:
        function, for_int64, for_floats = _ARITHMETIC[sign]
        if left.type is right.type:
            kind, builder = left.type, self.builder
            if kind is types.int64 and for_int64:
                flags = ("nsw",) if for_int64 in _WITHOUT_OVERFLOW else ()
                written = getattr(builder, for_int64)(left.value, right.value, flags=flags)
                return Typed(kind, written)
            if for_floats and isinstance(kind, types.Float):
                return Typed(kind, getattr(builder, for_floats)(left.value, right.value))
            is_division = function in (operator.floordiv, operator.mod)
            if kind is types.int64 and is_division and (right.literal or 0) > 0:
                assert right.literal is not None
                return Typed(kind, self._divided(function, left.value, right.literal))
        return self.apply(function, left, right)

    def _divided(self, function: Any, number: Value, divisor: int) -> Value:
        """Quotient or remainder as in Python; the divisor is above zero."""
        builder = self.builder
        if divisor & (divisor - 1) == 0:
            if function is operator.mod:
                return builder.and_(number, ir.Constant(_I64, divisor - 1))
            return builder.ashr(number, ir.Constant(_I64, divisor.bit_length() - 1))
        rest = builder.srem(number, ir.Constant(_I64, divisor))
        below = builder.icmp_signed("<", rest, ir.Constant(_I64, 0))
        if function is operator.mod:
            return builder.select(below, builder.add(rest, ir.Constant(_I64, divisor)), rest)
        quotient = builder.sdiv(number, ir.Constant(_I64, divisor))
        return builder.add(quotient, builder.sext(below, _I64))

    def _compare(self, sign: str, left: Typed, right: Typed) -> Typed:
        if left.type is not right.type:
            return self.apply(_COMPARISONS[sign], left, right)
        kind, builder = left.type, self.builder
        if isinstance(kind, types.Float):
            test = builder.fcmp_unordered if sign == "!=" else builder.fcmp_ordered
        elif isinstance(kind, types.Integer) and kind.signed:
            test = builder.icmp_signed
        elif isinstance(kind, types.Integer | types.Boolean):
            test = builder.icmp_unsigned
        else:
            raise UnsupportedLowering(f"a comparison of {kind}")
        return Typed(types.boolean, test(sign, left.value, right.value))

    def truth(self, condition: Typed) -> Value:
        """A condition in a register of one bit."""
        if condition.type is not types.boolean:
            raise UnsupportedLowering(f"the truth of {condition.type}")
        return condition.value

    def int64(self, number: Typed) -> Value:
        """An int64 in a register."""
        if number.type is not types.int64:
            raise UnsupportedLowering(f"a bound of {number.type}")
        return number.value

    def logical(self, operands: Sequence[Callable[[], Typed]], *, is_and: bool) -> Typed:
        """``and``, ``or``: the operands after the first are looked at only where they count."""
        builder = self.builder
        done = builder.append_basic_block("known")
        incoming = []
        for each in operands[:-1]:
            condition = self.truth(each())
            following = builder.append_basic_block("and" if is_and else "or")
            incoming.append((ir.Constant(_I1, int(not is_and)), builder.block))
            pair = (following, done) if is_and else (done, following)
            builder.cbranch(condition, *pair)
            builder.position_at_end(following)
        incoming.append((self.truth(operands[-1]()), builder.block))
        builder.branch(done)
        builder.position_at_end(done)
        result = builder.phi(_I1)
        for value, block in incoming:
            result.add_incoming(value, block)
        return Typed(types.boolean, result)

    def extreme(self, name: str, operands: Sequence[Typed]) -> Typed:
        """``min`` and ``max`` of int64, ``abs`` of one."""
        builder = self.builder
        if any(o.type is not types.int64 for o in operands):
            raise UnsupportedLowering(f"{name} of other numbers")
        best = operands[0].value
        if name == "abs":
            is_below = builder.icmp_signed("<", best, ir.Constant(_I64, 0))
            opposite = builder.sub(ir.Constant(_I64, 0), best, flags=("nsw",))
            return Typed(types.int64, builder.select(is_below, opposite, best))
        for each in operands[1:]:
            is_better = builder.icmp_signed("<" if name == "min" else ">", each.value, best)
            best = builder.select(is_better, each.value, best)
        return Typed(types.int64, best)

    # -- arrays and functions --------------------------------------------------------------------
    def array_field(self, array: Typed, name: str, axis: int | None) -> Typed:
        """A field of an array, out of its struct: the checks of a call ask for many."""
        if not isinstance(array.type, types.Array):
            raise UnsupportedLowering(f"an attribute of {array.type}")
        field = {"size": "nitems"}.get(name, name)
        place = self.target.data_model_manager[array.type].get_field_position(field)
        at = [place] if axis is None else [place, axis]
        return Typed(types.int64, self.builder.extract_value(array.value, at))

    def call(self, name: str, operands: Sequence[Typed]) -> Typed:
        """A function of `fusejit.codegen.intrinsics`."""
        given = [o.type for o in operands]
        literals = [o.type if o.literal is None else types.literal(o.literal) for o in operands]
        signature, code = self.module.intrinsic(name, given, literals)
        wanted = signature.args
        plain = len(wanted)
        if wanted and isinstance(wanted[-1], types.StarArgTuple | types.StarArgUniTuple):
            plain -= 1
        pairs = zip(operands[:plain], wanted[:plain], strict=False)
        values = [self.cast(o, w) for o, w in pairs]
        for left_out in wanted[len(values) : plain]:
            if left_out is not types.none:
                raise UnsupportedLowering(f"{name} without {left_out}")
            values.append(self.target.get_dummy_value())
        if plain < len(wanted):
            rest = [o.value for o in operands[plain:]]
            values.append(self.target.make_tuple(self.builder, wanted[-1], rest))
        value = code(self.target, self.builder, signature, values)
        return Typed(types.unliteral(signature.return_type), value)
