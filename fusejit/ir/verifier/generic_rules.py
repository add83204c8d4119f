"""Rules about generic ops: maps, iterators, payload, inits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.ops import GenericOp, Init
from fusejit.ir.payload import I64, Instr, Payload, iterate_refs
from fusejit.ir.scalar_ops.combiners import COMBINERS
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS
from fusejit.ir.types import BOOL, IteratorType, TensorType
from fusejit.ir.verifier.op_rules import is_number_of, type_difference

_FREE_FORM = ("const", "index", "cast", "extract")


def iterators_match_the_domain(op: GenericOp) -> Iterator[str]:
    """One iterator type and one extent per dim; extents are free of dims."""
    if len(op.iterators) != len(op.domain):
        yield f"{len(op.iterators)} iterators for {len(op.domain)} dims"
    if any(e.dims() for e in op.domain):
        yield "the domain depends on a dim"


def maps_match_domain_and_operand(op: GenericOp) -> Iterator[str]:
    """Every map takes the dims of the domain to the axes of its operand."""
    if len(op.results) != len(op.inits):
        return
    operands = [(repr(o.value), o.map, o.value.type.rank) for o in op.inputs]
    results = zip(op.inits, op.results, strict=True)
    operands += [(f"result {r!r}", i.map, r.type.rank) for i, r in results]
    for name, indexing_map, rank in operands:
        if indexing_map.num_dims != len(op.domain):
            yield f"{indexing_map} of {name} takes {indexing_map.num_dims} dims of {len(op.domain)}"
        elif any(d >= len(op.domain) for d in indexing_map.dims()):
            yield f"{indexing_map} of {name} uses a dim that it does not take"
        if indexing_map.rank != rank:
            yield f"{indexing_map} gives {indexing_map.rank} indices to {name} of rank {rank}"


def operand_extents_can_hold_the_domain(op: GenericOp) -> Iterator[str]:
    """A dim that is an axis of an input by itself is not longer than that axis, as far as known.

    A domain without points leaves no axis.
    """
    if any(extent.as_constant() == 0 for extent in op.domain):
        return
    gathered = op.payload.gathered()
    for number, operand in enumerate(op.inputs):
        pairs = zip(operand.map.results, operand.value.type.extents, strict=False)
        for axis, (result, extent) in enumerate(pairs):
            dim = result.as_dim()
            if dim is None or dim >= len(op.domain) or number in gathered:
                continue
            if op.domain[dim].is_above(extent):
                yield f"d{dim} of {op.domain[dim]} leaves axis {axis} of {operand.value!r}"


def payload_arguments_match_the_operands(op: GenericOp) -> Iterator[str]:
    """The payload's arguments are the elements of the inputs, then of the results."""
    dtypes = (*(o.value.type.dtype for o in op.inputs), *(r.type.dtype for r in op.results))
    if op.payload.num_inputs != len(op.inputs):
        yield f"the payload has {op.payload.num_inputs} inputs, the op {len(op.inputs)}"
    elif op.payload.arguments != dtypes:
        yield f"{_names(op.payload.arguments)} are not the operands' {_names(dtypes)}"


def payload_refs_stand_after_their_definition(op: GenericOp) -> Iterator[str]:
    """An instruction uses arguments and earlier instructions, a yield any of them."""
    payload = op.payload
    for ref, instr in iterate_refs(payload):
        if any(not 0 <= o < ref for o in instr.operands):
            yield f"{payload.ref_name(ref)} uses something that is not defined before it"
    if any(not 0 <= r < payload.num_arguments + len(payload.instrs) for r in payload.results):
        yield "something that is not defined is yielded"


def payload_ops_take_the_dtypes_of_their_row(op: GenericOp) -> Iterator[str]:
    """As NumPy's loop for these dtypes would have them, and with a template for code generation."""
    if next(payload_refs_stand_after_their_definition(op), None):
        return
    for ref, instr in iterate_refs(op.payload):
        operands = tuple(op.payload.dtype_of(o) for o in instr.operands)
        if instr.op in _FREE_FORM:
            complaint = _free_form_complaint(op, instr, operands)
        elif instr.op in SCALAR_OPS:
            complaint = _row_complaint(instr.op, operands, instr.dtype)
        else:
            complaint = f"{instr.op!r} is not a scalar op"
        if complaint:
            yield f"{op.payload.ref_name(ref)}: {complaint}"


def _free_form_complaint(op: GenericOp, instr: Instr, operands: Sequence[np.dtype]) -> str | None:
    if instr.op == "const" and not is_number_of(instr.attr, instr.dtype):
        return f"{instr.attr!r} is not a Python number that {instr.dtype} holds"
    if instr.op == "index":
        if not isinstance(instr.attr, AffineExpr) or instr.dtype != I64:
            return "index is an affine expression of dtype int64"
        if any(d >= len(op.domain) for d in instr.attr.dims()):
            return f"index ({instr.attr}) uses a dim that the domain does not have"
    if instr.op == "cast" and len(operands) != 1:
        return "cast takes one operand"
    if instr.op == "extract":
        if not 0 <= instr.attr < len(op.inputs):
            return f"there is no input {instr.attr}"
        source = op.inputs[instr.attr].value.type
        if len(operands) != source.rank or any(d.kind not in "iu" for d in operands):
            return f"extract takes {source.rank} integers"
        if source.dtype != instr.dtype:
            return f"extract from {source.dtype} cannot be {instr.dtype}"
    return None


@lru_cache(maxsize=4096)
def _row_complaint(name: str, operands: tuple[np.dtype, ...], result: np.dtype) -> str | None:
    row = SCALAR_OPS[name]
    loop: tuple[np.dtype, ...]
    if len(operands) != row.arity:
        return f"{row.name} takes {row.arity} operands"
    if row.function is not None:
        given = operands if len(set(operands)) == 1 else (operands[0],) * row.arity
        loop = (*given, np.asarray(row.function(*(d.type(0) for d in given))).dtype)
    elif row.ufunc is None:
        wanted = (BOOL, result, result)
        loop = (*operands, result) if operands == wanted else (*wanted, result)
    else:
        try:
            loop = row.ufunc.resolve_dtypes((*operands, None))
        except TypeError:
            return f"NumPy has no {row.name} of {_names(operands)}"
    if loop != (*operands, result):
        return (
            f"{row.name} is {_names(loop[:-1])} -> {loop[-1]}, not {_names(operands)} -> {result}"
        )
    if row.template(operands[0]) is None:
        return f"{row.name} of {_names(operands)} is not compiled"
    return None


def payload_yields_the_results(op: GenericOp) -> Iterator[str]:
    """One number per result, of its dtype; ``and`` and ``or`` combine bools."""
    if next(payload_refs_stand_after_their_definition(op), None):
        return
    payload: Payload = op.payload
    if len(payload.results) != len(op.results):
        yield f"{len(payload.results)} numbers for {len(op.results)} results"
        return
    for ref, init, result in zip(payload.results, op.inits, op.results, strict=False):
        if payload.dtype_of(ref) != result.type.dtype:
            yield f"{payload.dtype_of(ref)} is yielded for {result!r} of {result.type.dtype}"
        if init.combiner in ("and", "or") and result.type.dtype != BOOL:
            yield f"{init.combiner} combines bools, not {result.type.dtype}"
        if init.combiner in ("bitwise_and", "bitwise_or") and result.type.dtype.kind not in "iu":
            yield f"{init.combiner} combines integers, not {result.type.dtype}"


def result_types_match_their_maps(op: GenericOp) -> Iterator[str]:
    """An axis that is a dim by itself has the dim's extent, unless there is a start value."""
    for init, result in zip(op.inits, op.results, strict=False):
        if init.start is not None:
            if difference := type_difference(init.start.type, result.type):
                yield f"the start's type {difference}, the result's"
            continue
        for axis, (expr, extent) in enumerate(
            zip(init.map.results, result.type.extents, strict=False)
        ):
            dim = expr.as_dim()
            if dim is not None and dim < len(op.domain) and extent != op.domain[dim]:
                yield f"axis {axis} of {result!r} is {extent}, d{dim} has {op.domain[dim]}"


def combiners_reduce_the_missing_dims(op: GenericOp) -> Iterator[str]:
    """A combiner's map lacks the reduction dims and has all parallel ones."""
    for init in op.inits:
        if init.combiner is None:
            continue
        if init.combiner not in COMBINERS:
            yield f"{init.combiner!r} is not a combiner"
        for dim, iterator in enumerate(op.iterators):
            occurs = dim in init.map.dims()
            if iterator is IteratorType.REDUCTION and occurs:
                yield f"reduction dim d{dim} occurs in the map {init.map}"
            if iterator is IteratorType.PARALLEL and not occurs and not _is_unit(op, dim):
                yield f"parallel dim d{dim} is missing in the map {init.map}"


def plain_writes_reach_every_element_once(op: GenericOp) -> Iterator[str]:
    """Without a combiner all dims occur; without a start value too, nothing is left out."""
    for init, result in zip(op.inits, op.results, strict=False):
        if init.combiner is None:
            for dim, iterator in enumerate(op.iterators):
                parallel = iterator is not IteratorType.SEQUENTIAL
                if parallel and dim not in init.map.dims() and not _is_unit(op, dim):
                    yield f"d{dim} is missing in {init.map}: an element would be written twice"
        if init.start is None and not _covers(init, result.type):
            yield f"{init.map} leaves out elements of {result!r}, which starts from nothing"


def payload_reads_only_started_results(op: GenericOp) -> Iterator[str]:
    """``out<k>`` is read only where a start value or the previous point of a scan wrote it."""
    scans = IteratorType.SEQUENTIAL in op.iterators
    for number, init in enumerate(op.inits):
        if not op.payload.reads_init(number):
            continue
        if init.combiner is not None:
            yield f"out{number} is read while {init.combiner} combines it"
        if init.start is None and not scans:
            yield f"out{number} is read but starts from nothing"


def routines_start_from_nothing(op: GenericOp) -> Iterator[str]:
    """A library routine writes its result: it does not read what is there."""
    if op.library_call is not None:
        for init in op.inits:
            if init.start is not None:
                yield f"the routine {op.library_call} starts from {init.start!r}"


def register_tiles_match_the_domain(op: GenericOp) -> Iterator[str]:
    """A register tile has one entry for each dim; a dim with a size is parallel."""
    if op.register_tile is None:
        return
    sizes = op.register_tile.sizes
    if len(sizes) != len(op.domain):
        yield f"{len(sizes)} sizes of registers for {len(op.domain)} dims"
    elif not 0 <= op.register_tile.vector_dim < len(sizes):
        yield "no dim of the registers is vectorized"
    elif sizes[op.register_tile.vector_dim] is None:
        yield f"the vectorized dim {op.register_tile.vector_dim} has no size"
    for size, iterator in zip(sizes, op.iterators, strict=False):
        if size is not None and (size < 1 or iterator is not IteratorType.PARALLEL):
            yield f"{size} points of a dim that is {iterator.value} in registers"


def _covers(init: Init, type_: TensorType) -> bool:
    dims = [r.as_dim() for r in init.map.results]
    plain = [d for d in dims if d is not None]
    return len(set(plain)) == len(plain) and all(
        d is not None or (r.as_constant() == 0 and e.as_constant() == 1)
        for d, r, e in zip(dims, init.map.results, type_.extents, strict=False)
    )


def _is_unit(op: GenericOp, dim: int) -> bool:
    return dim < len(op.domain) and op.domain[dim].as_constant() == 1


def _names(dtypes: Sequence[np.dtype]) -> str:
    return f"({', '.join(map(str, dtypes))})"


GENERIC_RULES: tuple[Callable[[GenericOp], Iterator[str]], ...] = (
    iterators_match_the_domain,
    maps_match_domain_and_operand,
    operand_extents_can_hold_the_domain,
    payload_arguments_match_the_operands,
    payload_refs_stand_after_their_definition,
    payload_ops_take_the_dtypes_of_their_row,
    payload_yields_the_results,
    result_types_match_their_maps,
    combiners_reduce_the_missing_dims,
    plain_writes_reach_every_element_once,
    payload_reads_only_started_results,
    routines_start_from_nothing,
    register_tiles_match_the_domain,
)
