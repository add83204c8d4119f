"""A bound definition as the generic op of the IR, but for its values.

An output of complex numbers is summed as two results, its real and its imaginary parts; one that is
merged by ``max_unsigned`` on signed integers is accumulated in the unsigned type of their width.
`Accumulated` says how the results become the output.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass, replace
from fusejit.ir.affine import AffineExpr
from fusejit.ir.definitions.binding import Binding
from fusejit.ir.definitions.definition import Access, Definition, Update
from fusejit.ir.definitions.indices import DIM, Index
from fusejit.ir.definitions.scalars import PayloadLowering
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.linalg_functions import unsigned
from fusejit.ir.ops import GenericOp, Init, Operand
from fusejit.ir.payload import Payload, PayloadBuilder
from fusejit.ir.scalar_ops.combiners import COMBINERS
from fusejit.ir.types import IteratorType, part_dtype
from fusejit.ir.values import Value

_OF_NUMPY = {"maximum": "max", "minimum": "min"}
"""What they are of numbers; of bools they always are NumPy's."""
_OF_INTEGERS = ("bitwise_and", "bitwise_or", "max_unsigned", "min_unsigned")
_OF_BOOLS = dict.fromkeys(("add", "bitwise_or", "max", "max_unsigned"), "or")
_OF_BOOLS |= dict.fromkeys(("multiply", "bitwise_and", "min", "min_unsigned"), "and")
_OF_SIGNED_BOOLS = {**_OF_BOOLS, "max": "and", "min": "or"}
"""The signed True is -1: the larger of two bools is true if both are."""


MAX_WINDOW_POINTS = 16
"""A window of at most so many points is written out (`fusejit.fuse.reshaping.unroll`)."""


@dataclass(frozen=True, slots=True)
class Accumulated:
    """How an output is accumulated.

    Attributes
    ----------
    combiner : str or None
        A row of `COMBINERS`; None for a plain write.
    dtypes : tuple of np.dtype
        Of the results of the op that make up the output: one, or real and imaginary parts.
    dtype : np.dtype
        Of the output.
    reads_init : bool
        Whether what the output holds before matters.
    is_optional : bool
        Whether the call may leave out where it starts.
    fill : object
        The number that it then holds before the op runs; None if it needs to hold none.
    """

    name: str
    combiner: str | None
    dtypes: tuple[np.dtype, ...]
    dtype: np.dtype
    map: IndexingMap
    reads_init: bool
    is_optional: bool
    fill: Any

    def joined(self, parts: Sequence[Any]) -> Any:
        """The output as an array of NumPy."""
        if len(parts) == 1:
            return parts[0].astype(self.dtype, copy=False)
        whole = np.empty(parts[0].shape, self.dtype)
        whole.real, whole.imag = parts
        return whole


@dataclass(frozen=True, slots=True)
class Instance:
    """All of a `GenericOp` but its values.

    Attributes
    ----------
    reads : tuple
        Operand name and map of each input.
    outputs : tuple of Accumulated
    """

    name: str
    domain: tuple[AffineExpr, ...]
    iterators: tuple[IteratorType, ...]
    reads: tuple[tuple[str, IndexingMap], ...]
    outputs: tuple[Accumulated, ...]
    payload: Payload

    def generic(
        self,
        inputs: Sequence[Value],
        starts: Sequence[Value | None],
        results: Sequence[Value],
        library_call: str | None = None,
    ) -> GenericOp:
        """The op: one value for each read, and one start and result for each accumulated part."""
        parts = [(output, part) for output in self.outputs for part in output.dtypes]
        return GenericOp(
            domain=self.domain,
            iterators=self.iterators,
            inputs=tuple(Operand(v, m) for v, (_, m) in zip(inputs, self.reads, strict=True)),
            inits=tuple(
                Init(output.map, output.combiner, start)
                for (output, _), start in zip(parts, starts, strict=True)
            ),
            payload=self.payload,
            name=self.name,
            library_call=library_call,
            is_named=True,
            results=tuple(results),
        )


def instantiate(binding: Binding, in_order: bool | None = None) -> list[Instance]:
    """The op that a binding describes: more than one if its outputs have different dims.

    Parameters
    ----------
    in_order : bool, optional
        Whether reduction dims run in order; by default what `runs_in_order` says.

    Raises
    ------
    TypeError
        If the payload has no meaning for the dtypes, or gives a type that its output cannot take.
    """
    parts = binding.definition.parts()
    return [_instantiate(replace(binding, definition=part), in_order) for part in parts]


def _instantiate(binding: Binding, in_order: bool | None) -> Instance:
    """An op whose outputs all have the same dims."""
    definition = binding.definition

    def map_of(access: Access) -> IndexingMap:
        return definition.indexing_map(access, binding.extents, binding.attributes)

    if in_order is None or _has_complex_products(binding):
        in_order = runs_in_order(binding)
    reads = [a for a in definition.accesses if definition.is_read(a)]
    outputs = [
        _accumulated(binding, update, map_of(update.access), in_order)
        for update in definition.updates
    ]
    dtypes = [binding.dtype_of(definition.operand(a.operand)) for a in reads]
    builder = PayloadBuilder(dtypes, [part for output in outputs for part in output.dtypes])
    elements: dict[Any, int] = {
        (a.operand, a.subscripts, *([True] if a.is_padded else ())): k for k, a in enumerate(reads)
    }
    at = len(reads)
    for update, output in zip(definition.updates, outputs, strict=True):
        if output.combiner is None:
            elements[update.access.operand, update.access.subscripts] = at
        at += len(output.dtypes)
    names = {**binding.extents, **{d: AffineExpr.dim(k) for k, d in enumerate(definition.dims)}}

    def affine(index: Index) -> AffineExpr:
        return index.affine(names, binding.attributes)

    padded = {name: e for name, e in binding.shapes.items() if name not in binding.empty}
    lowering = PayloadLowering(
        builder, elements, binding.dtypes, affine, padded, definition.numpy_bools, binding.weak
    )
    refs: list[int] = []
    at = len(reads)
    for update, output in zip(definition.updates, outputs, strict=True):
        what = f"{definition.name}: {update.access.operand}"
        try:
            ref = lowering.cast_to(update.value, output.dtype, what)
        except TypeError as error:
            text = str(error)
            raise TypeError(text if text.startswith(what) else f"{what}: {text}") from None
        if len(output.dtypes) > 1:
            parts = [builder.op(p, [ref], output.dtypes[0]) for p in ("real", "imag")]
        else:
            parts = [builder.cast(ref, output.dtypes[0])]
        if update.combiner is not None and output.combiner is None:
            row = COMBINERS[combiner_row(definition, update, output.dtype)]
            merged = _merged_dtype(update, output.dtype)
            operands = [builder.cast(r, merged) for r in (at, *parts)]
            parts = [builder.cast(builder.op(row.scalar_op, operands, merged), output.dtype)]
        refs += parts
        at += len(output.dtypes)
    return Instance(
        definition.name,
        tuple(binding.dims[d] for d in definition.dims),
        tuple(map(_iterator_of(definition, in_order), definition.dims)),
        tuple((a.operand, map_of(a)) for a in reads),
        tuple(outputs),
        builder.finish(refs),
    )


def _iterator_of(definition: Definition, in_order: bool) -> Any:
    reduced = IteratorType.SEQUENTIAL if in_order else IteratorType.REDUCTION
    reductions = definition.reductions
    return lambda dim: reduced if dim in reductions else IteratorType.PARALLEL


def runs_in_order(binding: Binding) -> bool:
    """Whether the reduction dims run one point after the other, in the order of the domain.

    They do where a value reads what earlier points wrote; for products of complex numbers, whose
    parts have no products of their own; and for sums of floats over several dims down the columns
    of an operand, where any other order would keep partial sums in memory: one row of the output
    takes all terms in turn.
    """
    definition = binding.definition
    if definition.runs_in_order() or _has_complex_products(binding):
        return True
    return all(
        update.combiner == "add"
        and binding.dtype_of(definition.operand(update.access.operand)).kind == "f"
        and len(_long_dims(binding)) > 1
        and _is_down_columns(definition, update)
        for update in definition.updates
    )


def _has_complex_products(binding: Binding) -> bool:
    products = [u for u in binding.definition.updates if u.combiner == "multiply"]
    outputs = [binding.definition.operand(u.access.operand) for u in products]
    return any(binding.dtype_of(output).kind == "c" for output in outputs)


def _long_dims(binding: Binding) -> list[str]:
    """The reduction dims, but none if all of them are written out."""
    reductions = [d for d in binding.definition.dims if d in binding.definition.reductions]
    sizes = [binding.dims[d].as_constant() for d in reductions]
    known = [size for size in sizes if size is not None]
    is_small = len(known) == len(sizes) and math.prod(known) <= MAX_WINDOW_POINTS
    return [] if is_small else reductions


def _is_down_columns(definition: Definition, update: Update) -> bool:
    """Whether the last axis of the output is the last one of an operand that is read."""
    last = [s.as_dim() for s in update.access.subscripts[-1:]]
    moving = [set(a.subscripts[-1].names(DIM)) for a in definition.accesses if a.subscripts]
    return bool(last) and any(last[0] in dims for dims in moving)


def row_of_bools(combiner: str, numpy_bools: bool) -> str:
    """The row of `COMBINERS` that merges booleans."""
    of_numpy = numpy_bools or combiner in _OF_NUMPY
    combiner = _OF_NUMPY.get(combiner, combiner)
    return (_OF_BOOLS if of_numpy else _OF_SIGNED_BOOLS).get(combiner, combiner)


def combiner_row(definition: Definition, update: Update, dtype: np.dtype) -> str:
    """The row of `COMBINERS` that merges an output of this dtype.

    Raises
    ------
    TypeError
        If there is none.
    """
    combiner = str(update.combiner)
    if dtype.kind == "b":
        return row_of_bools(combiner, definition.numpy_bools)
    combiner = _OF_NUMPY.get(combiner, combiner)
    allowed = {"and": "b", "or": "b", **dict.fromkeys(_OF_INTEGERS, "iu")}
    of_complex = combiner in ("add", "multiply")
    if dtype.kind not in allowed.get(combiner, "iufc" if of_complex else "iuf"):
        raise TypeError(f"{definition.name}: {combiner} of {dtype} is not defined")
    return combiner.removesuffix("_unsigned")


def _merged_dtype(update: Update, dtype: np.dtype) -> np.dtype:
    """The dtype in which the combiner of an update compares or adds."""
    is_unsigned = str(update.combiner).endswith("_unsigned") and dtype.kind == "i"
    return unsigned(dtype) if is_unsigned else dtype


def _accumulated(
    binding: Binding, update: Update, indexing_map: IndexingMap, in_order: bool
) -> Accumulated:
    definition = binding.definition
    operand = definition.operand(update.access.operand)
    dtype = binding.dtype_of(operand)
    reads_init = definition.reads_init(update)
    combiner, identity = None, 0
    dtypes: tuple[np.dtype, ...] = (dtype,)
    is_optional = not reads_init or update.combiner is not None
    if update.combiner is not None:
        combiner = combiner_row(definition, update, dtype)
        dtypes = (_merged_dtype(update, dtype),)
        if dtype.kind == "c":
            dtypes = (part_dtype(dtype),) * 2
        identity = COMBINERS[combiner].identity(dtypes[0])
        if in_order or definition.is_read_by_values(operand.name):
            combiner, dtypes = None, (dtype,)  # values read whole elements
            if dtype.kind == "i":
                identity = np.asarray(identity, _merged_dtype(update, dtype)).astype(dtype).item()
    shape = binding.shapes[operand.name]
    covers = len(set(update.access.subscripts)) == len(shape) and all(
        (dim := subscript.as_dim()) is not None and binding.dims[dim] == extent
        for subscript, extent in zip(update.access.subscripts, shape, strict=True)
    )
    needs_number = not covers or (reads_init and combiner is None)
    return Accumulated(
        operand.name,
        combiner,
        dtypes,
        dtype,
        indexing_map,
        reads_init or not covers,
        is_optional,
        identity if needs_number else None,
    )
