"""fusejit in the forms that are measured: as users have it, without fusion, and as a yardstick."""

import importlib
import importlib.metadata
import inspect
from collections.abc import Callable
from typing import Any

from benchmarks.engine import Engine, plain_function
from benchmarks.workload import Workload

COPY = "copy"
"""The engine that runs `Workload.reference` in place of the workload."""


class FusejitEngine(Engine):
    """``fuse_jit`` on the very function that NumPy runs."""

    name = "fusejit"

    def __init__(self) -> None:
        self.library: Any = importlib.import_module("fusejit")
        self.fuse_jit: Any = self.library.fuse_jit
        errors = importlib.import_module("fusejit.errors")
        self.refusals = (errors.UnsupportedError, errors.ConcretizationError)

    def versions(self) -> dict[str, str]:
        own = getattr(self.library, "__version__", "from source")
        others = {name: importlib.metadata.version(name) for name in ("numba", "llvmlite")}
        return {"fusejit": str(own), **others}

    def load(self, workload: Workload, dtype: str, with_out: bool) -> Callable[..., Any]:
        fused: Callable[..., Any] = self.fuse_jit(plain_function(workload, with_out))
        return fused

    def declined(self, function: Callable[..., Any]) -> str | None:
        variants: Any = getattr(function, "variants")  # noqa: B009 - not a plain function
        causes = list(variants.fallbacks)
        if variants.segmented is not None:
            causes.append("Python runs statements between compiled segments")
        return "; ".join(causes) or None


class UnfusedEngine(FusejitEngine):
    """The same with ``fuse_jit(fusion="none")``: what fusing alone is worth."""

    name = "fusejit-nofuse"

    def __init__(self) -> None:
        super().__init__()
        if "fusion" not in inspect.signature(self.fuse_jit).parameters:
            raise RuntimeError("this version of fuse_jit has no parameter fusion")

    def load(self, workload: Workload, dtype: str, with_out: bool) -> Callable[..., Any]:
        decorate = self.fuse_jit(fusion="none")
        fused: Callable[..., Any] = decorate(plain_function(workload, with_out))
        return fused


class CopyEngine(FusejitEngine):
    """The least that any kernel must do: read the first argument, write a result like it.

    It runs `Workload.reference`, compiled by fusejit, on the workload's own arguments and in the
    same rounds. Its results are not the workload's and are not compared.
    """

    name = COPY

    def supports(self, workload: Workload, with_out: bool) -> bool:
        return workload.reference is not None and super().supports(workload, with_out)

    def load(self, workload: Workload, dtype: str, with_out: bool) -> Callable[..., Any]:
        assert workload.reference is not None
        fused: Callable[..., Any] = self.fuse_jit(workload.reference.form(with_out))
        return fused
