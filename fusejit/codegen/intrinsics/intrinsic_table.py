"""The names a generated kernel may use: one table, two meanings.

Generated source has no imports. It runs in one of two namespaces built here: jitted, where each
name is a Numba intrinsic, and unjitted, where it is the intrinsic's *Python implementation*, a
Python function with the same bits.

Importing this module (or any module that registers Python implementations) does not import Numba:
the jitted side is named by ``"module:attribute"`` and looked up on first use.

Examples
--------
>>> INTRINSICS["int_floordiv"].python_implementation(np.int8(-7), np.int8(2))
np.int8(-4)
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.ir.types import DTYPES
from fusejit.support.locks import WorkLock

AnyCallable = TypeVar("AnyCallable", bound=Callable[..., Any])

PROVIDERS = (
    "fusejit.codegen.intrinsics.raw_memory",
    "fusejit.codegen.intrinsics.lanes",
    "fusejit.codegen.intrinsics.summation_tree",
    "fusejit.codegen.intrinsics.arithmetic",
    "fusejit.codegen.intrinsics.uniform_division",
    "fusejit.codegen.intrinsics.complex_intrinsics",
    "fusejit.codegen.intrinsics.parallel",
    "fusejit.codegen.intrinsics.streaming",
    "fusejit.codegen.intrinsics.vector_math",
    "fusejit.codegen.intrinsics.matrix_products",
    "fusejit.codegen.intrinsics.linear_algebra",
    "fusejit.codegen.intrinsics.draw_intrinsics",
    "fusejit.codegen.intrinsics.deferred_values",
    "fusejit.codegen.intrinsics.undo_log",
    "fusejit.codegen.intrinsics.polling",
)
"""Modules that call `register` when they are imported."""

JIT_PROVIDERS = tuple(name.replace(".intrinsics.", ".intrinsics_jit.") for name in PROVIDERS)
"""The modules with the jitted meanings."""


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """One name of the generated language.

    Attributes
    ----------
    name : str
        The name as it stands in generated source.
    python_implementation : object
        The unjitted meaning: a Python callable (or a dtype token).
    jit_path : str
        ``"package.module:attribute"`` of the jitted meaning, imported on first use of `jit`.
    doc : str
        What it does, from the Python implementation's docstring unless given.
    """

    name: str
    python_implementation: Any
    jit_path: str
    doc: str

    @property
    def jit(self) -> Any:
        """The object Numba sees under this name; imports Numba."""
        module, _, attribute = self.jit_path.partition(":")
        return getattr(importlib.import_module(module), attribute)


CONSTANTS: dict[str, float] = {"nan": math.nan, "inf": math.inf}
"""Numbers that Python has no literal for."""

INTRINSICS: dict[str, Intrinsic] = {}
"""Every name of the generated language, filled by the modules in `PROVIDERS`."""


def register(name: str, python_implementation: Any, jit: str, doc: str | None = None) -> Intrinsic:
    """Add one name to the table.

    Parameters
    ----------
    name : str
        The name in generated source; must be new.
    python_implementation : object
        The Python meaning.
    jit : str
        ``"package.module:attribute"`` of the Numba meaning.
    doc : str, optional
        Defaults to the Python implementation's docstring.

    Raises
    ------
    ValueError
        If another intrinsic already has this name: pick another one.
    """
    entry = Intrinsic(
        name,
        python_implementation,
        jit,
        doc if doc is not None else (python_implementation.__doc__ or ""),
    )
    known = INTRINSICS.setdefault(name, entry)
    if known.jit_path != jit:
        raise ValueError(f"intrinsic {name!r} is registered twice: {known.jit_path} and {jit}")
    return known


def jit_path(module: str, name: str) -> str:
    """Where the jitted meaning of a name is that a module of ``codegen.intrinsics`` gives."""
    return f"{module.replace('.intrinsics.', '.intrinsics_jit.')}:{name}"


def python_implementation(function: AnyCallable) -> AnyCallable:
    """Decorate the Python implementation of the intrinsic of its name: `register` in short."""
    register(function.__name__, function, jit_path(function.__module__, function.__name__))
    return function


_loading = WorkLock()


def load_providers() -> None:
    """Import every provider, so that `INTRINSICS` is complete.

    One thread at a time: importing these in different orders, two would see them unfinished.
    """
    with _loading:
        for module in PROVIDERS:
            importlib.import_module(module)


def python_namespace() -> dict[str, Any]:
    """Globals in which generated source runs unjitted (fresh dict)."""
    load_providers()
    return {
        **CONSTANTS,
        **{name: entry.python_implementation for name, entry in INTRINSICS.items()},
    }


def jit_namespace(source_names: frozenset[str] | None = None) -> dict[str, Any]:
    """Globals in which generated source is compiled (fresh dict); imports Numba.

    Parameters
    ----------
    source_names : frozenset of str, optional
        Names the source mentions; the others are left out, so that their modules need not be
        imported.
    """
    load_providers()
    used = {
        name: entry.jit
        for name, entry in INTRINSICS.items()
        if source_names is None or name in source_names
    }
    return {**CONSTANTS, **used}


def jit_object(name: str) -> Any:
    """What a name of generated source is where it is compiled, or None; imports Numba."""
    entry = INTRINSICS.get(name)
    return CONSTANTS.get(name) if entry is None else entry.jit


DTYPE_TOKENS: dict[str, np.dtype[Any]] = {
    "boolean" if name == "i1" else name: dtype for name, dtype in DTYPES.items()
}
"""Names of dtypes in generated source: arguments of `cast` and `scratch`, and casts: ``f32(x)``."""
