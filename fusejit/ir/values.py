"""Values and memory of a graph: what ops define, read and write."""

from __future__ import annotations

import enum

from fusejit.dataclass import dataclass
from fusejit.ir.affine import AffineExpr
from fusejit.ir.host import HostExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.reassociation import Reassociation
from fusejit.ir.types import Kind, TensorType


# ------------------------------------------------------------------------------- values, memory
@dataclass(eq=False, slots=True)
class Value:
    """A pure result: an array of extents, or a scalar (rank 0).

    ``order`` lists the axes from the outermost to the innermost in memory, as NumPy would lay the
    array out (K order); None means C order.
    """

    name: str
    type: TensorType
    kind: Kind = Kind.ARRAY
    order: tuple[int, ...] | None = None

    def __repr__(self) -> str:
        return f"%{self.name}"


class Layout(enum.Enum):
    """What is known of the strides of a buffer, given its axis order."""

    CONTIGUOUS = "contiguous"  # dense in its axis order
    UNIT = "unit"  # the innermost axis of the order has stride one item
    STRIDED = "strided"  # nothing; strides may be negative, zero or large


@dataclass(eq=False, slots=True)
class Buffer:
    """Memory with extents: an argument's (``origin`` says how a call finds it) or a local one.

    Buffers of different ``alias_class`` never overlap (for arguments, the kernel's guard checks
    it); those of one class may. A buffer with a ``base`` is the memory of the base seen through
    ``reassociation``, or one ``part`` ("real", "imag") of each complex number there.
    """

    name: str
    type: TensorType
    alias_class: int
    origin: HostExpr | None = None
    order: tuple[int, ...] | None = None
    layout: Layout = Layout.CONTIGUOUS
    writeable: bool = True
    base: Buffer | None = None
    reassociation: Reassociation | None = None
    part: str | None = None

    @property
    def root(self) -> Buffer:
        """The buffer whose memory it is: itself, or the one behind a chain of bases."""
        buffer = self
        while buffer.base is not None:
            buffer = buffer.base
        return buffer

    def __repr__(self) -> str:
        return f"@{self.name}"


@dataclass(frozen=True, slots=True)
class View:
    """Part of a buffer: ``map`` takes an index of the view to an index of the buffer."""

    buffer: Buffer
    map: IndexingMap
    extents: tuple[AffineExpr, ...]

    @staticmethod
    def whole(buffer: Buffer) -> View:
        """All of ``buffer``."""
        return View(buffer, IndexingMap.identity(buffer.type.rank), buffer.type.extents)

    @property
    def type(self) -> TensorType:
        """Element type and extents of the view."""
        return TensorType(self.buffer.type.dtype, self.extents)
