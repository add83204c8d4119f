"""MLIR's linalg dialect on NumPy arrays.

Arrays go in, ``init=`` or ``out=`` is where the result starts, and new arrays come out. Inside a
function under ``@fuse_jit`` an op is one generic op of the graph and fuses with what is around it.
"""

from typing import TYPE_CHECKING, Any

from fusejit.linalg import (  # each fills the table
    aggregates,
    contractions,
    convolutions,
    elementwise,
    movement,
    pooling,
    relayout,
    winograd,
)
from fusejit.linalg.older import OLDER
from fusejit.linalg.registry import OPS

FAMILIES = (
    *(elementwise, movement, contractions, convolutions),
    *(pooling, winograd, relayout, aggregates),
)
globals().update({**OPS, **OLDER})  # an op has its name here though a family's module has it too
__all__ = sorted((*OPS, *OLDER))


if TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """What type checkers see of the named ops."""
