"""fusejit makes ordinary NumPy code fast on the CPU: put ``@fuse_jit`` on the function."""

import importlib
from typing import TYPE_CHECKING, Any

from fusejit.api import FuseWarning, fuse_jit
from fusejit.errors import ConcretizationError, FusejitError, UnsupportedError

if TYPE_CHECKING:
    from fusejit import linalg, mlir, structured, transform
    from fusejit.fuse.grouping.policy import FusionCandidate

__version__ = "0.1.0"
__all__ = [
    "ConcretizationError",
    "FuseWarning",
    "FusejitError",
    "FusionCandidate",
    "UnsupportedError",
    "fuse_jit",
    "linalg",
    "mlir",
    "structured",
    "transform",
]


def __getattr__(name: str) -> Any:
    """What needs the compiler, which is loaded by the first call of a decorated function."""
    if name in ("linalg", "mlir", "structured", "transform"):
        return importlib.import_module(f"fusejit.{name}")
    if name == "FusionCandidate":
        from fusejit.fuse.grouping.policy import FusionCandidate

        return FusionCandidate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
