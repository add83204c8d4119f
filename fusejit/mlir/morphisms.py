"""Between the three forms of an op of linalg: generic, a category, and named.

=============  ==========================================================================
`generalize`   any form -> ``linalg.generic``
`categorize`   any form -> ``linalg.contract`` or ``linalg.elementwise``
`specialize`   any form -> the named op: ``linalg.matmul``, ``linalg.add``, ..
=============  ==========================================================================

Each takes one op, or a graph, where it changes all ops that have the form.

Source: MLIR's pass ``linalg-morph-ops``.

>>> import numpy as np
>>> from fusejit import linalg, mlir
>>> graph = linalg.matmul.trace(np.ones((2, 3)), np.ones((3, 4))).graph
>>> for form in (mlir.generalize, mlir.categorize, mlir.specialize):
...     print(form(graph).block.ops[-1].name)
generic
contract
matmul
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from fusejit.dataclass import replace
from fusejit.errors import UnsupportedError
from fusejit.ir.graph import Graph
from fusejit.ir.ops import Block, GenericOp, Op
from fusejit.mlir.export.categories import category_of
from fusejit.mlir.export.match_named import as_named
from fusejit.mlir.export.named import named_form

Morphed = TypeVar("Morphed", GenericOp, Graph)


def generalize(op: Morphed) -> Morphed:
    """The op as ``linalg.generic``; its values and its meaning stay."""
    return _each(op, lambda one: replace(one, name="generic", is_named=False, library_call=None))


def categorize(op: Morphed) -> Morphed:
    """The op as ``linalg.contract`` or ``linalg.elementwise``.

    Raises
    ------
    UnsupportedError
        If one op is given, and it is in no category.
    """

    def of_category(one: GenericOp) -> GenericOp | None:
        form = category_of(one)
        return None if form is None else replace(one, name=form.name, is_named=True)

    return _each(op, of_category, "is neither a contraction nor elementwise")


def specialize(op: Morphed) -> Morphed:
    """The op under its own name; dims and inputs take the order of the named op.

    Raises
    ------
    UnsupportedError
        If one op is given, and it is no named op.
    """

    def of_name(one: GenericOp) -> GenericOp | None:
        if named_form(one) is not None:
            return one
        found = as_named(one)
        return None if found is None else found.op

    return _each(op, of_name, "is no named op")


def _each(
    op: Morphed, morphism: Callable[[GenericOp], GenericOp | None], otherwise: str = ""
) -> Morphed:
    """One op changed, or those of a graph that can be."""
    if isinstance(op, GenericOp):
        made = morphism(op)
        if made is None:
            raise UnsupportedError(f"{op.name} at {op.location} {otherwise} of linalg")
        return made
    ops: list[Op] = [
        (morphism(one) or one) if isinstance(one, GenericOp) else one for one in op.block.ops
    ]
    block: Block = replace(op.block, ops=ops)
    return replace(op, block=block)
