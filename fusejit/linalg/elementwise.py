"""Elementwise ops of any rank: every operand has the output's shape, or is one number.

Nothing is broadcast and nothing is cast: operands and output have one type. Integers are divided
toward zero, halves are rounded away from zero, and the larger of two bools is true if both are,
since the signed True is -1.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fusejit.dataclass import replace
from fusejit.ir.definitions.definition import (
    Access,
    Definition,
    DefinitionError,
    OperandSpec,
    Role,
    Update,
    make_definition,
)
from fusejit.ir.definitions.indices import dims, extents
from fusejit.ir.definitions.scalars import FORMULA_NAMES, Scalar, apply, element
from fusejit.linalg.movement import integers
from fusejit.linalg.registry import cast_of, named, register
from fusejit.structured.annotations import Number, Output
from fusejit.structured.generic import (
    AffineMap,
    OpFamily,
    Resolved,
    affine_map,
    define_generic,
    given_only,
)
from fusejit.structured.op import StructuredOp, rank_of

_UNARY = "abs ceil erf exp floor log negf reciprocal round rsqrt sqrt square tanh"
_BINARY = "add sub mul div div_unsigned max min powf"
_NEWER = {name: name for name in ["sin", "cos", "tan", "log10", "log1p", "log2"]}
_NEWER |= {f"a{name}": f"arc{name}" for name in ["sin", "sinh", "cos", "cosh", "tan", "tanh"]}
_SAME = f"{_UNARY} sub div div_unsigned powf max_unsigned min_unsigned select"
KINDS: dict[str, Callable[..., Any]] = {
    **{name: FORMULA_NAMES[name] for name in _SAME.split()},
    "add": functools.partial(apply, "add"),
    "mul": functools.partial(apply, "multiply"),
    "max_signed": FORMULA_NAMES["max"],
    "min_signed": FORMULA_NAMES["min"],
    **{kind: functools.partial(apply, row) for kind, row in _NEWER.items()},
}
"""The kinds of `elementwise`."""
_SIGNS = "max_signed min_signed max_unsigned min_unsigned"
_NUM_INPUTS = {"select": 3} | dict.fromkeys(f"{_BINARY} {_SIGNS}".split(), 2)
"""The number of inputs of the kinds that have not one."""


def num_inputs(kind: str) -> int:
    """The number of inputs of a kind."""
    return _NUM_INPUTS.get(kind, 1)


def pointwise(
    name: str,
    operands: Mapping[str, Any],
    output: tuple[str, Any],
    compute: Callable[..., Scalar],
    doc: str | None,
    ranks: Mapping[str, int | None],
    attributes: Mapping[str, Any] | None = None,
) -> Definition:
    """The op of the rank of a call: ``operands`` and ``output`` are names and types."""
    rank = max((r for r in ranks.values() if r is not None), default=0)
    points, shape = dims("d", rank), extents("D", rank)
    specs, accesses = [], []
    for operand, type_ in operands.items():
        is_number = ranks.get(operand) == 0
        specs.append(OperandSpec(operand, Role.INPUT, type_, () if is_number else shape))
        accesses.append(Access(operand, () if is_number else points))
    specs.append(OperandSpec(output[0], Role.OUTPUT, output[1], shape))
    value = compute(*(element(a.operand, a.subscripts) for a in accesses))
    update = Update(Access(output[0], points), value)
    return make_definition(name, specs, accesses, [update], attributes=attributes, doc=doc)


def _register(
    name: str, operands: Mapping[str, Any], output: Any, compute: Any, doc: str, **options: Any
) -> None:
    def define(ranks: Mapping[str, int | None], attributes: Mapping[str, Any]) -> Definition:
        chosen = {**options, **attributes}
        function = compute(chosen) if options else compute
        return pointwise(name, operands, output, function, doc, ranks, options)

    register(StructuredOp(define(dict.fromkeys(operands, 1), {}), define))


def _define() -> None:
    for name in _UNARY.split():
        doc = f"``{name}`` of each element, of floats."
        _register(name, {"I": "T1"}, ("O", "T1"), FORMULA_NAMES[name], doc)
    for name in _BINARY.split():
        function = FORMULA_NAMES.get(name) or KINDS[name]
        doc = f"``{name}`` of two elements."
        _register(name, {"lhs": "T1", "rhs": "T1"}, ("O", "T1"), function, doc)
    condition = {"cond": np.dtype(np.bool_), "lhs": "T1", "rhs": "T1"}
    doc = "``lhs`` where ``cond`` is true, else ``rhs``."
    _register("select", condition, ("O", "T1"), FORMULA_NAMES["select"], doc)
    doc = "Each element, in the type of the output."
    _register("copy", {"I": "T1"}, ("O", "U"), _copy, doc, cast="cast_signed")
    register(StructuredOp(_fill({}, {}), _fill))


def _copy(attributes: Mapping[str, Any]) -> Callable[..., Scalar]:
    return functools.partial(FORMULA_NAMES[cast_of("copy", attributes)], "U")


def _fill(ranks: Mapping[str, int | None], attributes: Mapping[str, Any]) -> Definition:
    """Fill an array with one number; ``init`` or ``out`` gives the shape."""
    rank = ranks.get("O", 0 if ranks else 1) or 0
    value = OperandSpec("value", Role.SCALAR, "T1", ())
    output = OperandSpec("O", Role.OUTPUT, "U", extents("D", rank))
    points = dims("d", rank)
    update = Update(Access("O", points), FORMULA_NAMES["cast"]("U", element("value")))
    accesses = [Access("value", ())]
    return make_definition("fill", [value, output], accesses, [update], doc=_fill.__doc__)


_define()


@named
def fill_rng_2d(min: Number[F64], max: Number[F64], seed: Number[I32], O: Output[T, M, N]):
    """Pseudo-random numbers from ``min`` to ``max``, computed from ``seed`` and the index."""
    row = (cast(I32, index(m)) + seed) * const(I32, 1103515245) + const(I32, 12345)
    mixed = (cast(I32, index(n)) + row) * const(I32, 1103515245) + const(I32, 12345)
    scale = (max - min) * const(F64, 2.3283064e-10)
    O[m, n] = cast(T, (const(F64, 2147483647) + cast(F64, mixed)) * scale + min)


# ------------------------------------------------------------------- ops that a call describes
def _parallel(
    name: str, maps: Sequence[AffineMap], payload: Callable[..., Any], numpy_bools: bool
) -> Definition:
    """The op whose dims are all parallel; the payload gets the elements of the inputs."""
    iterators = ["parallel"] * len(maps[-1].dims)
    compute = lambda *elements: payload(*elements[:-1])  # noqa: E731
    return define_generic(
        len(maps) - 1, 1, maps, iterators, compute, name=name, numpy_bools=numpy_bools
    )


def _identity_maps(inputs: Sequence[Any], target: Any) -> list[AffineMap]:
    """The maps of inputs and of the result; those of numbers have no results."""
    ranks = [rank_of(x) for x in (*inputs, *([] if target is None else [target]))]
    rank = max(ranks)
    points = dims("d", rank)
    names = tuple(str(d) for d in points)
    whole, number = AffineMap(names, (), points), AffineMap(names, (), ())
    return [*(whole if r else number for r in ranks[: len(inputs)]), whole]


@OpFamily
def map(payload: Callable[..., Any], *inputs: Any, init: Any = None, out: Any = None) -> Resolved:
    """Apply ``payload`` to the elements of inputs of one shape.

    Without inputs the payload is a generator, which may use `index`. The result has the type of
    ``init`` or ``out``, by default that of the payload's number.
    """
    target = out if init is None else init
    if not inputs and target is None:
        raise TypeError("map: a payload without inputs takes its shape from init= or out=")
    maps = _identity_maps(inputs, target)
    return _parallel("map", maps, payload, numpy_bools=True), inputs, given_only(init=init, out=out)


@OpFamily
def reduce(
    payload: Callable[..., Any],
    inputs: Any,
    inits: Any,
    dimensions: Sequence[int],
    *,
    out: Any = None,
) -> Resolved:
    """Reduce ``dimensions`` (ascending) with ``payload(inputs.., accumulators..)``.

    ``inits`` are where the accumulators start; the payload returns the new ones.
    """
    several = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    targets = out if inits is None else inits
    starts = targets if isinstance(targets, (tuple, list)) else (targets,)
    if len(several) != len(starts):
        raise TypeError(f"reduce: {len(several)} inputs and {len(starts)} inits")
    rank = rank_of(several[0])
    dimensions = integers("reduce", "dimensions", dimensions)
    if dimensions != sorted(set(dimensions)) or not all(0 <= d < rank for d in dimensions):
        raise ValueError(f"reduce: dimensions {dimensions} do not increase within 0..{rank - 1}")
    dims = [f"d{k}" for k in range(rank)]
    kept = [d for k, d in enumerate(dims) if k not in dimensions]
    whole, part = f"({', '.join(dims)})", f"({', '.join(kept)})"
    maps = [f"{whole} -> {whole}"] * len(several) + [f"{whole} -> {part}"] * len(starts)
    iterators = ["reduction" if k in dimensions else "parallel" for k in range(rank)]
    made = define_generic(len(several), len(starts), maps, iterators, payload, name="reduce")
    return made, tuple(several), {"out": out} if inits is None else {"init": tuple(starts)}


@OpFamily
def elementwise(
    *inputs: Any,
    kind: str,
    indexing_maps: Sequence[Any] | None = None,
    init: Any = None,
    out: Any = None,
) -> Resolved:
    """Apply the function ``kind``; ``indexing_maps`` may transpose and broadcast inputs.

    By default each input has the shape of the result, or is one number. All dims are parallel, and
    their number is the rank of the result.
    """
    if kind not in KINDS:
        raise ValueError(f"elementwise: there is no kind {kind!r}; there are {', '.join(KINDS)}")
    expected = num_inputs(kind)
    if len(inputs) != expected:
        raise TypeError(f"elementwise: {kind} takes {expected} inputs, not {len(inputs)}")
    target = out if init is None else init
    given = _identity_maps(inputs, target) if indexing_maps is None else indexing_maps
    maps = [affine_map(m) for m in given]
    if len(maps) != expected + 1:
        raise DefinitionError(f"elementwise: {len(maps)} maps for {expected + 1} operands")
    if len({len(m.dims) for m in maps}) > 1 or len(maps[0].dims) != len(maps[-1].results):
        raise DefinitionError("elementwise: the maps are not over the dims of the output")
    made = _parallel(kind, maps, KINDS[kind], numpy_bools=False)
    is_condition = (kind == "select" and k == 0 for k in range(expected + 1))
    types = [np.dtype(np.bool_) if c else "T1" for c in is_condition]
    operands = [replace(o, type=t) for o, t in zip(made.operands, types, strict=True)]
    made = replace(made, operands=tuple(operands))
    return made, inputs, given_only(init=init, out=out)


for _family in (map, reduce, elementwise):
    register(_family)
