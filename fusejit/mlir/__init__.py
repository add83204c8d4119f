"""MLIR programs as functions on NumPy arrays: `load`. Graphs as MLIR: `mlir.export`."""

from typing import TYPE_CHECKING, Any

from fusejit.mlir.bindings import MlirMissingError

if TYPE_CHECKING:
    from fusejit.mlir.loading import MlirFunction, load

__all__ = ["MlirFunction", "MlirMissingError", "load"]


def __getattr__(name: str) -> Any:
    """What reads MLIR needs the pipeline, which writes it."""
    if name in __all__:
        from fusejit.mlir import loading

        return getattr(loading, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
