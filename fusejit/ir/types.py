"""Types of values: element type, extents, iterator types, and what NumPy would hand out."""

from __future__ import annotations

import enum
from collections.abc import Mapping

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.ir.affine import AffineExpr

# The element types fusejit compiles, by the name the printed IR gives them.
DTYPES: dict[str, np.dtype] = {
    "i1": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "u8": np.dtype(np.uint8),
    "u16": np.dtype(np.uint16),
    "u32": np.dtype(np.uint32),
    "u64": np.dtype(np.uint64),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "c64": np.dtype(np.complex64),
    "c128": np.dtype(np.complex128),
}
BOOL, I64 = DTYPES["i1"], DTYPES["i64"]
_NAMES = {dtype: name for name, dtype in DTYPES.items()}


def dtype_name(dtype: np.dtype) -> str:
    """The name of an element type in printed IR: ``f64`` for ``np.dtype('float64')``."""
    return _NAMES[dtype]


def is_supported(dtype: np.dtype) -> bool:
    """Whether fusejit compiles arrays of this element type (native byte order only).

    A dtype with metadata is equal to one without, and what NumPy makes of its arrays has them too.
    """
    return dtype in _NAMES and dtype.isnative and dtype.metadata is None


def canonical_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype without what does not matter; ``longlong`` stays apart from an equal ``int64``.

    Where both have 64 bits NumPy keeps them apart all the same: results of the one have that dtype.
    """
    if dtype.char in "qQ":
        return np.dtype(dtype.char)
    return DTYPES[dtype_name(dtype)]


def part_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of the two parts of a complex number; a real dtype is its own.

    >>> part_dtype(np.dtype(np.complex64))
    dtype('float32')
    """
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


class IteratorType(enum.Enum):
    """How a dim of the iteration domain may be run."""

    PARALLEL = "parallel"
    REDUCTION = "reduction"
    SEQUENTIAL = "sequential"


class Kind(enum.Enum):
    """What NumPy would hand out for a value."""

    ARRAY = "array"  # an ndarray, 0-d included
    SCALAR = "scalar"  # a NumPy scalar such as np.float64
    PYTHON = "python"  # a Python number: weak in NEP 50
    TEXT = "text"  # a string, by its number: a type of the tracer's, of no value of a graph


@dataclass(frozen=True, slots=True)
class TensorType:
    """Element type and extents; rank 0 is a scalar. Printed ``s0 x 3 x f64``."""

    dtype: np.dtype
    extents: tuple[AffineExpr, ...] = ()

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.extents)

    def substitute_symbols(self, symbols: Mapping[str, AffineExpr]) -> TensorType:
        """The type with symbols replaced in its extents."""
        return TensorType(self.dtype, tuple(e.substitute(symbols=symbols) for e in self.extents))

    def __str__(self) -> str:
        parts = [
            str(e) if len(e.terms) <= 1 and not (e.terms and e.constant) else f"({e})"
            for e in self.extents
        ]
        return " x ".join([*parts, dtype_name(self.dtype)])


def is_same_dtype(a: object, b: np.dtype) -> bool:
    """Whether ``a`` is a dtype that programs cannot tell from ``b``: equality is not enough.

    Equal dtypes may differ in metadata, in alignment, and in the letter of an integer type.
    """
    if type(a) is not type(b) or not isinstance(a, np.dtype) or a != b or a.char != b.char:
        return False
    if a.metadata != b.metadata or a.isalignedstruct != b.isalignedstruct:
        return False
    if a.names is not None:
        return all(is_same_dtype(a[name], b[name]) for name in a.names)
    return a.subdtype is None or is_same_dtype(a.base, b.base)
