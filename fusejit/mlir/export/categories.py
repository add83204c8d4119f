"""The categories of linalg that a generic op belongs to: ``contract`` and ``elementwise``.

A category is an op with indexing maps, and a function for ``elementwise``, where a named op has
fixed ones. An op is in it if the definition for its own maps makes the very op.
"""

from __future__ import annotations

from collections.abc import Iterator

from fusejit.dataclass import dataclass
from fusejit.ir.definitions.definition import Definition
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp
from fusejit.mlir.export.named import form_of
from fusejit.mlir.export.patterns import map_text

CATEGORIES = ("contract", "elementwise")


@dataclass(frozen=True, slots=True)
class CategoryForm:
    """A category; ``kind`` is the function of ``elementwise``."""

    name: str
    maps: tuple[IndexingMap, ...]
    kind: str = ""

    def attributes(self) -> str:
        """What stands between the name and the operands in MLIR text."""
        shown = ", ".join(f"affine_map<{map_text(m, [])}>" for m in self.maps)
        maps = f"indexing_maps = [{shown}] "
        if not self.kind:
            return maps
        kind = f"kind=#linalg.elementwise_kind<{self.kind}> "
        return kind if all(m.is_identity for m in self.maps) else kind + maps


def category_of(op: GenericOp) -> CategoryForm | None:
    """The category of an op whose maps and payload are those of one."""
    maps = (*(o.map for o in op.inputs), *(i.map for i in op.inits))
    if len(op.inits) != 1 or not all(_selects(m) for m in maps):
        return None
    for name, kind, definition in _definitions(maps):
        if form_of(op, definition) is not None:
            return CategoryForm(name, maps, kind)
    return None


def category_definition(name: str, maps: list[str], kind: str = "") -> Definition:
    """The definition of a category for maps as text.

    Raises
    ------
    ValueError, TypeError
        If the category has no op with these maps.
    """
    from fusejit.linalg.registry import OPS

    if name == "contract":
        return OPS[name].definition_for({}, {"indexing_maps": maps})  # type: ignore[no-any-return]
    inputs = (None,) * (len(maps) - 1)  # the maps alone name the elements
    made: Definition = OPS[name].resolve(*inputs, kind=kind, indexing_maps=maps)[0]
    return made


def _definitions(maps: tuple[IndexingMap, ...]) -> Iterator[tuple[str, str, Definition]]:
    """The categories that may have these maps."""
    from fusejit.linalg.elementwise import KINDS, num_inputs

    texts = [map_text(m, []) for m in maps]
    if maps[-1].rank < maps[-1].num_dims:
        if len(maps) == 3 and not any(m.rank == 0 for m in maps[:-1]):
            try:
                yield "contract", "", category_definition("contract", texts)
            except (TypeError, ValueError):
                return
        return
    for kind in KINDS:
        if num_inputs(kind) == len(maps) - 1:
            yield "elementwise", kind, category_definition("elementwise", texts, kind)


def _selects(indexing_map: IndexingMap) -> bool:
    """Whether a map selects dims, each at most once."""
    dims = [r.as_dim() for r in indexing_map.results]
    return None not in dims and len(set(dims)) == len(dims)
