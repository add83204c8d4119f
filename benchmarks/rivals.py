"""Other compilers of array code: JAX, PyTorch and Numba, each given the workload's own source.

- **JAX**: `jax.jit` of the function with ``jax.numpy`` for ``np``, on the CPU and with 64-bit
  numbers switched on. Arguments are JAX arrays; a call ends with `block_until_ready`. There are no
  stores into arguments and no ``out=``.
- **PyTorch**: `torch.compile` of the NumPy function itself through `wrap_numpy`, sizes static (a
  compilation for each case, the faster choice), one graph or none. Arguments are tensors that
  share the memory of NumPy arrays. Inductor needs a C++ compiler. No ``out=``.
- **njit**: plain `numba.njit` of a program as it is, and of the functions it calls, as a person
  would decorate them.
- **Numba**: `numba.njit(parallel=True)` of the function as it is, which Numba often does not
  accept: its reductions know no ``keepdims``, for one. Arrays and ``out=`` as in NumPy.

What one of them does not accept is a refusal with its reason, not a failure of the run.
"""

import os
import shutil
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.engine import Engine, import_library, plain_function, with_helpers, with_namespace
from benchmarks.workload import Workload

CPU_TORCH = "pip install torch --index-url https://download.pytorch.org/whl/cpu"
CXX_COMPILERS = ("g++", "clang++")


class JaxEngine(Engine):
    """`jax.jit` on the CPU, 64-bit numbers on."""

    name = "jax"

    def __init__(self) -> None:
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        self.library: Any = import_library("jax", "pip install jax")
        self.library.config.update("jax_enable_x64", True)
        self.namespace: Any = import_library("jax.numpy", "pip install jax")
        self.refusals = (
            self.library.errors.JAXTypeError,
            self.library.errors.JAXIndexError,
            NotImplementedError,
            TypeError,
            AttributeError,
        )

    def versions(self) -> dict[str, str]:
        return {"jax": str(self.library.__version__)}

    def supports(self, workload: Workload, with_out: bool) -> bool:
        return not with_out and not workload.mutates

    def load(self, workload: Workload, dtype: str, with_out: bool) -> Callable[..., Any]:
        compiled = self.library.jit(with_namespace(workload.function, self.namespace))
        wait = self.library.block_until_ready

        def complete(*arguments: Any) -> Any:
            return wait(compiled(*arguments))

        return complete

    def put(self, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        put = self.library.device_put
        return tuple(put(a) if isinstance(a, np.ndarray) else a for a in arguments)

    def fetch(self, results: list[Any]) -> list[Any]:
        return [np.asarray(result) for result in results]


class TorchEngine(Engine):
    """`torch.compile` with Inductor's C++ code for the CPU."""

    name = "torch"

    def __init__(self) -> None:
        require_cxx_compiler()
        self.library: Any = import_library("torch", CPU_TORCH)
        self.dynamo: Any = import_library("torch._dynamo", CPU_TORCH)
        self.refusals = (self.dynamo.exc.TorchDynamoException, NotImplementedError, TypeError)

    def versions(self) -> dict[str, str]:
        return {"torch": str(self.library.__version__)}

    def supports(self, workload: Workload, with_out: bool) -> bool:
        return not with_out

    def load(self, workload: Workload, dtype: str, with_out: bool) -> Callable[..., Any]:
        self.dynamo.reset()  # else the second size of a function is compiled for any size
        on_tensors = self.library.compiler.wrap_numpy(workload.function)
        compiled: Callable[..., Any] = self.library.compile(
            on_tensors, dynamic=False, fullgraph=True
        )
        return compiled

    def put(self, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        convert = self.library.from_numpy
        return tuple(convert(a) if isinstance(a, np.ndarray) else a for a in arguments)

    def fetch(self, results: list[Any]) -> list[Any]:
        is_tensor = self.library.is_tensor
        return [r.numpy() if is_tensor(r) else np.asarray(r) for r in results]


def require_cxx_compiler() -> None:
    """Inductor's output is C++.

    Raises
    ------
    RuntimeError
        No compiler is named by ``CXX`` or found in the path.
    """
    if not any(map(shutil.which, (os.environ.get("CXX", "g++"), *CXX_COMPILERS))):
        raise RuntimeError(
            "torch.compile needs a C++ compiler for the CPU; to install one: apt-get install g++"
        )


class NumbaEngine(Engine):
    """`numba.njit(parallel=True)` of the plain function."""

    name = "numba"

    def __init__(self) -> None:
        self.library: Any = import_library("numba", "pip install numba")
        self.refusals = (self.library.core.errors.NumbaError, NotImplementedError)

    def versions(self) -> dict[str, str]:
        return {"numba": str(self.library.__version__)}

    def load(self, workload: Workload, dtype: str, with_out: bool) -> Callable[..., Any]:
        function = plain_function(workload, with_out)
        compiled: Callable[..., Any] = self.library.njit(parallel=True)(function)
        return compiled


class NjitEngine(NumbaEngine):
    """Plain `numba.njit` of the function and of the functions of its module that it calls."""

    name = "njit"

    def __init__(self) -> None:
        super().__init__()
        self.refusals = (Exception,)  # whatever it raises: it does not accept the program

    def load(self, workload: Workload, dtype: str, with_out: bool) -> Callable[..., Any]:
        warnings.simplefilter("ignore", self.library.core.errors.NumbaWarning)
        return with_helpers(plain_function(workload, with_out), self.library.njit)
