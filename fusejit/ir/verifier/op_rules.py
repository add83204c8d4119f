"""Rules about single ops: views, memory, constants, control flow."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from fusejit.ir.affine import AffineExpr, Sym
from fusejit.ir.ops import (
    Alias,
    Alloc,
    Assert,
    Bind,
    Cond,
    ConstantOp,
    GenericOp,
    Load,
    Loop,
    Op,
    ReshapeOp,
    Scatter,
    Store,
    ViewOp,
    Write,
    walk,
)
from fusejit.ir.reassociation import Reassociation
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS
from fusejit.ir.types import BOOL, Kind, TensorType, part_dtype
from fusejit.ir.values import Value
from fusejit.ir.verifier.graph_rules import array_complaints, view_complaints


def may_be_equal(left: AffineExpr, right: AffineExpr) -> bool:
    """Whether two extents are not different numbers."""
    difference = (left - right).as_constant()
    return difference is None or difference == 0


def type_difference(left: TensorType, right: TensorType) -> str | None:
    """Why two types cannot be the same, or None."""
    fits = left.rank == right.rank and all(map(may_be_equal, left.extents, right.extents))
    return None if fits and left.dtype == right.dtype else f"{left} is not {right}"


# ------------------------------------------------------------------------------- values and results
def ops_have_the_results_of_their_kind(op: Op) -> Iterator[str]:
    """One per init, one for a view, load or constant, none for stores and allocations."""
    expected = len(op.results)
    match op:
        case GenericOp():
            expected = len(op.inits)
        case ConstantOp() | ViewOp() | ReshapeOp() | Load():
            expected = 1
        case Write() | Assert() | Alloc() | Alias() | Bind():
            expected = 0
        case Loop():
            expected = len(op.carried)
        case Cond():
            expected = len(op.then_block.yields)
    if len(op.results) != expected:
        yield f"{len(op.results)} results instead of {expected}"


def values_are_well_formed(op: Op) -> Iterator[str]:
    """Known element types, orders that are permutations; NumPy scalars and numbers of rank 0."""
    for value in (*op.results, *(a for block in op.blocks for a in block.arguments)):
        yield from array_complaints(value)
        if value.kind is not Kind.ARRAY and value.type.rank:
            yield f"{value!r} is a {value.kind.value} of rank {value.type.rank}"


def constants_are_numbers_of_their_type(op: ConstantOp) -> Iterator[str]:
    """A Python number, in a value of rank 0 that can hold it."""
    if len(op.results) != 1:
        return
    type_ = op.results[0].type
    if type_.rank:
        yield f"a constant of rank {type_.rank}"
    elif not is_number_of(op.number, type_.dtype):
        yield f"{op.number!r} is not a Python number that {type_} holds"


def is_number_of(number: object, dtype: np.dtype) -> bool:
    """Whether it is the Python number that an element of this dtype turns into."""
    if dtype.kind == "c":
        return type(number) is complex and repr(dtype.type(number).item()) == repr(number)
    if dtype.kind == "f":
        return type(number) is float and repr(dtype.type(number).item()) == repr(number)
    if dtype.kind == "b":
        return type(number) is bool
    info = np.iinfo(dtype)
    return type(number) is int and info.min <= number <= info.max


# ----------------------------------------------------------------------------------- views, memory
def views_fit_their_source(op: Op) -> Iterator[str]:
    """The map takes the result's rank to the source's; a load has the type of its view."""
    if len(op.results) != 1:
        return
    result = op.results[0]
    if isinstance(op, ViewOp):
        if op.map.num_dims != result.type.rank:
            yield f"{op.map} takes {op.map.num_dims} dims for a result of rank {result.type.rank}"
        if any(d >= op.map.num_dims for d in op.map.dims()):
            yield f"{op.map} uses a dim that it does not take"
        if op.map.rank != op.source.type.rank:
            yield f"{op.map} gives {op.map.rank} indices to rank {op.source.type.rank}"
        if op.source.type.dtype != result.type.dtype:
            yield f"a view of {op.source.type.dtype} cannot be {result.type.dtype}"
    if isinstance(op, Load):
        yield from view_complaints(op.view)
        if op.view.type != result.type:
            yield f"the view is {op.view.type}, the result {result.type}"


def reshapes_split_or_merge_neighbouring_axes(op: Op) -> Iterator[str]:
    """Groups count the axes of the finer side; axes that stay keep their extents.

    An alias is of the same class as its base, and of its element type or that of its parts.
    """
    if isinstance(op, ReshapeOp) and len(op.results) == 1:
        yield from _reshape_complaints(op.reassociation, op.source.type, op.results[0].type)
    if isinstance(op, Alias):
        base, reassociation = op.buffer.base, op.buffer.reassociation
        if base is None or (reassociation is None) == (op.buffer.part is None):
            yield f"{op.buffer!r} has no base"
            return
        if reassociation is not None:
            yield from _reshape_complaints(reassociation, base.type, op.buffer.type)
        elif op.buffer.type != TensorType(part_dtype(base.type.dtype), base.type.extents):
            yield f"{op.buffer!r} is not one part of {base!r}"
        if op.buffer.alias_class != base.alias_class:
            yield f"{op.buffer!r} is not in the class of {base!r}"


def _reshape_complaints(
    reassociation: Reassociation, source: TensorType, result: TensorType
) -> Iterator[str]:
    if not reassociation.is_well_formed:
        yield f"{reassociation} does not list the axes in order"
        return
    if (source.rank, result.rank) != (reassociation.source_rank, reassociation.result_rank):
        yield f"{reassociation} does not take rank {source.rank} to rank {result.rank}"
        return
    if source.dtype != result.dtype:
        yield f"a reshape of {source.dtype} cannot be {result.dtype}"
    fine, coarse = (result, source) if reassociation.expands else (source, result)
    for axis, group in enumerate(reassociation.groups):
        known = [fine.extents[k].as_constant() for k in group]
        whole = coarse.extents[axis].as_constant()
        if len(group) == 1 and not may_be_equal(fine.extents[group[0]], coarse.extents[axis]):
            yield f"axis {axis} stays and yet changes its extent"
        elif not _may_be_product(whole, known):
            yield f"axis {axis} of extent {whole} is not the product of {known}"


def _may_be_product(whole: int | None, factors: Sequence[int | None]) -> bool:
    """Whether a number is not known to be something else than the product."""
    known = [f for f in factors if f is not None]
    return whole is None or len(known) < len(factors) or math.prod(known) == whole


def stores_fit_their_view(op: Write) -> Iterator[str]:
    """Value and mask have the extents of the view, and its buffer may be written."""
    yield from view_complaints(op.view)
    if not op.view.buffer.writeable:
        yield f"{op.view.buffer!r} is readonly"
    if not isinstance(op, Store):
        return
    if difference := type_difference(op.value.type, op.view.type):
        yield f"the value's type {difference}, the view's"
    if op.mask is not None:
        wanted = TensorType(BOOL, op.view.extents)
        if difference := type_difference(op.mask.type, wanted):
            yield f"the mask's type {difference}"


def scatters_reach_elements_of_their_view(op: Scatter) -> Iterator[str]:
    """One subscript per axis, from the value's dims or from integers; elements of one dtype."""
    rank, dtype = op.value.type.rank, op.view.buffer.type.dtype
    if op.value.type.dtype != dtype:
        yield f"{op.value.type.dtype} is scattered into {dtype}"
    if len(op.subscripts) != len(op.view.extents):
        yield f"{len(op.subscripts)} subscripts for {len(op.view.extents)} axes"
    if op.combine is not None and (
        op.combine not in SCALAR_OPS or SCALAR_OPS[op.combine].arity != 2
    ):
        yield f"{op.combine!r} is not a binary scalar op"
    for subscript in op.subscripts:
        if isinstance(subscript, AffineExpr):
            if any(d >= rank for d in subscript.dims()):
                yield f"({subscript}) uses a dim that the value does not have"
            continue
        source = subscript.value.type
        if source.dtype.kind not in "iu":
            yield f"{subscript.value!r} of {source.dtype} is not a subscript"
        if subscript.map.num_dims != rank or subscript.map.rank != source.rank:
            yield f"{subscript.map} does not take the value's dims to {subscript.value!r}"


def assertions_take_one_bool(op: Assert) -> Iterator[str]:
    """The condition of a check is one bool."""
    return _one_bool("the condition is", (op.condition,))


def allocations_are_well_formed(op: Op) -> Iterator[str]:
    """As for the buffers of arguments; and who allocates may write."""
    if isinstance(op, Alloc | Alias):
        yield from array_complaints(op.buffer)
    if isinstance(op, Alloc) and not op.buffer.writeable:
        yield f"{op.buffer!r} is readonly, so nothing can be in it"


# ------------------------------------------------------------------------------------ control flow
def symbols_are_bound_to_integers(op: Bind) -> Iterator[str]:
    """An int64 of rank 0."""
    if op.value.type.rank or op.value.type.dtype != np.int64:
        yield f"{op.symbol} is bound to {op.value.type}"


def loops_carry_one_type(op: Loop) -> Iterator[str]:
    """Start, argument, yield and result of a carried value have one type."""
    yield from _same_types("argument", op.body.arguments, "start", op.carried)
    yield from _same_types("yield", op.body.yields, "argument", op.body.arguments)
    yield from _same_types("result", op.results, "argument", op.body.arguments)


def loops_are_counted_or_conditional(op: Loop) -> Iterator[str]:
    """Either an induction variable with bounds and a step, or a condition that yields one bool."""
    counted = (op.induction, op.lower, op.upper)
    if op.condition is None:
        if None in counted:
            yield "a counted loop needs an induction variable and two bounds"
        if op.step == 0:
            yield "the step is 0"
        if any(e is not None and e.dims() for e in (op.lower, op.upper)):
            yield "a bound depends on a dim"
        if op.is_parallel and op.carried:
            yield "a parallel loop carries values"
        return
    if op.is_parallel:
        yield "a conditional loop is parallel"
    if counted != (None, None, None):
        yield "a conditional loop has an induction variable or a bound"
    if op.condition.arguments != op.body.arguments:
        yield "the condition does not have the body's arguments"
    yield from _one_bool("the condition yields", op.condition.yields)


def tiles_have_lengths(op: Loop) -> Iterator[str]:
    """The body of a counted loop binds the lengths of its tiles; nothing grows as they shrink."""
    if not op.tiles:
        return
    bound = {inner.symbol for inner in walk(op.body) if isinstance(inner, Bind)}
    for value in (result for inner in walk(op.body) for result in inner.results):
        factors = [e.coefficient(Sym(t.length)) for e in value.type.extents for t in op.tiles]
        if min(factors, default=0) < 0:
            yield f"{value!r} is largest in the shortest tile"
    yield from (f"{t.length} is not bound in the body" for t in op.tiles if t.length not in bound)
    if op.condition is not None:
        yield "a conditional loop has tiles"


def conditionals_choose_between_equal_types(op: Cond) -> Iterator[str]:
    """The predicate is one bool; both blocks yield the types of the results."""
    yield from _one_bool("the predicate is", (op.predicate,))
    for name, block in (("then", op.then_block), ("else", op.else_block)):
        if block.arguments:
            yield f"the {name} block has arguments"
        yield from _same_types("yield", block.yields, "result", op.results)


def _one_bool(what: str, values: Sequence[Value]) -> Iterator[str]:
    if len(values) != 1 or values[0].type != TensorType(BOOL):
        yield f"{what} {', '.join(str(v.type) for v in values) or 'nothing'} instead of i1"


def _same_types(
    what: str, values: Sequence[Value], other: str, others: Sequence[Value]
) -> Iterator[str]:
    if len(values) != len(others):
        yield f"{len(values)} {what}s for {len(others)} {other}s"
        return
    for value, expected in zip(values, others, strict=True):
        if difference := type_difference(value.type, expected.type):
            yield f"{what} {value!r}: {difference}, the type of {other} {expected!r}"


OP_RULES: dict[Callable[..., Iterator[str]], type[Op]] = {
    ops_have_the_results_of_their_kind: Op,
    values_are_well_formed: Op,
    constants_are_numbers_of_their_type: ConstantOp,
    views_fit_their_source: Op,
    reshapes_split_or_merge_neighbouring_axes: Op,
    stores_fit_their_view: Write,
    scatters_reach_elements_of_their_view: Scatter,
    assertions_take_one_bool: Assert,
    allocations_are_well_formed: Op,
    symbols_are_bound_to_integers: Bind,
    loops_carry_one_type: Loop,
    loops_are_counted_or_conditional: Loop,
    tiles_have_lengths: Loop,
    conditionals_choose_between_equal_types: Cond,
}
"""The rules, each with the kind of ops that it is about."""
