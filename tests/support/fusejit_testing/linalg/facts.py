"""`tests/linalg/linalg_ops.json` read into the data types of `fusejit.structured`.

Maps become `Index` expressions, payloads become `Scalar` trees, so that a definition of the package
is compared with the facts as data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.ir.definitions.indices import DIM, Index, attribute_in_formula, parse_index
from fusejit.ir.definitions.scalars import FORMULA_NAMES, Scalar, apply

FACTS: dict[str, Any] = json.loads(
    Path(__file__).parents[3].joinpath("linalg", "linalg_ops.json").read_text()
)
ORDER: list[str] = FACTS["order"]
OPS: dict[str, dict[str, Any]] = FACTS["ops"]
FIXED = [n for n in ORDER if isinstance(OPS[n]["maps"], list) and "payload" in OPS[n]]
"""The ops whose maps the facts state."""
EVERY_RANK = [n for n in FIXED if OPS[n]["domain"][0]["dim"] == "d..." and n != "map"]
"""Those that have one definition for each rank."""
ONE_RANK = [n for n in FIXED if n not in EVERY_RANK and n != "map"]
BY_RULE = [n for n in ORDER if n not in FIXED] + ["map"]

_ROLES = ("input", "shape-only input", "scalar", "output")
_FIXED_TYPES = {
    "I32": np.dtype(np.int32),
    "F64": np.dtype(np.float64),
    "bool (i1)": np.dtype(np.bool_),
}


@dataclass(frozen=True)
class Operand:
    """An operand as the facts have it."""

    name: str
    role: str
    type: Any
    shape: tuple[Index, ...]
    map: tuple[Index, ...]


@dataclass(frozen=True)
class Op:
    """An op as the facts have it, of one rank."""

    name: str
    operands: tuple[Operand, ...]
    attributes: Mapping[str, Any]
    dims: tuple[str, ...]
    iterators: tuple[str, ...]
    extents: tuple[Index, ...]
    payload: Any


def attributes_of(name: str) -> dict[str, Any]:
    """The attributes with their defaults; None where the default is not one value."""
    found = {}
    for attribute in OPS[name]["attributes"]:
        default = attribute["default"]
        if default in ("the maps here", "identity"):
            default = None
        found[attribute["name"]] = tuple(default) if isinstance(default, list) else default
    return found


def op_of(name: str, rank: int = 0, scalars: Sequence[str] = ()) -> Op:
    """The facts of an op; a rank-polymorphic one is taken at ``rank``.

    Parameters
    ----------
    scalars : sequence of str
        The inputs of a rank-polymorphic op that are single numbers.
    """
    facts = OPS[name]
    attributes = attributes_of(name)
    is_polymorphic = facts["domain"][0]["dim"] == "d..."
    dims = [f"d{k}" for k in range(rank)]
    extents = [Index("extent", (f"D{k}",)) for k in range(rank)]
    iterators = ["parallel"] * rank
    if not is_polymorphic:
        dims = [d["dim"] for d in facts["domain"]]
        extents = [parse_index(d["extent"], attributes) for d in facts["domain"]]
        iterators = [d["iterator"] for d in facts["domain"]]
    maps = {m["operand"]: m["map"] for m in facts["maps"]}
    operands = []
    for operand in facts["operands"]:
        assert operand["kind"] in _ROLES
        shape: list[Index] = []
        subscripts: list[Index] = []
        if is_polymorphic and maps[operand["name"]] == "(d...) -> (d...)":
            if operand["name"] not in scalars:
                shape, subscripts = list(extents), [Index(DIM, (d,)) for d in dims]
        elif not is_polymorphic:
            shape = [parse_index(e, attributes) for e in operand["shape"]]
            given, subscripts = read_map(maps[operand["name"]], attributes)
            assert given == dims, (name, given)
        type_ = _FIXED_TYPES.get(operand["type"], operand["type"])
        operands.append(
            Operand(operand["name"], operand["kind"], type_, tuple(shape), tuple(subscripts))
        )
    payload = read_payload(facts["payload"], operands)
    return Op(
        name,
        tuple(operands),
        attributes,
        tuple(dims),
        tuple(iterators),
        tuple(extents),
        canonical(payload),
    )


def read_map(text: str, attributes: Mapping[str, Any]) -> tuple[list[str], list[Index]]:
    """The dims and the results of ``(m, n, k) -> (m, k)``."""
    matched = re.fullmatch(r"\((.*?)\) -> \((.*)\)", text)
    assert matched, text
    dims = [d.strip() for d in matched[1].split(",") if d.strip()]
    scope = {d: Index(DIM, (d,)) for d in dims}
    scope |= {a: attribute_in_formula(a, default) for a, default in attributes.items()}
    results = eval(f"({matched[2]},)" if matched[2] else "()", {"__builtins__": {}}, scope)
    return dims, list(map(Index.of, results))


def read_payload(text: str, operands: Sequence[Operand]) -> Scalar:
    """A payload of the facts as a tree; ``lhs / rhs`` is the division of the dialect."""
    scope: dict[str, Any] = dict(FORMULA_NAMES)
    scope |= {"max_signed": FORMULA_NAMES["max"], "min_signed": FORMULA_NAMES["min"]}
    scope["index"] = lambda dim: Scalar("index", (), Index(DIM, (dim,)))
    scope |= {name: name for name in ("m", "n", "T", "U", "T1", "T2", "AccumType")}
    for operand in operands:
        scope[operand.name] = Scalar("element", (), (operand.name, operand.map))
    result = eval(text, {"__builtins__": {}}, scope)
    assert isinstance(result, Scalar)
    return result


# ---------------------------------------------------------------------------------- comparing trees
_SAME = {"sub": "subtract", "div": "divide", "negf": "negative"}
"""Functions of the dialect that a formula also writes as an operator."""


def canonical(scalar: Scalar) -> Any:
    """A tree as nested tuples, in which the two spellings of one function are the same.

    `_SAME` are renamed, a square is a product, a reciprocal a quotient, and a constant has its
    value as a float.
    """
    operands = tuple(map(canonical, scalar.operands))
    if scalar.op == "square":
        return ("multiply", *operands, *operands)
    if scalar.op == "reciprocal":
        return ("divide", canonical(Scalar("const", (), (1, None))), *operands)
    if scalar.op == "const":
        number, type_ = scalar.attr
        return ("const", float(number), None if type_ is None else str(type_))
    if scalar.op == "cast":
        type_, is_signed = scalar.attr
        return ("cast", str(type_), is_signed, *operands)
    if scalar.op == "element":
        return ("element", scalar.attr[0])
    if scalar.op == "index":
        return ("index", str(scalar.attr))
    return (_SAME.get(scalar.op, scalar.op), *operands)


def canonical_update(name: str, value: Scalar, combiner: str | None) -> Any:
    """What an update stores: ``add`` of an output and a value is their sum."""
    if combiner is None:
        return canonical(value)
    return canonical(apply(combiner, Scalar("element", (), (name, ())), value))
