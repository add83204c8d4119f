"""From a kernel to a callable: compiled, or found on disk, or its source as plain Python.

Examples
--------
>>> SOURCE = '''
... def kernel(a, o, c):
...     p_a = flat(a)
...     p_o = flat(o)
...     for i in range(a.shape[0]):
...         put(p_o, i, get(p_a, i) * c)
...     return 0
... '''
>>> vector = ArgType("array", np.dtype(np.float64), 1)
>>> number = ArgType("scalar", np.dtype(np.float64))
>>> kernel = compile_kernel(SOURCE, (vector, vector, number), cache_enabled=False)
>>> out = np.empty(3)
>>> kernel.call(np.arange(3.0), out, 2.0), out
(0, array([0., 2., 4.]))
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any, Literal

import numpy as np

from fusejit.codegen.backend.cache import DEFAULT_MAX_BYTES, DiskCache, default_folder
from fusejit.codegen.backend.cache_key import kernel_key
from fusejit.codegen.intrinsics.intrinsic_table import jit_namespace, python_namespace
from fusejit.codegen.intrinsics.polling import raising
from fusejit.dataclass import dataclass, field
from fusejit.ir.loops.nodes import LoopModule
from fusejit.ir.types import DTYPES, dtype_name
from fusejit.support.budget import enter, note_time
from fusejit.support.frame_readers import names_in
from fusejit.support.interrupts import run_uninterruptible
from fusejit.support.locks import CachedProperty, WorkLock
from fusejit.support.syntax import run_text

ENTRY = "kernel"
"""Name of the function that is called from Python."""

_compile_lock = WorkLock()

_holds_collector_back: set[int] = set()  # the thread that does


def _collect_again() -> None:
    """In a forked child: do what a thread would have done at the end that is not here."""
    if _holds_collector_back - {threading.get_ident()}:
        _holds_collector_back.clear()
        gc.enable()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_collect_again)


@dataclass(frozen=True, slots=True)
class ArgType:
    """Type of one argument of a kernel.

    Attributes
    ----------
    kind : {"array", "scalar"}
        Arrays have any strides.
    dtype : numpy.dtype
        In native byte order.
    ndim : int
        Rank; 0 for scalars.
    """

    kind: Literal["array", "scalar"]
    dtype: np.dtype[Any]
    ndim: int = 0
    char: str = field(default="", init=False)  # longlong equals int64, but entries tell them apart

    def __post_init__(self) -> None:
        object.__setattr__(self, "char", self.dtype.char)

    def __str__(self) -> str:
        dtype = f"{self.dtype} {self.char}" if self.char in "qQ" else str(self.dtype)
        return f"{dtype}[{self.ndim}]" if self.kind == "array" else dtype


@dataclass(frozen=True)
class Kernel:
    """A kernel ready to be called.

    Attributes
    ----------
    name : str
        Symbol of the entry, from a hash of everything the machine code depends on.
    source : str
        Its text.
    loops : LoopModule or None
        What it was made from; None if that was the text.
    signature : tuple of ArgType
        What `call` takes.
    call : callable
        ``call(*arguments) -> status``: 0 done, above 0 the kernel's own, -1 an argument is not of
        the compiled type (then nothing ran). Never raises.
    from_cache : bool
        Whether the machine code came from disk.
    compile_seconds : float
        Time it took to get `call`.
    checks_arrays : bool
        Whether `call` checks class, dtype, byte order and rank of arrays itself.
    """

    name: str
    source: str = field(repr=False)
    signature: tuple[ArgType, ...]
    call: Callable[..., int] = field(repr=False)
    from_cache: bool
    compile_seconds: float
    loops: LoopModule | None = field(repr=False)
    _options: _Options = field(repr=False)
    _texts: list[Callable[[], str]] = field(default_factory=list, repr=False)
    checks_arrays: bool = True

    @CachedProperty
    def python(self) -> Callable[..., int]:
        """The same text unjitted: see `python_kernel`."""
        return python_kernel(self.source, self.signature)

    def asm(self) -> str:
        """Assembler text; a kernel from the cache is compiled again for it."""
        return self._text(0)

    def llvm(self) -> str:
        """Optimised LLVM IR; a kernel from the cache is compiled again for it."""
        return self._text(1)

    def _text(self, which: int) -> str:
        if not self._texts:
            native = run_uninterruptible(
                lambda: _compile_native(
                    self.source, self.loops, self.signature, self.name, self._options
                )
            )
            self._texts.extend((native.asm, native.llvm))
        return self._texts[which]()


RELEASE_GIL_FROM = 16_384
"""With fewer elements in all arrays together the GIL is kept: giving it up would cost more."""


@dataclass(frozen=True, slots=True)
class _Options:
    """What changes the machine code of a kernel besides source and signature."""

    vector_width: int = 0
    keep_gil_below: int = RELEASE_GIL_FROM
    use_public_api: bool = False


def _execute(source: str, name: str, namespace: dict[str, Any]) -> list[FunctionType]:
    """Run the text in `namespace` and return its functions; tracebacks show its lines."""
    before = set(namespace)
    run_text(source, f"<{name}>", namespace)
    made = (value for key, value in namespace.items() if key not in before)
    return [value for value in made if isinstance(value, FunctionType)]


def python_kernel(source: str, signature: tuple[ArgType, ...]) -> Callable[..., int]:
    """A kernel's text as plain Python, with the bits of the compiled one.

    It can be stepped through, checks every index, issues no warnings, and needs neither Numba nor
    LLVM.

    Examples
    --------
    >>> text = "def kernel(o, c):\\n    put(flat(o), 0, c)\\n    return 0\\n"
    >>> number = ArgType("scalar", np.dtype(np.float64))
    >>> run = python_kernel(text, (ArgType("array", number.dtype, 1), number))
    >>> out = np.zeros(2)
    >>> run(out, 7.0), out
    (0, array([7., 0.]))
    """
    name = f"fusejit_{hashlib.sha256(source.encode()).hexdigest()[:32]}_unjitted"
    namespace = {"__name__": "fusejit.kernel", **python_namespace()}
    _execute(source, name, namespace)
    function = namespace[ENTRY]

    dtypes = [DTYPES[dtype_name(wanted.dtype)] for wanted in signature]  # longlong is int64

    def call(*arguments: Any) -> int:
        with np.errstate(all="ignore"):
            converted = [
                given.view(dtype) if wanted.kind == "array" else dtype.type(given)
                for wanted, dtype, given in zip(signature, dtypes, arguments, strict=True)
            ]
            return int(function(*converted))

    return call


@contextlib.contextmanager
def _collector_held_back() -> Iterator[None]:
    """Keep Python from looking for cycles among the many objects of a compiler at work.

    The caller holds the compile lock.
    """
    thread, is_ours = threading.get_ident(), gc.isenabled()
    if is_ours:
        _holds_collector_back.add(thread)
        gc.disable()
    try:
        yield
    finally:
        if is_ours:
            gc.enable()
            _holds_collector_back.discard(thread)


def _compile_native(
    source: str,
    loops: LoopModule | None,
    signature: tuple[ArgType, ...],
    name: str,
    options: _Options,
) -> Any:
    """Compile: loops are written as LLVM IR; text takes Numba's front end, or its public API."""
    from fusejit.codegen.backend import numba_private  # imports Numba: only to compile
    from fusejit.codegen.backend.llvm_values import UnsupportedLowering
    from fusejit.codegen.intrinsics_jit import (
        raw_memory as memory_jit,  # imports Numba: only to compile
    )

    plain = tuple((a.kind, a.dtype, a.ndim) for a in signature)
    private = not options.use_public_api and numba_private.private_api_works()
    with _compile_lock, _collector_held_back():
        if private and loops is not None:
            with (
                memory_jit.vector_width(options.vector_width),
                contextlib.suppress(UnsupportedLowering),
            ):
                return numba_private.compile_loops(loops, plain, name, options.keep_gil_below)
        used = frozenset(names_in(compile(source, name, "exec")))
        namespace = {"__name__": "fusejit.kernel", **jit_namespace(used)}
        for function in _execute(source, name, namespace):
            if function.__name__ != ENTRY:
                namespace[function.__name__] = numba_private.jit_inner(function, private)
        kernel = namespace[ENTRY]
        with memory_jit.vector_width(options.vector_width):
            if not private:
                with raising(False):
                    return numba_private.compile_public(kernel, plain, name)
            return numba_private.compile_private(kernel, plain, name, options.keep_gil_below)


def _load_cached(cache: DiskCache, key: str) -> Callable[..., int] | None:
    """The entry from disk; None if it is not there or cannot run in this process."""
    from fusejit.codegen.backend import native_loader
    from fusejit.codegen.machine.probe import load_library

    found = cache.get(key)
    if found is None:
        return None
    header, object_code = found
    try:
        load_library()
        symbols = native_loader.undefined_symbols(object_code)
        if native_loader.missing_symbols((*symbols, *header["symbols"])):
            return None
        return native_loader.load_object(object_code, header["entry"])
    except (native_loader.ObjectFormatError, LookupError, TypeError, RuntimeError, OSError):
        return None


def _store(cache: DiskCache, key: str, entry: str, object_code: bytes) -> None:
    from fusejit.codegen.backend import native_loader

    try:
        symbols = native_loader.undefined_symbols(object_code)
    except native_loader.ObjectFormatError:  # not ELF: this system keeps kernels in memory only
        return
    if not native_loader.missing_symbols(symbols):
        cache.put(key, {"entry": entry, "symbols": symbols}, object_code)


def compile_kernel(
    source: str,
    signature: tuple[ArgType, ...],
    loops: LoopModule | None = None,
    *,
    cache_enabled: bool = True,
    cache_dir: Path | None = None,
    cache_bytes: int = DEFAULT_MAX_BYTES,
    num_threads: int | None = None,
    vector_width: int = 0,
    keep_gil_below: int = RELEASE_GIL_FROM,
    use_public_api: bool = False,
) -> Kernel:
    """Compile a kernel, or load it from disk.

    Parameters
    ----------
    source : str
        Text without imports whose function ``kernel`` returns an int64 status.
    signature : tuple of ArgType
        One per parameter of ``kernel``.
    loops : LoopModule, optional
        What the text was printed from: without it Numba reads the text.
    cache_enabled, cache_dir, cache_bytes
        Whether, where (default ``~/.cache/fusejit``) and up to which size object code is kept.
    num_threads : int, optional
        Calls `fusejit.codegen.machine.pool.set_num_threads` first.
    vector_width : {0, 128, 256, 512}
        Preferred register width in bits; 0 leaves it to LLVM.
    keep_gil_below : int
        Elements in all arrays together from which on a call gives up the GIL.
    use_public_api : bool
        Use `numba.njit` even if the private API works (then nothing is cached).

    Returns
    -------
    Kernel

    Raises
    ------
    numba.core.errors.TypingError
        If the text does not type: an internal error of the emitter.
    """
    from fusejit.codegen.machine import pool

    if num_threads is not None:
        pool.set_num_threads(num_threads)
    options = _Options(vector_width, keep_gil_below, use_public_api)
    folder = cache_dir or default_folder()
    is_kept = cache_enabled and not use_public_api
    cache = DiskCache(folder, cache_bytes) if is_kept and folder is not None else None
    # importing and running a compiler: nothing that a signal may end in the middle
    kernel = run_uninterruptible(
        lambda: _loaded_or_compiled(source, loops, signature, options, cache)
    )
    if loops is None or len(loops.functions) > 1:
        pool.start_pool()  # by this thread: TBB can be put to rest for a fork only where it began
    return kernel


def _loaded_or_compiled(
    source: str,
    loops: LoopModule | None,
    signature: tuple[ArgType, ...],
    options: _Options,
    cache: DiskCache | None,
) -> Kernel:
    """A kernel from the cache, or compiled and put there."""
    from fusejit.codegen.machine import pool

    start = time.perf_counter()
    pool.register_pool_symbol()
    key = kernel_key(source, ", ".join(map(str, signature)), repr(options))
    name = f"fusejit_{key[:32]}"
    with _compile_lock:
        call = None if cache is None else _load_cached(cache, key)
        if call is not None:
            seconds = time.perf_counter() - start
            return Kernel(name, source, signature, call, True, seconds, loops, options)
        enter("loops to LLVM")
        native = _compile_native(source, loops, signature, name, options)
        note_time()
        if cache is not None and native.object_code is not None:
            _store(cache, key, native.entry_symbol, native.object_code)
    seconds = time.perf_counter() - start
    texts = [native.asm, native.llvm]
    call, is_native = native.call, native.object_code is not None
    return Kernel(name, source, signature, call, False, seconds, loops, options, texts, is_native)
