"""The LLVM module of a kernel: its functions, and Numba's implementations of what they call."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from fusejit.codegen.analysis.function_forms import Form
from fusejit.codegen.backend.llvm_emitter import FunctionEmitter
from fusejit.codegen.backend.llvm_values import UnsupportedLowering
from fusejit.codegen.backend.loop_hints import Hints
from fusejit.codegen.intrinsics.intrinsic_table import jit_object
from fusejit.codegen.intrinsics_jit.parallel import LoopBody
from fusejit.codegen.machine.numba_api import TypingError, ir, types
from fusejit.ir.loops.nodes import LoopModule

_I32 = ir.IntType(32)


class KernelModule:
    """The LLVM module of one kernel: its functions and ``kernel``.

    Parameters
    ----------
    contexts : tuple
        Numba's typing context and its target context for these functions.
    module
        An empty LLVM module.
    loops : LoopModule
        What is written.
    """

    def __init__(self, contexts: tuple[Any, Any], module: Any, loops: LoopModule) -> None:
        self.typing, self.target = contexts
        self.module = module
        self.definitions = {f.name: f for f in loops.functions}
        self._functions: dict[Any, tuple[Any, tuple[int, ...], tuple[Any, ...]]] = {}
        self._forms: dict[str, Form] = {}
        self._implementations: dict[Any, tuple[Any, ...]] = {}
        self._constants: dict[str, Any] = {}
        self._num_loops = 0
        self._bodies = {name: LoopBody(name, self.function) for name in self.definitions}

    def function(
        self, name: str, argtypes: tuple[Any, ...], result: Any = types.none
    ) -> tuple[Any, tuple[int, ...]]:
        """The LLVM function of a definition, and which argument it takes at each place.

        Definitions that differ in names alone are one function: the steps of a program often do the
        same to other arrays.
        """
        form = self._forms.get(name)
        if form is None:
            form = self._forms[name] = Form.of(self.definitions[name])
        key = form.key(argtypes)
        if key not in self._functions:
            number = f".{len(self._functions)}" if self._functions else ""
            symbol = f"fusejit_{name}{number}"
            emitter = FunctionEmitter(self, self.definitions[name], argtypes, result, symbol)
            self._functions[key] = emitter.function, form.order, argtypes
        function, order, _ = self._functions[key]
        places = dict(zip(order, form.order, strict=True))
        return function, tuple(places[k] for k in range(len(places)))

    def described(self, name: str, argtypes: tuple[Any, ...], result: Any) -> Any:
        """A definition as `fusejit.codegen.backend.native_entry.emit_entry` wants it."""
        function, _ = self.function(name, argtypes, result)
        return SimpleNamespace(restype=result, argtypes=argtypes, llvm_func_name=function.name)

    def body(self, name: str) -> LoopBody:
        """A definition as an argument of ``parallel_for``."""
        return self._bodies[name]

    def loop_metadata(self, hints: Hints) -> Any:
        """Metadata of one more loop."""
        nodes = [self.module.add_metadata([name, ir.Constant(_I32, n)]) for name, n in hints]
        self._num_loops += 1
        loop = self.module.add_metadata([f"loop {self._num_loops}", *nodes])
        loop.operands = (loop, *nodes)  # a loop is named by metadata that names itself
        return loop

    def constant(self, name: str) -> Any:
        """A float, or the Numba type of what a global name stands for."""
        if name not in self._constants:
            found = jit_object(name)
            if found is None:
                raise UnsupportedLowering(name)
            is_number = isinstance(found, float)
            self._constants[name] = found if is_number else self.typing.resolve_value_type(found)
        return self._constants[name]

    def intrinsic(self, name: str, given: Sequence[Any], literals: Sequence[Any]) -> Any:
        """(signature, code) of an intrinsic; ``literals`` are the types, literal ints as such."""
        made = jit_object(name)
        definition = getattr(made, "_defn", None)
        if made is None or definition is None:
            raise UnsupportedLowering(name)
        key = (name, *map(id, literals if made._prefer_literal else given))
        if key not in self._implementations:
            tried = (literals, given) if made._prefer_literal else (given, literals)
            for arguments in tried:
                try:
                    found = definition(self.typing, *arguments)
                except (TypingError, TypeError):
                    continue
                if found is not None:
                    self._implementations[key] = (*found, given, literals)  # ids stay theirs
                    break
            else:
                raise UnsupportedLowering(f"{name}{tuple(given)}")
        return self._implementations[key][:2]

    def operation(self, function: Any, given: tuple[Any, ...]) -> Any:
        """(signature, code) of one of Python's operators, as Numba has it."""
        key = (function, *map(id, given))
        if key not in self._implementations:
            try:
                signature = self.typing.resolve_function_type(function, given, {})
            except TypingError as error:
                raise UnsupportedLowering(str(error)) from error
            if signature is None:
                raise UnsupportedLowering(f"{function.__name__}{given}")
            code = self.target.get_function(function, signature)
            self._implementations[key] = (signature, code, given)
        return self._implementations[key][:2]
