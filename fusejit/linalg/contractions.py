"""Contractions: sums of products of two operands, from `dot` to `batch_mmt4d`.

Factors are cast to the type of the output before they are multiplied, and sums are formed in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fusejit.ir.definitions.definition import Definition, DefinitionError
from fusejit.linalg.registry import cast_of, product, register, subscripts_of
from fusejit.structured.generic import AffineMap, affine_map
from fusejit.structured.op import StructuredOp

_PACKED = {"names": ("lhs", "rhs", "accum"), "types": ("LhsType", "RhsType", "AccumType")}
_QUANTIZED = {"zero_points": ("AZp", "BZp"), "library_call": None}
_ROWS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "dot": ("m, m -> ", "The dot product of two vectors.", {}),
    "matvec": ("m n, n -> m", "Matrix times vector.", {"names": ("A", "y", "x")}),
    "vecmat": ("m, m n -> n", "Vector times matrix.", {"names": ("y", "A", "x")}),
    "batch_matvec": ("b m k, b k -> b m", "Matrices times vectors.", {}),
    "batch_vecmat": ("b k, b k n -> b n", "Vectors times matrices.", {}),
    "mmt4d": (
        "m k m0 k0, n k n0 k0 -> m n m0 n0 | m n k m0 n0 k0",
        "Product of packed matrices; the tiles of the right one are transposed.",
        _PACKED,
    ),
    "batch_mmt4d": (
        "b m k m0 k0, b n k n0 k0 -> b m n m0 n0 | b m n k m0 n0 k0",
        "Products of packed matrices, as `mmt4d`.",
        _PACKED,
    ),
    "quantized_matmul": ("m k, k n -> m n", "Product of quantized matrices.", _QUANTIZED),
    "quantized_batch_matmul": ("b m k, b k n -> b m n", "The same of stacks.", _QUANTIZED),
}
"""Operands of the formula (and the domain, where it has another order), and what it is."""
_LEFT, _RIGHT = {"b m k", "b k m", "k", "b k", "m k"}, {"b k n", "b n k", "k", "b k", "k n"}
_WITH_MAPS = {
    "matmul": ("m k, k n -> m n", ({"m k", "k m", "k"}, {"k n", "n k", "k"}, {"m n", "n m"})),
    "batch_matmul": ("b m k, b k n -> b m n", (_LEFT, _RIGHT, {"b m n"})),
    "batch_reduce_matmul": ("b m k, b k n -> m n | b m n k", (_LEFT, _RIGHT, {"m n"})),
}
"""Operands of the formula, and the subscripts that each operand may have instead."""
_MAP_ATTRIBUTES = {"indexing_maps": None, "cast": "cast_signed"}


def _dims_of(op: str, one: AffineMap, operand: str) -> list[str]:
    """The dims that a map selects, each once."""
    dims = [r.as_dim() for r in one.results]
    if None in dims or len(set(dims)) < len(dims):
        raise ValueError(f"{op}: the map {one} of {operand} does not select dims, each once")
    return [str(d) for d in dims]


def _maps(op: str, given: Any) -> list[AffineMap]:
    try:
        maps = [affine_map(m) for m in given]
    except DefinitionError as error:
        raise DefinitionError(f"{op}: {error}") from None
    if len(maps) != 3:
        raise ValueError(f"{op}: indexing_maps has {len(maps)} maps for 3 operands")
    return maps


def _contraction(
    name: str, formula: str, doc: str, domain: Sequence[str], attributes: Mapping[str, Any]
) -> Definition:
    options: dict[str, Any] = {"domain": " ".join(domain), "cast": cast_of(name, attributes)}
    options["library_call"] = "contraction"
    return product(name, formula, doc, attributes=_MAP_ATTRIBUTES, **options)


def _with_maps(name: str, row: str, allowed: Sequence[set[str]]) -> StructuredOp:
    doc = "Matrix products; ``indexing_maps`` may transpose or broadcast the factors."
    formula, _bar, domain = row.partition("|")
    *factors, output = subscripts_of(formula)
    order = domain.split() or list(dict.fromkeys(d for part in (output, *factors) for d in part))

    def define(attributes: Mapping[str, Any]) -> Definition:
        subscripts = formula
        if attributes.get("indexing_maps") is not None:
            subscripts = _checked(attributes["indexing_maps"])
        return _contraction(name, subscripts, doc, order, attributes)

    def _checked(given: Any) -> str:
        texts = []
        for one, operand, choices in zip(_maps(name, given), "ABC", allowed, strict=True):
            if len(one.dims) != len(order):
                raise ValueError(f"{name}: the map {one} is not over ({', '.join(order)})")
            renamed = dict(zip(one.dims, order, strict=True))
            text = " ".join(renamed[d] for d in _dims_of(name, one, operand))
            if text not in choices:
                known = ", ".join(f"({c.replace(' ', ', ')})" for c in sorted(choices))
                raise ValueError(f"{name}: {operand} is read by one of {known}, not by {one}")
            texts.append(text)
        if name.startswith("batch") and not any(t.startswith("b") for t in texts[:2]):
            raise ValueError(f"{name}: neither A nor B has the batch dim")
        return f"{texts[0]}, {texts[1]} -> {texts[2]}"

    return StructuredOp(define({}), lambda ranks, attributes: define(attributes))


# --------------------------------------------------------------------------------------- contract
def _contract(attributes: Mapping[str, Any]) -> Definition:
    """Any contraction: dims of both inputs that the output lacks are summed."""
    given = attributes.get("indexing_maps")
    if given is None:
        raise TypeError("contract: indexing_maps= is missing")
    maps = _maps("contract", given)
    a, b, c = (_dims_of("contract", m, o) for m, o in zip(maps, "ABC", strict=True))
    for dim in maps[0].dims:
        places = (dim in a) + (dim in b)
        if dim in c and not places:
            raise ValueError(f"contract: dim {dim} is in C and in no input")
        if dim not in c and places < 2:
            raise ValueError(
                f"contract: dim {dim} is in {'one input' if places else 'no map'} alone"
            )
    if set(a) & set(b) <= set(c):
        raise ValueError("contract: no dim is summed; it takes one that A and B have and C lacks")
    formula = f"{' '.join(a)}, {' '.join(b)} -> {' '.join(c)}"
    return _contraction("contract", formula, _CONTRACT, maps[0].dims, attributes)


_CONTRACT = "Contract A and B; ``indexing_maps`` has one map for each of A, B and C."


def _define() -> None:
    for name, (row, doc, options) in _ROWS.items():
        formula, _bar, domain = row.partition("|")
        given = {"library_call": "contraction", "domain": domain, **options}
        register(StructuredOp(product(name, formula, doc, **given)))
    for name, (row, allowed) in _WITH_MAPS.items():
        register(_with_maps(name, row, allowed))
    matmul = "(m, n, k) -> (m, k)", "(m, n, k) -> (k, n)", "(m, n, k) -> (m, n)"
    template = _contract({"indexing_maps": matmul})
    register(StructuredOp(template, lambda ranks, attributes: _contract(attributes)))


_define()
