"""MLIR programs as functions on NumPy arrays: `load`. Graphs as MLIR: `mlir.export`."""

from typing import TYPE_CHECKING, Any

from fusejit.mlir.bindings import MlirMissingError

if TYPE_CHECKING:
    from fusejit.mlir.loading import MlirFunction, load
    from fusejit.mlir.morphisms import categorize, generalize, specialize

_MORPHISMS = ("categorize", "generalize", "specialize")
__all__ = ["MlirFunction", "MlirMissingError", "categorize", "generalize", "load", "specialize"]


def __getattr__(name: str) -> Any:
    """What reads MLIR needs the pipeline, which writes it."""
    if name in __all__:
        from fusejit.mlir import loading, morphisms

        return getattr(morphisms if name in _MORPHISMS else loading, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
