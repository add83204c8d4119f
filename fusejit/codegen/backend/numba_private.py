"""Numba's private API, all of it; and the same through its public API.

The private way compiles a kernel with its own entry in one code library (no Numba wrapper, no
reference counting) and gives the object code. `private_api_works` looks at what it needs before the
first use; where something is missing, `compile_public` does the job with `numba.njit`.

Loops are written as LLVM IR by `codegen.backend.llvm_emitter`; of Numba only the library is used
then, which turns it into machine code. Text takes Numba's own way, made quicker by two things.
Functions that the kernel calls are neither optimised nor turned into machine code on their own,
only in the kernel that they are linked into. And passes that serve language features which
generated text does not have are left out.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

from fusejit.codegen.backend import native_loader
from fusejit.codegen.intrinsics.statuses import Status
from fusejit.codegen.machine.numba_api import from_dtype, types
from fusejit.dataclass import dataclass
from fusejit.ir.loops.nodes import LoopModule
from fusejit.support.budget import check_budget, enter
from fusejit.support.interrupts import is_from_handler

PlainSignature = tuple[tuple[str, np.dtype[Any], int], ...]
"""``(kind, dtype, ndim)`` of each argument."""

_OPTIONS = {"error_model": "numpy", "nogil": True}

_UNUSED_PASSES = frozenset(
    {
        "DumpParforDiagnostics",
        "FindLiterallyCalls",
        "InlineClosureLikes",
        "LiteralPropagationSubPipelinePass",
        "LiteralUnroll",
        "MakeFunctionToJitFunction",
        "NopythonRewrites",
        "RewriteDynamicRaises",
        "RewriteSemanticConstants",
        "WithLifting",
    }
)
"""Passes for closures, `with`, raising, `literal_unroll` and array expressions."""

_SECONDS_OF_AN_INSTRUCTION = 150e-6
"""What LLVM takes for each instruction that it is given, which nothing can interrupt."""

_DEEP = 8
"""Loops inside each other, above which a nest is deep."""

_LARGE = 2000
"""LLVM instructions from which on a kernel is large."""

_LLVM_WITH_OPTION = (20, 21, 22)
"""Versions of LLVM that are known to have ``-disable-lsr``: an unknown option ends the process."""


@dataclass(frozen=True, slots=True)
class NativeKernel:
    """A compiled kernel.

    Attributes
    ----------
    call : callable
        The entry: arrays and numbers in, status out.
    object_code : bytes or None
        ELF object that holds entry and kernel, if the private API gave it.
    entry_symbol : str
        The entry's name in the object.
    asm, llvm : callable
        ``asm()`` and ``llvm()`` give the texts.
    """

    call: Callable[..., int]
    object_code: bytes | None
    entry_symbol: str
    asm: Callable[[], str]
    llvm: Callable[[], str]


def _numba(module: str = "") -> Any:
    """A module of Numba, untyped."""
    return importlib.import_module("numba" + module)


@contextlib.contextmanager
def _without_scipy() -> Iterator[None]:
    """Keep Numba's first refresh from importing SciPy, which no kernel needs (150 to 190 ms).

    Whoever compiles ``np.dot`` later imports it then: Numba asks again at each use.
    """
    linalg = _numba(".np.linalg")
    original = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    try:
        yield
    finally:
        linalg.ensure_blas = original
        arraymath = sys.modules.get("numba.np.arraymath")  # it has a name of its own for it
        if arraymath is not None:
            vars(arraymath)["ensure_blas"] = original


@functools.cache
def _contexts() -> tuple[Any, Any]:
    """Numba's (typing context, target context), refreshed without SciPy."""
    target = _numba(".core.registry").cpu_target
    with _without_scipy():
        target.typing_context.refresh()
        target.target_context.refresh()
    return target.typing_context, target.target_context


def private_api_works() -> bool:
    """Whether all that `compile_private` uses is there, with the parameters it passes."""
    return _missing_private_api() is None


@functools.cache
def _missing_private_api() -> str | None:
    """None, or what is missing."""
    try:
        compiler, codegen = _numba(".core.compiler"), _numba(".core.codegen")
        library = codegen.CPUCodeLibrary
        lowering, typed_passes = _numba(".core.lowering"), _numba(".core.typed_passes")
        wanted: dict[Callable[..., Any], set[str]] = {
            compiler.compile_extra: {"typingctx", "targetctx", "func", "args", "pipeline_class"},
            compiler._make_subtarget: {"targetctx", "flags"},
            compiler.DefaultPassBuilder.define_nopython_pipeline: {"state"},
            lowering.Lower.create_cpython_wrapper: {"release_gil"},
            library.add_ir_module: {"ir_module"},
            library.serialize_using_object_code: set(),
            library._optimize_final_module: set(),
            library._optimize_functions: {"ll_module"},
            library._finalize_final_module: set(),
            codegen.CPUCodegen._module_pass_manager: set(),
            _numba(".core.compiler_machinery").PassManager.finalize: set(),
            _numba(".np.arrayobj").populate_array: {"data", "shape", "strides", "itemsize"},
            typed_passes.BaseNativeLowering.run_pass: {"state"},
        }
        for function, parameters in wanted.items():
            if not parameters <= set(inspect.signature(function).parameters):
                return f"{function.__qualname__} has other parameters"
        for flag in ("release_gil", "no_cfunc_wrapper", "error_model", "nrt"):
            if not hasattr(compiler.Flags, flag):
                return f"no flag {flag}"
        if not importlib.import_module("fusejit.codegen.backend.native_layout").layout_is_known():
            return "NumPy's array struct has another layout"
        _contexts()
        _pipelines()
    except Exception as error:  # private API may fail in any way
        if is_from_handler(error):
            raise
        return f"{type(error).__name__}: {error}"
    return None


def argument_types(signature: PlainSignature) -> tuple[Any, ...]:
    """Numba types of the arguments: arrays of layout 'A', or scalars."""
    return tuple(
        types.Array(from_dtype(dtype), ndim, "A") if kind == "array" else from_dtype(dtype)
        for kind, dtype, ndim in signature
    )


def _flags() -> Any:
    flags = _numba(".core.compiler").Flags()
    flags.no_cfunc_wrapper = True
    flags.error_model = "numpy"
    flags.release_gil = True
    flags.nrt = False
    return flags


def jit_inner(function: FunctionType, private: bool) -> Any:
    """A function of the text that is not the entry: compiled when the kernel calls it."""
    njit = _numba().njit
    if not private:
        return njit(**_OPTIONS)(function)
    lean = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
    return njit(**_OPTIONS, **lean, pipeline_class=_pipelines().inner)(function)


@dataclass(frozen=True, slots=True)
class _Pipelines:
    """Numba compiler classes of ours; `lower.request` says which entry the kernel gets."""

    kernel: Any
    inner: Any
    lower: Any


def _set_data_layout(library: Any, module: Any) -> None:
    """What is needed of Numba's round per function: the round over the module does the rest."""
    module.data_layout = library._codegen._data_layout


def _optimise_once(library: Any, is_deep: bool = False) -> None:
    """Run LLVM's passes over a kernel's module: Numba's last round alone.

    The one before prepares the pruning of reference counts, and there are none. Deep nests are
    optimised at level 2: at level 3 each condition is tried before each loop around it
    (SimpleLoopUnswitch), which takes five times as long for 14 loops and gains nothing.
    """
    options = {"opt": 2} if is_deep else {}
    manager, builder = library._codegen._module_pass_manager(**options)
    manager.run(library._final_module, builder)


@contextlib.contextmanager
def _level_for(num_instructions: int) -> Iterator[None]:
    """The level at which LLVM compiles a kernel of so many instructions, as long as this lasts.

    Large kernels go without the pass that rewrites induction variables (LoopStrengthReduce): it
    takes a third to two thirds of the time from LLVM IR to machine code, and seven large programs
    ran as fast without it (`docs/performance.md`). The caller holds Numba's compile lock: the
    option is one of the process.
    """
    binding = importlib.import_module("llvmlite.binding")
    if num_instructions < _LARGE or binding.llvm_version_info[0] not in _LLVM_WITH_OPTION:
        yield
        return
    binding.set_option("fusejit", "-disable-lsr=true")
    try:
        yield
    finally:
        binding.set_option("fusejit", "-disable-lsr=false")


def _leave_to_the_kernel(library: Any) -> None:
    """Make finishing a library nothing: its module is only linked into the kernel's."""

    def finish() -> None:
        library._finalized = True

    library._optimize_final_module = lambda: None
    library._finalize_final_module = finish


def _never_called(library: Any, fndesc: Any, env: Any) -> Callable[..., Any]:
    """In place of the executable of an inner function, which has none: Numba uses it as a key only.

    It must be a builtin, and another one each time.
    """
    anything: list[Any] = []
    return anything.append


@functools.cache
def _pipelines() -> _Pipelines:
    compiler, typed_passes = _numba(".core.compiler"), _numba(".core.typed_passes")
    register_pass = _numba(".core.compiler_machinery").register_pass
    emit_entry = importlib.import_module("fusejit.codegen.backend.native_entry").emit_entry
    base_lower: Any = _numba(".core.lowering").Lower
    base_lowering: Any = typed_passes.BaseNativeLowering
    base_compiler: Any = compiler.CompilerBase

    class KernelLower(base_lower):  # type: ignore[misc]
        request: tuple[str, tuple[np.dtype[Any], ...], bool] | None = None

        def create_cpython_wrapper(self, release_gil: bool = False) -> None:
            assert KernelLower.request is not None
            symbol, dtypes, keep_gil_below = KernelLower.request
            module = self.context.create_module("entry")
            emit_entry(self.context, module, self.fndesc, symbol, dtypes, keep_gil_below)
            self.library.add_ir_module(module)

    def new_library(state: Any) -> Any:
        state.library = state.targetctx.codegen().create_library(state.func_id.func_qualname)
        state.library.enable_object_caching()
        state.library._optimize_functions = functools.partial(_set_data_layout, state.library)
        return state.library

    @register_pass(mutates_CFG=True, analysis_only=False)
    class KernelLowering(base_lowering):  # type: ignore[misc]
        _name = "fusejit_kernel_lowering"
        lowering_class = KernelLower

        def run_pass(self, state: Any) -> Any:
            library = new_library(state)
            library._optimize_final_module = functools.partial(_optimise_once, library)
            return super().run_pass(state)

    @register_pass(mutates_CFG=True, analysis_only=False)
    class InnerLowering(base_lowering):  # type: ignore[misc]
        _name = "fusejit_inner_lowering"
        lowering_class = base_lower

        def run_pass(self, state: Any) -> Any:
            _leave_to_the_kernel(new_library(state))
            state.targetctx.get_executable = _never_called  # a copy of the context, for this state
            return super().run_pass(state)

    def passes(state: Any, lowering: Any) -> list[Any]:
        manager = compiler.DefaultPassBuilder.define_nopython_pipeline(state)
        manager.passes = [
            (lowering if each is typed_passes.NativeLowering else each, text)
            for each, text in manager.passes
            if each.__name__ not in _UNUSED_PASSES
        ]
        manager._finalized = False
        manager.finalize()
        return [manager]

    def compiler_with(lowering: Any) -> Any:
        class Compiler(base_compiler):  # type: ignore[misc]
            def define_pipelines(self) -> list[Any]:
                return passes(self.state, lowering)

        return Compiler

    return _Pipelines(compiler_with(KernelLowering), compiler_with(InnerLowering), KernelLower)


def compile_private(
    kernel: FunctionType, signature: PlainSignature, entry_symbol: str, keep_gil_below: int
) -> NativeKernel:
    """Compile `kernel` with its own entry. The caller holds the one compile lock."""
    compiler = _numba(".core.compiler")
    native_loader.register_symbols()
    typing_context, target_context = _contexts()
    pipelines = _pipelines()
    with _numba(".core.compiler_lock").global_compiler_lock:
        typing_context.refresh()
        target_context.refresh()
        dtypes = tuple(dtype for _, dtype, _ in signature)
        pipelines.lower.request = entry_symbol, dtypes, keep_gil_below
        try:
            result = compiler.compile_extra(
                typing_context,
                target_context,
                kernel,
                argument_types(signature),
                types.int64,
                _flags(),
                {},
                pipeline_class=pipelines.kernel,
            )
        finally:
            pipelines.lower.request = None
    return _finished(result.library, entry_symbol)


def _finished(library: Any, entry_symbol: str) -> NativeKernel:
    """What is needed of a library that is machine code now."""
    address = library.get_pointer_to_function(entry_symbol)
    call = native_loader.make_builtin(entry_symbol, address, (library,))
    object_code = bytes(library.serialize_using_object_code()[2][0])
    return NativeKernel(call, object_code, entry_symbol, library.get_asm_str, library.get_llvm_str)


@functools.cache
def _written_contexts() -> tuple[Any, Any]:
    """The contexts for functions that are written here."""
    typing_context, target_context = _contexts()
    return typing_context, _numba(".core.compiler")._make_subtarget(target_context, _flags())


def compile_loops(
    loops: LoopModule,
    signature: PlainSignature,
    entry_symbol: str,
    keep_gil_below: int,
) -> NativeKernel:
    """Compile a kernel's loops with its own entry. The caller holds the one compile lock.

    Raises
    ------
    fusejit.codegen.backend.llvm_values.UnsupportedLowering
        If they have something that is not written as LLVM IR here.
    """
    llvm_module = importlib.import_module("fusejit.codegen.backend.llvm_module")
    emit_entry = importlib.import_module("fusejit.codegen.backend.native_entry").emit_entry
    loop_depth = importlib.import_module("fusejit.codegen.backend.loop_hints").loop_depth
    native_loader.register_symbols()
    with _numba(".core.compiler_lock").global_compiler_lock:
        contexts = _written_contexts()
        context = contexts[1]
        library = context.codegen().create_library(entry_symbol)
        library.enable_object_caching()
        library._optimize_functions = functools.partial(_set_data_layout, library)
        is_deep = loop_depth(loops) > _DEEP
        library._optimize_final_module = functools.partial(_optimise_once, library, is_deep)
        module = library.create_ir_module(entry_symbol)
        kernel = llvm_module.KernelModule(contexts, module, loops)
        dtypes = tuple(dtype for _, dtype, _ in signature)
        with context.push_code_library(library):
            described = kernel.described("kernel", argument_types(signature), types.int64)
            emit_entry(context, module, described, entry_symbol, dtypes, keep_gil_below)
        enter("LLVM")
        size = sum(len(block.instructions) for f in module.functions for block in f.blocks)
        check_budget(_SECONDS_OF_AN_INSTRUCTION * size)
        library.add_ir_module(module)
        with _level_for(size):
            library.finalize()
    return _finished(library, entry_symbol)


def compile_public(
    kernel: FunctionType, signature: PlainSignature, entry_symbol: str
) -> NativeKernel:
    """Compile with ``numba.njit``; it takes subclasses of ndarray too."""
    native_loader.register_symbols()
    numba_signature = types.int64(*argument_types(signature))
    dispatcher = _numba().njit([numba_signature], **_OPTIONS)(kernel)
    (compiled_for,) = dispatcher.signatures

    def call(*args: Any) -> int:
        try:
            return int(dispatcher(*args))
        except (TypeError, OverflowError):
            return int(Status.MISMATCH)

    return NativeKernel(
        call,
        None,
        entry_symbol,
        lambda: str(dispatcher.inspect_asm(compiled_for)),
        lambda: str(dispatcher.inspect_llvm(compiled_for)),
    )
