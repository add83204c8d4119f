"""The body of a ``linalg.generic`` as a payload."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fusejit.errors import ParseError, UnsupportedError
from fusejit.ir.affine import AffineExpr
from fusejit.ir.affine_parser import parse_affine_expr
from fusejit.ir.indexing_map import IndexingMap, split_top_level
from fusejit.ir.linalg_functions import FUNCTIONS
from fusejit.ir.ops import Operand
from fusejit.ir.payload import I64, Payload, PayloadBuilder
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS
from fusejit.ir.types import DTYPES
from fusejit.ir.values import Value
from fusejit.mlir.export.mlir_op_table import (
    ALL_FLOAT_PREDICATES,
    CASTS,
    FLOAT_PREDICATES,
    INDEX_OPS,
    INTEGER_PREDICATES,
    ROWS_BY_OPERATION,
    affine_of,
)

BOOL = np.dtype(np.bool_)
Complaint = Callable[[Any, str], UnsupportedError]
# The combiner of a reduction by the operation that a body yields, for numbers and for bools.
COMBINER_OPS = {
    "arith.addf": "add", "arith.addi": "add", "arith.mulf": "multiply", "arith.muli": "multiply",
    "arith.maximumf": "max", "arith.maxsi": "max", "arith.minimumf": "min", "arith.minsi": "min",
}  # fmt: skip
BOOL_COMBINER_OPS = {"arith.andi": "and", "arith.ori": "or"}
LINALG_FUNCTIONS = {"arith.divsi": "div", "math.rsqrt": "rsqrt", "math.round": "round"}
"""The function of linalg that an operation is, where no scalar op is."""


def dtype_of(type_: Any) -> np.dtype | None:
    """The dtype of an element type, integers read as signed; None where there is none."""
    name = str(type_)
    return DTYPES.get(name) if name[:1] in "if" else None


def number_of(attribute: Any, dtype: np.dtype) -> Any:
    """The Python number of an ``arith.constant``."""
    if dtype.kind == "b":
        return str(attribute).split()[0] in ("true", "1", "-1")
    number = attribute.value
    if dtype.kind == "i":
        number = (number + 2 ** (8 * dtype.itemsize - 1)) % 2 ** (8 * dtype.itemsize)
        number -= 2 ** (8 * dtype.itemsize - 1)
    return dtype.type(number).item()


def apply_map(attribute: Any, operands: Sequence[AffineExpr]) -> AffineExpr:
    """The value of an ``affine.apply`` for given operands, dims first."""
    text = str(attribute).removeprefix("affine_map<").removesuffix(">")
    left, _, right = text.partition("->")
    dims, _, rest = left.strip().removeprefix("(").partition(")")
    num_dims = len(split_top_level(dims))
    names = split_top_level(rest.strip().removeprefix("[").removesuffix("]"))
    expr = parse_affine_expr(right.strip().removeprefix("(").removesuffix(")"))
    symbols = dict(zip(names, operands[num_dims:], strict=True))
    return expr.substitute(dims=list(operands[:num_dims]), symbols=symbols)


class BodyReader:
    """Reads one body.

    Parameters
    ----------
    block : mlir Block
        The body.
    outside : callable
        The graph value or index of an SSA value from outside the body.
    inputs : sequence of (argument, Operand)
        The block arguments that are read, with what they are elements of.
    outs : sequence of (argument, dtype)
        The block arguments of the results.
    num_dims : int
        Dims of the domain.
    complaint : callable
        Makes the error for an operation.
    numbers : mapping
        The values from outside that are constants: they are written into the payload.
    dims : sequence
        The block arguments that are the dims of the domain themselves, if it has such.
    """

    def __init__(
        self,
        block: Any,
        outside: Callable[[Any], object],
        inputs: Sequence[tuple[Any, Operand]],
        outs: Sequence[tuple[Any, np.dtype]],
        num_dims: int,
        complaint: Complaint,
        numbers: Mapping[Value, Any],
        dims: Sequence[Any] = (),
    ) -> None:
        self.ops = [op.operation for op in block]
        self.outside = outside
        self.num_dims = num_dims
        self.numbers = numbers
        self.complaint = complaint
        self.inputs = [operand for _, operand in inputs]
        self.indices: dict[Any, AffineExpr] = {d: AffineExpr.dim(k) for k, d in enumerate(dims)}
        self.inside = {arg for arg, _ in inputs} | {arg for arg, _ in outs}
        self.inside |= {r for op in self.ops for r in op.results}
        self.extra: list[Operand] = []
        self.place: dict[Any, int] = {}  # SSA values that are elements of extra inputs
        self.gathers: dict[Any, int] = {}  # and those at subscripts that are computed
        self._find_extra_inputs()
        self.inputs += self.extra
        self.builder = PayloadBuilder(
            [o.value.type.dtype for o in self.inputs], [dtype for _, dtype in outs]
        )
        self.refs: dict[Any, int] = {arg: k for k, (arg, _) in enumerate(inputs)}
        self.refs |= {arg: len(self.inputs) + k for k, (arg, _) in enumerate(outs)}
        base = len(inputs)
        self.refs |= {value: base + k for value, k in self.place.items()}
        self.gathers = {v: base + k for v, k in self.gathers.items()}

    def payload(self, replaced: dict[int, Any]) -> Payload:
        """The payload; result k is ``replaced[k]`` where the yield has a combiner."""
        return self.builder.finish(self.yielded(replaced))

    def yielded(self, replaced: dict[int, Any]) -> list[int]:
        """The refs that the body yields, or the combined ones."""
        skipped = {v.owner for v in self.skipped}
        for op in self.ops[:-1]:
            if op not in skipped:
                self.read(op)
        return [self.ref(replaced.get(k, v)) for k, v in enumerate(self.ops[-1].operands)]

    skipped: Sequence[Any] = ()

    # -- what comes from outside ----------------------------------------------------------------
    def _find_extra_inputs(self) -> None:
        """Numbers from outside and tensors that are extracted from, in the order of their use."""
        for op in self.ops:
            self._note_index(op)
            if op.name == "tensor.extract":
                source = self.outside(op.operands[0])
                if not isinstance(source, Value):
                    raise self.complaint(op, "an extract from something that is not a tensor")
                subscripts = [self._affine(v) for v in list(op.operands)[1:]]
                known = [s for s in subscripts if s is not None]
                if len(known) == len(subscripts):
                    operand = Operand(source, IndexingMap(self.num_dims, tuple(known)))
                    self.place[op.results[0]] = self._extra(operand)
                else:
                    zeros = (AffineExpr.const(0),) * source.type.rank
                    operand = Operand(source, IndexingMap(self.num_dims, zeros))
                    self.gathers[op.results[0]] = self._extra(operand)
                continue
            for value in op.operands:
                if value in self.inside or value in self.place or self._affine(value) is not None:
                    continue
                source = self.outside(value)
                if (
                    isinstance(source, Value)
                    and not source.type.rank
                    and source not in self.numbers
                ):
                    operand = Operand(source, IndexingMap.scalar(self.num_dims))
                    self.place[value] = self._extra(operand)

    def _extra(self, operand: Operand) -> int:
        if operand not in self.extra:
            self.extra.append(operand)
        return self.extra.index(operand)

    def _affine(self, value: Any) -> AffineExpr | None:
        """The affine expression that an index is, if it is one."""
        if value in self.indices:
            return self.indices[value]
        if value in self.inside or str(value.type) != "index":
            return None
        found = self.outside(value)
        return found if isinstance(found, AffineExpr) else None

    def _note_index(self, op: Any) -> None:
        if len(op.results) != 1 or str(op.results[0].type) != "index":
            return
        result = op.results[0]
        if op.name == "linalg.index":
            self.indices[result] = AffineExpr.dim(op.attributes["dim"].value)
        elif op.name == "arith.constant":
            self.indices[result] = AffineExpr.const(op.attributes["value"].value)
        else:
            operands = [self._affine(v) for v in op.operands]
            known = [o for o in operands if o is not None]
            if len(known) == len(operands):
                expr = index_arithmetic(op, known)
                if expr is not None:
                    self.indices[result] = expr

    # -- instructions ---------------------------------------------------------------------------
    def ref(self, value: Any) -> int:
        """The ref of an SSA value; an index becomes an int64."""
        if value in self.refs:
            return self.refs[value]
        expr = self._affine(value)
        if expr is None:
            source = None if value in self.inside else self.outside(value)
            if isinstance(source, Value) and source in self.numbers:
                return self.builder.const(self.numbers[source], source.type.dtype)
            raise self.complaint(value.owner, "this value cannot be read in a body")
        return self.builder.index(expr)

    def read(self, op: Any) -> None:
        """One operation."""
        if len(op.results) != 1:
            raise self.complaint(op, "it has no form in a payload")
        result = op.results[0]
        if result in self.indices or result in self.refs:
            return
        self.refs[result] = self.instr(op, result)

    def instr(self, op: Any, result: Any) -> int:
        """The ref of what an operation computes."""
        builder, name = self.builder, op.name
        dtype = I64 if str(result.type) == "index" else dtype_of(result.type)
        if dtype is None:
            raise self.complaint(op, f"the element type {result.type} is not compiled")
        if name == "arith.constant":
            return builder.const(number_of(op.attributes["value"], dtype), dtype)
        if result in self.gathers:
            subscripts = [self.ref(v) for v in list(op.operands)[1:]]
            return builder.extract(self.gathers[result], subscripts, dtype)
        operands = [self.ref(v) for v in op.operands]
        if name == "arith.select":
            return builder.op("select", operands, dtype)
        if name in ("arith.index_cast", "arith.bitcast") or name in CASTS:
            return self.cast(op, operands[0], dtype)
        if name == "arith.index_castui":
            unsigned = np.dtype(f"u{builder.dtype_of(operands[0]).itemsize}")
            return builder.cast(builder.cast(operands[0], unsigned), dtype)
        if name in ("arith.cmpi", "arith.cmpf"):
            return self.comparison(op, operands)
        if name in ("arith.maxnumf", "arith.minnumf"):
            return self.number_preferred(op, operands, dtype)
        if name in LINALG_FUNCTIONS:
            return FUNCTIONS[LINALG_FUNCTIONS[name]].lower(builder, operands, dtype)
        return self.row(op, name, operands)

    def row(self, op: Any, operation: str, operands: Sequence[int]) -> int:
        """The row of the scalar op table for an operation; unsigned ones read casted operands."""
        builder = self.builder
        dtype = builder.dtype_of(operands[0])
        row = ROWS_BY_OPERATION.get((operation, dtype.kind))
        if row is None or row.name not in SCALAR_OPS:
            raise self.complaint(op, f"{operation} of {dtype} has no scalar op")
        if row.kind == "u":
            unsigned = np.dtype(f"u{dtype.itemsize}")
            operands = [builder.cast(o, unsigned) for o in operands]
        scalar = SCALAR_OPS[row.name]
        read = builder.dtype_of(operands[0])
        if scalar.template(read) is None:
            raise self.complaint(op, f"{row.name} of {read} is not compiled")
        made_of = read  # a row without a ufunc computes in the dtype of its operands
        if scalar.ufunc is not None:
            made_of = scalar.ufunc.resolve_dtypes((*[read] * scalar.arity, None))[-1]
        made = builder.op(row.name, operands, made_of)
        return builder.cast(made, dtype) if row.kind == "u" and made_of == read else made

    def comparison(self, op: Any, operands: list[int]) -> int:
        """``cmpi`` and ``cmpf``, with the predicates NumPy has no function for."""
        builder = self.builder
        at = op.attributes["predicate"].value
        if op.name == "arith.cmpi":
            return self.row(op, f"arith.cmpi {INTEGER_PREDICATES[at]}", operands)
        predicate = ALL_FLOAT_PREDICATES[at]
        if predicate in ("true", "false"):
            return builder.const(predicate == "true", BOOL)
        if predicate in ("uno", "ord"):
            tests = [builder.op("isnan", [o], BOOL) for o in dict.fromkeys(operands)]
            negated = predicate == "ord"
        elif predicate in FLOAT_PREDICATES:
            names, negated = FLOAT_PREDICATES[predicate]
            tests = [builder.op(n, operands, BOOL) for n in names]
        else:
            return self.row(op, f"arith.cmpf {predicate}", operands)
        either = tests[0] if len(tests) == 1 else builder.op("logical_or", tests, BOOL)
        return builder.op("logical_not", [either], BOOL) if negated else either

    def number_preferred(self, op: Any, operands: list[int], dtype: np.dtype) -> int:
        """``maxnumf``: the larger one, or the one that is a number."""
        builder, (left, right) = self.builder, operands
        operation = op.name.replace("maxnumf", "maximumf").replace("minnumf", "minimumf")
        both = self.row(op, operation, operands)
        left_nan = builder.op("isnan", [left], BOOL)
        right_nan = builder.op("isnan", [right], BOOL)
        other = builder.op("select", [right_nan, left, both], dtype)
        return builder.op("select", [left_nan, right, other], dtype)

    def cast(self, op: Any, ref: int, dtype: np.dtype) -> int:
        """A conversion; MLIR says in its name how the bits of an integer are read."""
        builder = self.builder
        source = builder.dtype_of(ref)
        if op.name == "arith.index_cast":
            return builder.cast(ref, dtype)
        if op.name == "arith.bitcast":
            raise self.complaint(op, "bits are not reinterpreted")
        read, written = CASTS[op.name]
        if source == BOOL:
            as_int = builder.cast(ref, dtype)
            if read == "u":
                return as_int
            return builder.op("negative", [as_int], dtype)  # a signed bit is 0 or -1
        if dtype == BOOL:
            if op.name != "arith.trunci":
                raise self.complaint(op, "a float is not converted to one bit")
            one = builder.const(1, source)
            return builder.cast(builder.op("bitwise_and", [ref, one], source), BOOL)
        if read == "u":
            ref = builder.cast(ref, np.dtype(f"u{source.itemsize}"))
        if written == "u":
            ref = builder.cast(ref, np.dtype(f"u{dtype.itemsize}"))
        return builder.cast(ref, dtype)


def index_arithmetic(op: Any, operands: Sequence[AffineExpr]) -> AffineExpr | None:
    """An operation on indices as an affine expression, if it is one."""
    try:
        if op.name == "affine.apply":
            return apply_map(op.attributes["map"], operands)
    except ParseError:
        return None
    if op.name == "arith.ceildivsi":
        left, right = operands
        below = affine_of("floordiv", -left, right)
        return None if below is None else -below
    names = [host for host, name in INDEX_OPS.items() if name == op.name]
    return affine_of(names[0], *operands) if names else None
