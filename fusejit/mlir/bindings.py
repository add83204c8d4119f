"""The real MLIR Python bindings, if they are installed.

The wheel ``torch-mlir`` carries upstream MLIR with all of linalg under the package ``torch_mlir``;
nothing of torch is needed. ``pip install fusejit[mlir]`` brings the version fusejit is tested with.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from fusejit.errors import FusejitError

PACKAGES = ("torch_mlir", "mlir")
DIALECTS = ("affine", "arith", "func", "linalg", "math", "memref", "scf", "tensor")


class MlirMissingError(FusejitError, ImportError):
    """MLIR text is to be read and no MLIR Python bindings are installed."""


def mlir_modules() -> tuple[ModuleType, ModuleType]:
    """The modules ``ir`` and ``passmanager`` of the bindings, the dialects registered.

    Raises
    ------
    MlirMissingError
        If no bindings are installed; the message says what to install.
    """
    for package in PACKAGES:
        try:
            modules = [importlib.import_module(f"{package}.{m}") for m in ("ir", "passmanager")]
            for dialect in DIALECTS:
                importlib.import_module(f"{package}.dialects.{dialect}")
        except ImportError:
            continue
        return modules[0], modules[1]
    raise MlirMissingError(
        "reading MLIR text needs MLIR's Python bindings, which are not installed: "
        "pip install 'fusejit[mlir]' (the wheel torch-mlir==20261001; torch itself is not needed)"
    )


def run_passes(module: Any, passes: str) -> None:
    """Run a pass pipeline such as ``builtin.module(canonicalize)`` on a module, in place."""
    _, passmanager = mlir_modules()
    passmanager.PassManager.parse(passes, context=module.context).run(module.operation)


__all__ = ["MlirMissingError", "mlir_modules", "run_passes"]
