"""Calls of named ops as MLIR text: the named op itself, with static shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fusejit_testing.mlir_oracle import Program

TYPES = {"b": "i1", "f": "f{}", "i": "i{}"}
"""Kinds of dtypes to types of MLIR, whose integers have no sign."""


def element_type(dtype: np.dtype) -> str:
    """The type of an element."""
    return TYPES[dtype.kind].format(8 * dtype.itemsize)


def type_of(value: Any) -> str:
    """The type of an array, or of a number that is no tensor."""
    element = element_type(np.asarray(value).dtype)
    if not isinstance(value, np.ndarray):
        return element
    return f"tensor<{''.join(f'{n}x' for n in value.shape)}{element}>"


def attributes_of(keywords: Mapping[str, Any]) -> tuple[str, str]:
    """The maps, which stand alone, and the dictionary of the other attributes."""
    entries, maps = [], ""
    for name, value in keywords.items():
        if name in ("strides", "dilations"):
            numbers = ", ".join(map(str, value))
            entries.append(f"{name} = dense<[{numbers}]> : tensor<{len(value)}xi64>")
        elif name == "cast":
            entries.append(f"cast = #linalg.type_fn<{value}>")
        elif name == "indexing_maps":
            maps = f" indexing_maps = [{', '.join(f'affine_map<{m}>' for m in value)}]"
    return maps, f" {{{', '.join(entries)}}}" if entries else ""


def program_of(
    name: str, inputs: Sequence[Any], start: np.ndarray, keywords: Mapping[str, Any]
) -> Program:
    """A function of the inputs and of what the output starts from."""
    maps, dictionary = attributes_of(keywords)
    return program_with(f"{name}{maps}{dictionary}", inputs, start, " -> {result}")


def program_with(op: str, inputs: Sequence[Any], start: np.ndarray, ending: str = "") -> Program:
    """A function whose op has ``op`` before its operands and ``ending`` after them."""
    values = [*inputs, start]
    types = [type_of(v) for v in values]
    arguments = ", ".join(f"%v{k}: {t}" for k, t in enumerate(types))
    names = ", ".join(f"%v{k}" for k in range(len(inputs)))
    result, last = types[-1], len(inputs)
    text = (
        f"func.func @main({arguments}) -> {result} {{\n"
        f"  %r = linalg.{op} ins({names} : {', '.join(types[:-1])}) "
        f"outs(%v{last} : {result}){ending.format(result=result)}\n"
        f"  return %r : {result}\n}}\n"
    )
    given = tuple(v if isinstance(v, np.ndarray) else np.asarray(v)[()] for v in values)
    return Program(text, given, ((start.dtype, start.ndim),))
