"""What object code depends on: all that must be equal for it to be used again."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from fusejit.codegen.intrinsics.intrinsic_table import JIT_PROVIDERS, PROVIDERS

_CODE_MAKERS = (
    "analysis.function_forms",
    "analysis.kernel_statements",
    "analysis.rewriting",
    "backend.compile",
    "backend.llvm_module",
    "backend.llvm_values",
    "backend.llvm_emitter",
    "backend.loop_hints",
    "backend.native_entry",
    "backend.native_layout",
    "backend.native_loader",
    "backend.numba_private",
    "backend.scalar_forms",
    *(path.removeprefix("fusejit.codegen.") for path in (*PROVIDERS, *JIT_PROVIDERS)),
    "intrinsics_jit.division",
    "intrinsics_jit.gufunc_calls",
    "intrinsics_jit.module_symbols",
    "intrinsics_jit.vector_loops",
    "machine.numba_api",
    "machine.pool",
    "machine.probe",
    "machine.ziggurat",
)
"""Modules that decide which machine code a given source text becomes."""


def _code_fingerprint() -> str:
    """Hash of `_CODE_MAKERS`: an intrinsic's code is part of every kernel that uses it."""
    digest = hashlib.sha256()
    for name in _CODE_MAKERS:
        digest.update(name.encode() + b"\0" + _module_file(f"fusejit.codegen.{name}"))
    for name in (
        "scalar_ops.scalar_op_table",
        "inline_calls.inline_linalg",
        "interpreter.summation",
    ):
        digest.update(_module_file(f"fusejit.ir.{name}"))
    return digest.hexdigest()


def _module_file(name: str) -> bytes:
    """What the file of a module holds, which may lie in an archive, or be compiled."""
    spec: Any = importlib.util.find_spec(name)
    data: bytes = spec.loader.get_data(spec.origin)
    return data


def _numba_version() -> str:
    """Hash of Numba's version file: neither importing Numba nor reading its metadata is quick."""
    spec = importlib.util.find_spec("numba")
    folders = (spec and spec.submodule_search_locations) or [""]
    try:
        return hashlib.sha256(Path(folders[0], "_version.py").read_bytes()).hexdigest()
    except OSError:
        from importlib.metadata import version  # slow to import

        return version("numba")


@functools.cache
def environment_key() -> str:
    """Text that differs between any two processes that must not share object code."""
    import llvmlite
    import llvmlite.binding as llvm  # not at import: naming a kernel is the first need of LLVM

    from fusejit.codegen.intrinsics.streaming import stream_from_bytes
    from fusejit.codegen.machine.probe import probe

    features = llvm.get_host_cpu_features()
    facts = {
        "code": _code_fingerprint(),
        "python": sys.implementation.cache_tag,
        "debug": hasattr(sys, "gettotalrefcount"),
        "packages": [np.__version__, llvmlite.__version__, _numba_version()],
        "triple": llvm.get_default_triple(),
        "cpu": llvm.get_host_cpu_name(),
        "features": sorted(name for name, is_on in features.items() if is_on),
        "math": probe().key(),
        "stream from": stream_from_bytes(),
        "numba": {k: v for k, v in sorted(os.environ.items()) if k.startswith("NUMBA_")},
    }
    return json.dumps(facts, sort_keys=True)


def kernel_key(source: str, signature: str, options: str) -> str:
    """sha256 in hexadecimal of all that one kernel depends on."""
    digest = hashlib.sha256()
    for part in (source, signature, options, environment_key()):
        digest.update(len(part).to_bytes(8, "little") + part.encode())
    return digest.hexdigest()
