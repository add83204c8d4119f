"""fusejit makes ordinary NumPy code fast on the CPU: put ``@fuse_jit`` on the function."""

from fusejit import mlir
from fusejit.api import FuseWarning, fuse_jit
from fusejit.errors import ConcretizationError, FusejitError, UnsupportedError
from fusejit.fuse.policy import FusionCandidate

__version__ = "0.1.0"
__all__ = [
    "ConcretizationError",
    "FuseWarning",
    "FusejitError",
    "FusionCandidate",
    "UnsupportedError",
    "fuse_jit",
    "mlir",
]
