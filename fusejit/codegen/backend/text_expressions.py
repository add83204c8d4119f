"""Expressions of kernel text, typed as they are written: see `codegen.backend.native_text`."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from fusejit.codegen.machine.numba_api import ir, types
from fusejit.dataclass import dataclass

Value = Any
_I64 = ir.IntType(64)
_BINARY: dict[type[ast.operator], tuple[Any, str, str]] = {
    ast.Add: (operator.add, "add", "fadd"),
    ast.Sub: (operator.sub, "sub", "fsub"),
    ast.Mult: (operator.mul, "mul", "fmul"),
    ast.Div: (operator.truediv, "", "fdiv"),
    ast.FloorDiv: (operator.floordiv, "", ""),
    ast.Mod: (operator.mod, "", ""),
    ast.BitAnd: (operator.and_, "and_", ""),
    ast.BitOr: (operator.or_, "or_", ""),
    ast.BitXor: (operator.xor, "xor", ""),
    ast.LShift: (operator.lshift, "", ""),
    ast.RShift: (operator.rshift, "", ""),
}
"""Operator -> function, instruction for int64, instruction for two floats of one type."""
_COMPARED: dict[type[ast.cmpop], tuple[Any, str]] = {
    ast.Eq: (operator.eq, "=="),
    ast.NotEq: (operator.ne, "!="),
    ast.Lt: (operator.lt, "<"),
    ast.LtE: (operator.le, "<="),
    ast.Gt: (operator.gt, ">"),
    ast.GtE: (operator.ge, ">="),
}
_WITHOUT_OVERFLOW = ("add", "sub", "mul")  # to Numba signed overflow does not happen


class Unwritten(Exception):
    """The text has something that is not written here."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A value in a register and its Numba type; ``literal`` is the int it is known to be."""

    type: Any
    value: Value
    literal: int | None = None


class Implementations(Protocol):
    """What a writer of expressions asks about names that are not its own."""

    @property
    def namespace(self) -> Mapping[str, Any]: ...

    def intrinsic(self, name: str, given: Sequence[Any], literals: Sequence[Any]) -> Any: ...

    def operation(self, function: Any, given: tuple[Any, ...]) -> Any: ...


class ExpressionWriter:
    """Writes expressions where its builder stands; what names hold is up to the class below."""

    def __init__(self, kernel: Implementations, target: Any, names: frozenset[str]) -> None:
        self.kernel = kernel
        self.target = target
        self.locals = names
        self.builder: Any = None

    def name(self, node: ast.Name) -> Typed:
        """What a name holds."""
        raise NotImplementedError

    def expression(self, node: ast.expr) -> Typed:
        """Any expression of the language."""
        write = _EXPRESSIONS.get(type(node))
        if write is None:
            raise Unwritten(type(node).__name__)
        return write(self, node)

    def truth(self, node: ast.expr) -> Value:
        """A condition in a register of one bit."""
        condition = self.expression(node)
        if condition.type is not types.boolean:
            raise Unwritten(f"the truth of {condition.type}")
        return condition.value

    def int64(self, node: ast.expr) -> Value:
        """An int64 in a register."""
        number = self.expression(node)
        if number.type is not types.int64:
            raise Unwritten(f"a bound of {number.type}")
        return number.value

    def cast(self, given: Typed, wanted: Any) -> Value:
        """As Numba converts arguments."""
        if given.type is wanted or types.unliteral(wanted) is given.type:
            return given.value
        return self.target.cast(self.builder, given.value, given.type, wanted)

    def apply(self, function: Any, *operands: Typed) -> Typed:
        """One of Python's operators as Numba implements it."""
        signature, code = self.kernel.operation(function, tuple(o.type for o in operands))
        pairs = zip(operands, signature.args, strict=True)
        value = code(self.builder, [self.cast(o, wanted) for o, wanted in pairs])
        return Typed(types.unliteral(signature.return_type), value)

    def _constant(self, node: ast.Constant) -> Typed:
        return self.constant(node.value)

    def constant(self, number: Any) -> Typed:
        """A literal."""
        if type(number) is bool:
            return Typed(types.boolean, ir.Constant(ir.IntType(1), int(number)), number)
        if type(number) is int and -(2**63) <= number < 2**63:
            return Typed(types.int64, ir.Constant(_I64, number), number)
        if type(number) is int and 0 <= number < 2**64:
            return Typed(types.uint64, ir.Constant(_I64, number), number)
        if type(number) is float:
            return Typed(types.float64, ir.Constant(ir.DoubleType(), number))
        raise Unwritten(repr(number))

    def _binary(self, node: ast.BinOp) -> Typed:
        function, for_int64, for_floats = _BINARY.get(type(node.op), (None, "", ""))
        if function is None:
            raise Unwritten(type(node.op).__name__)
        left, right = self.expression(node.left), self.expression(node.right)
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

    def _unary(self, node: ast.UnaryOp) -> Typed:
        if isinstance(node.op, ast.Not):
            return Typed(types.boolean, self.builder.not_(self.truth(node.operand)))
        inner = node.operand
        number = inner.value if isinstance(inner, ast.Constant) else None
        if isinstance(node.op, ast.USub) and isinstance(number, int | float):
            return self.constant(-number)
        operand = self.expression(inner)
        function = {ast.USub: operator.neg, ast.Invert: operator.invert}.get(type(node.op))
        if function is None:
            raise Unwritten(type(node.op).__name__)
        return self.apply(function, operand)

    def _compare(self, node: ast.Compare) -> Typed:
        if len(node.ops) > 1:  # a < b < c; to compute what stands between twice changes nothing
            sides = [node.left, *node.comparators]
            pairs = zip(sides, node.ops, sides[1:], strict=False)
            return self._logical(
                ast.BoolOp(ast.And(), [ast.Compare(a, [o], [b]) for a, o, b in pairs])
            )
        if type(node.ops[0]) not in _COMPARED:
            raise Unwritten("a comparison")
        function, sign = _COMPARED[type(node.ops[0])]
        left, right = self.expression(node.left), self.expression(node.comparators[0])
        if left.type is not right.type:
            return self.apply(function, left, right)
        kind, builder = left.type, self.builder
        if isinstance(kind, types.Float):
            test = builder.fcmp_unordered if sign == "!=" else builder.fcmp_ordered
        elif isinstance(kind, types.Integer) and kind.signed:
            test = builder.icmp_signed
        elif isinstance(kind, types.Integer | types.Boolean):
            test = builder.icmp_unsigned
        else:
            raise Unwritten(f"a comparison of {kind}")
        return Typed(types.boolean, test(sign, left.value, right.value))

    def _logical(self, node: ast.BoolOp) -> Typed:
        """``and``, ``or``: the operands after the first are looked at only where they count."""
        builder = self.builder
        is_and = isinstance(node.op, ast.And)
        done = builder.append_basic_block("known")
        incoming = []
        for each in node.values[:-1]:
            condition = self.truth(each)
            following = builder.append_basic_block("and" if is_and else "or")
            incoming.append((ir.Constant(ir.IntType(1), int(not is_and)), builder.block))
            pair = (following, done) if is_and else (done, following)
            builder.cbranch(condition, *pair)
            builder.position_at_end(following)
        incoming.append((self.truth(node.values[-1]), builder.block))
        builder.branch(done)
        builder.position_at_end(done)
        result = builder.phi(ir.IntType(1))
        for value, block in incoming:
            result.add_incoming(value, block)
        return Typed(types.boolean, result)

    def _subscript(self, node: ast.Subscript) -> Typed:
        """``a.shape[k]``, ``a.strides[k]``."""
        inner, at = node.value, node.slice
        if not isinstance(inner, ast.Attribute) or inner.attr not in ("shape", "strides"):
            raise Unwritten("a subscript")
        if not isinstance(at, ast.Constant) or type(at.value) is not int:
            raise Unwritten("a subscript")
        return Typed(types.int64, self._field(inner, at.value))

    def _attribute(self, node: ast.Attribute) -> Typed:
        """``a.size``."""
        if node.attr != "size":
            raise Unwritten(node.attr)
        return Typed(types.int64, self._field(node))

    def _field(self, node: ast.Attribute, *at: int) -> Value:
        """A field of an array, out of its struct: the checks of a call ask for many."""
        array = self.expression(node.value)
        if not isinstance(array.type, types.Array):
            raise Unwritten(f"an attribute of {array.type}")
        field = {"size": "nitems"}.get(node.attr, node.attr)
        place = self.target.data_model_manager[array.type].get_field_position(field)
        return self.builder.extract_value(array.value, [place, *at])

    def _call(self, node: ast.Call) -> Typed:
        if not isinstance(node.func, ast.Name) or node.keywords or node.func.id in self.locals:
            raise Unwritten("a call")
        name = node.func.id
        operands = [self.expression(each) for each in node.args]
        if name in ("min", "max", "abs") and name not in self.kernel.namespace:
            return self._python_function(name, operands)
        given = [o.type for o in operands]
        literals = [o.type if o.literal is None else types.literal(o.literal) for o in operands]
        signature, code = self.kernel.intrinsic(name, given, literals)
        wanted = signature.args
        plain = len(wanted)
        if wanted and isinstance(wanted[-1], types.StarArgTuple | types.StarArgUniTuple):
            plain -= 1
        pairs = zip(operands[:plain], wanted[:plain], strict=False)
        values = [self.cast(o, w) for o, w in pairs]
        for left_out in wanted[len(values) : plain]:
            if left_out is not types.none:
                raise Unwritten(f"{name} without {left_out}")
            values.append(self.target.get_dummy_value())
        if plain < len(wanted):
            rest = [o.value for o in operands[plain:]]
            values.append(self.target.make_tuple(self.builder, wanted[-1], rest))
        value = code(self.target, self.builder, signature, values)
        return Typed(types.unliteral(signature.return_type), value)

    def _python_function(self, name: str, operands: Sequence[Typed]) -> Typed:
        """``min``, ``max`` and ``abs`` of int64."""
        builder = self.builder
        if not operands or any(o.type is not types.int64 for o in operands):
            raise Unwritten(f"{name} of other numbers")
        best = operands[0].value
        if name == "abs":
            is_below = builder.icmp_signed("<", best, ir.Constant(_I64, 0))
            opposite = builder.sub(ir.Constant(_I64, 0), best, flags=("nsw",))
            return Typed(types.int64, builder.select(is_below, opposite, best))
        for each in operands[1:]:
            is_better = builder.icmp_signed("<" if name == "min" else ">", each.value, best)
            best = builder.select(is_better, each.value, best)
        return Typed(types.int64, best)


_EXPRESSIONS: dict[type[ast.expr], Callable[[ExpressionWriter, Any], Typed]] = {
    ast.Name: lambda self, node: self.name(node),
    ast.Constant: ExpressionWriter._constant,
    ast.BinOp: ExpressionWriter._binary,
    ast.UnaryOp: ExpressionWriter._unary,
    ast.Compare: ExpressionWriter._compare,
    ast.BoolOp: ExpressionWriter._logical,
    ast.Subscript: ExpressionWriter._subscript,
    ast.Attribute: ExpressionWriter._attribute,
    ast.Call: ExpressionWriter._call,
}
