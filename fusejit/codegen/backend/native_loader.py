"""From an object file to a callable, with llvmlite alone: Numba need not be imported.

The object holds the kernel and its entry, a function of the C signature ``METH_FASTCALL`` (see
`codegen.backend.native_entry`). A symbol that does not resolve would crash the process when it is
called, so `missing_symbols` must be asked first.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import struct
from collections.abc import Callable, Sequence
from typing import Any, cast

import llvmlite.binding as llvm
import numpy as np

from fusejit.codegen.intrinsics.deferred_values import DEFERRED_ADDRESS, DEFERRED_SYMBOL
from fusejit.codegen.intrinsics.draw_intrinsics import draw_functions
from fusejit.codegen.intrinsics.matrix_products import product_loops
from fusejit.codegen.intrinsics.polling import MAIN_THREAD_ADDRESS, MAIN_THREAD_SYMBOL
from fusejit.codegen.machine.pool import register_pool_symbol
from fusejit.ir.inline_calls.inline_linalg import linalg_loops
from fusejit.support.identity import ServedCode

NDARRAY_TYPE_SYMBOL = "fusejit_ndarray_type"
"""LLVM symbol whose address is the type object of `numpy.ndarray`."""

_METH_FASTCALL = 0x0080
_SYMTAB, _SYMBOL_BYTES = 2, 24


class ObjectFormatError(ValueError):
    """The bytes are not an ELF object of 64 bits, the only kind the cache keeps."""


@functools.cache
def register_symbols() -> None:
    """Tell LLVM the addresses that every kernel may use."""
    _engine()  # LLVM looks into the process itself only after the first engine was made
    register_pool_symbol()
    addresses = {
        NDARRAY_TYPE_SYMBOL: id(np.ndarray),
        DEFERRED_SYMBOL: DEFERRED_ADDRESS,
        MAIN_THREAD_SYMBOL: MAIN_THREAD_ADDRESS,
        **product_loops(),
        **linalg_loops(),
        **draw_functions(),
    }
    for symbol, address in addresses.items():
        llvm.add_symbol(symbol, address)


def undefined_symbols(object_code: bytes) -> tuple[str, ...]:
    """Sorted names that an ELF64 object needs from outside.

    Source
    ------
    System V ABI, chapters "ELF header", "Sections" and "Symbol table".

    Raises
    ------
    ObjectFormatError
        If it is not a little-endian ELF64 object.
    """
    if object_code[:6] != b"\x7fELF\x02\x01":
        raise ObjectFormatError("not a little-endian ELF64 object")
    try:
        (section_table,) = struct.unpack_from("<Q", object_code, 0x28)
        entry_bytes, count = struct.unpack_from("<HH", object_code, 0x3A)
        # name, type, flags, address, offset, size, link, ...
        sections = [
            struct.unpack_from("<IIQQQQI", object_code, section_table + k * entry_bytes)
            for k in range(count)
        ]
        names: set[str] = set()
        for section in sections:
            if section[1] != _SYMTAB:
                continue
            strings = sections[section[6]][4]
            for k in range(1, section[5] // _SYMBOL_BYTES):
                at = section[4] + k * _SYMBOL_BYTES
                name_offset, _, _, home = struct.unpack_from("<IBBH", object_code, at)
                if home == 0 and name_offset:
                    start = strings + name_offset
                    names.add(object_code[start : object_code.index(b"\0", start)].decode("ascii"))
    except (struct.error, IndexError, ValueError, OverflowError) as error:
        raise ObjectFormatError(f"damaged ELF object: {error}") from error
    return tuple(sorted(names))


def missing_symbols(names: tuple[str, ...]) -> tuple[str, ...]:
    """Those of `names` that this process cannot resolve."""
    register_symbols()
    return tuple(name for name in names if not llvm.address_of_symbol(name))


class _MethodDef(ctypes.Structure):
    """``PyMethodDef`` of the C API."""

    _fields_ = (
        ("ml_name", ctypes.c_char_p),
        ("ml_meth", ctypes.c_void_p),
        ("ml_flags", ctypes.c_int),
        ("ml_doc", ctypes.c_char_p),
    )


class _Owner(bytearray):
    """The ``__self__`` of an entry: what it compares before anything runs, and what it needs alive.

    The memory holds 64-bit words: the number of pairs, and for each the address of a word and what
    that must hold. If it holds something else, the entry returns `Status.MISMATCH`.
    """

    method: _MethodDef
    keep: tuple[Any, ...]

    @classmethod
    def of(
        cls, method: _MethodDef, keep: tuple[Any, ...], pairs: Sequence[tuple[int, int]] = ()
    ) -> _Owner:
        words = [len(pairs), *(word for pair in pairs for word in pair)]
        made = cls(struct.pack(f"{len(words)}Q", *words))
        made.method, made.keep = method, keep
        return made


def make_builtin(name: str, address: int, keep: tuple[Any, ...] = ()) -> Callable[..., int]:
    """A builtin that calls the ``METH_FASTCALL`` entry at `address` and keeps `keep` alive."""
    method = _MethodDef(name.encode(), address, _METH_FASTCALL, None)
    return bound_builtin(method, _Owner.of(method, keep))


def comparing(
    entry: Callable[..., int], pairs: Sequence[tuple[int, int]], keep: tuple[Any, ...]
) -> Callable[..., int]:
    """The same entry, which compares words of memory first, that are in ``keep``.

    Parameters
    ----------
    entry : builtin
        Of `make_builtin`.
    pairs : sequence of (int, int)
        The address of a 64-bit word, and what it must hold.
    keep : tuple
        Objects that own the words.
    """
    owner = cast(Any, entry).__self__
    return bound_builtin(owner.method, _Owner.of(owner.method, (*owner.keep, *keep), pairs))


def named(entry: Callable[..., int], name: str) -> Callable[..., int]:
    """The same entry under a name that profilers show; others than builtins as they are."""
    owner = getattr(entry, "__self__", None)
    if not isinstance(owner, _Owner):
        return entry
    method = _MethodDef(name.encode(), owner.method.ml_meth, owner.method.ml_flags, None)
    return bound_builtin(method, _Owner.of(method, owner.keep))


def expect(entry: Callable[..., int], pair: int, value: int) -> None:
    """Change what a word must hold, that an entry compares."""
    struct.pack_into("Q", cast(Any, entry).__self__, (2 + 2 * pair) * 8, value)


def keep_told(entry: Callable[..., int], pair: int, served: ServedCode) -> None:
    """Have a word that an entry compares be the code of an entry stub, whichever we give it."""
    served.tell(cast(Any, entry).__self__, (2 + 2 * pair) * 8)


def bound_builtin(method: _MethodDef, owner: Any) -> Callable[..., Any]:
    """A builtin whose first argument in C is `owner`; `method` must live as long as it does."""
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype = ctypes.py_object
    new.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    made: Callable[..., Any] = new(ctypes.addressof(method), owner, None)
    return made


class AssembledEntry:
    """A ``METH_FASTCALL`` entry that is written as LLVM IR; it lives as long as the process.

    Parameters
    ----------
    text : str
        The module.
    name : str
        The entry.
    """

    def __init__(self, text: str, name: str) -> None:
        self._engine = _engine()
        self._engine.add_module(llvm.parse_assembly(text))
        self._engine.finalize_object()
        address = self._engine.get_function_address(name)
        self._method = _MethodDef(name.encode(), address, _METH_FASTCALL, None)

    def builtin(self, owner: Any) -> Callable[..., Any]:
        """A builtin of this entry whose first argument in C is ``owner``."""
        return bound_builtin(self._method, owner)


_module_numbers = itertools.count()


def _engine() -> Any:
    """A fresh engine: one per object, so that no two objects' names can meet."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), reloc="static", codemodel="jitdefault", jit=True
    )
    empty = llvm.parse_assembly("")
    empty.name = f"fusejit.{next(_module_numbers)}"
    return llvm.create_mcjit_compiler(empty, machine)


def load_object(object_code: bytes, entry_symbol: str) -> Callable[..., int]:
    """Map an object into the process and return its entry as a Python callable.

    The caller has asked `missing_symbols` about the object.

    Raises
    ------
    LookupError
        If the object does not define `entry_symbol`.
    """
    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(object_code))
    engine.finalize_object()
    address = engine.get_function_address(entry_symbol)
    if not address:
        raise LookupError(f"{entry_symbol} is not in the object")
    return make_builtin(entry_symbol, address, (engine,))
