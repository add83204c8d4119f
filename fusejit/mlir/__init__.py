"""MLIR programs as functions on NumPy arrays: `load`. Graphs as text: `fusejit.ir.mlir_text`."""

from fusejit.mlir.bindings import MlirMissingError
from fusejit.mlir.load import MlirFunction, load

__all__ = ["MlirFunction", "MlirMissingError", "load"]
