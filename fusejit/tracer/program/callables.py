"""What a trace may call natively: the one table of allowed and denied functions.

Functions with a handler in the dispatch table and the user's own Python functions never get here.
"""

from __future__ import annotations

import builtins
import contextlib
import enum
import functools
import itertools
import math
import operator
import os
import random
import sys
import sysconfig
from types import BuiltinFunctionType, FunctionType, MethodWrapperType, ModuleType
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.ir.raw_reads import defined_by, is_a, module_of
from fusejit.support.package_files import ENTRY_STUB, is_package_file
from fusejit.tracer.program.locations import MOVE_OUTSIDE, NUMPY_FOLDER
from fusejit.tracer.source.entry_stubs import is_entry_stub


class Verdict(enum.Enum):
    """How a call goes on."""

    NATIVE = "native"  # with any arguments
    STATIC = "static"  # only without traced arguments
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Rule:
    """A verdict; ``callbacks`` are arguments that are called back (positions or keywords)."""

    verdict: Verdict
    reason: str = ""
    remedy: str = MOVE_OUTSIDE
    callbacks: tuple[int | str, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether the verdict is about this function and not for want of knowledge."""
        return self.reason != _UNKNOWN


CONSTANT_TYPES = (type(None), bool, int, float, complex, str, bytes)
"""Types of Python's objects that never change and hold nothing of the program's."""

_UNKNOWN = "is not known to fusejit"
NATIVE = Rule(Verdict.NATIVE)
STATIC = Rule(Verdict.STATIC)

_NATIVE_BUILTINS = (
    "abs all any ascii bin bool bytes callable chr complex dict divmod enumerate float format "
    "frozenset hash hex int isinstance issubclass iter len list next object oct ord pow property "
    "range repr reversed round set slice staticmethod classmethod str sum super tuple zip"
)
_CALLBACKS: dict[Any, tuple[int | str, ...]] = {
    map: (0,),
    filter: (0,),
    sorted: ("key",),
    max: ("key",),
    min: ("key",),
    functools.reduce: (0,),
    functools.cmp_to_key: (0,),
    itertools.accumulate: (1, "func"),
    itertools.starmap: (0,),
    itertools.takewhile: (0,),
    itertools.dropwhile: (0,),
    itertools.filterfalse: (0,),
    itertools.groupby: (1, "key"),
    np.fromfunction: (0, "function"),
}
_NATIVE_ITERTOOLS = (
    "product permutations combinations combinations_with_replacement chain count cycle repeat "
    "islice zip_longest pairwise compress tee"
)
_NATIVE_OPERATORS = (
    "abs add and_ concat contains countOf eq floordiv ge gt index indexOf inv invert is_ is_not le "
    "lshift lt matmul mod mul ne neg not_ or_ pos pow rshift sub truediv truth xor"
)
_EFFECT = "is an effect that would happen once, while tracing"
_DENIED_BUILTINS = {
    "print": Rule(Verdict.DENY, _EFFECT, "print outside the decorated function"),
    "input": Rule(Verdict.DENY, _EFFECT),
    "open": Rule(Verdict.DENY, _EFFECT),
    "breakpoint": Rule(Verdict.DENY, _EFFECT),
    "exec": Rule(Verdict.DENY, "runs code that cannot be followed", "write the code out"),
    "eval": Rule(Verdict.DENY, "runs code that cannot be followed", "write the code out"),
    "globals": Rule(Verdict.DENY, "reads names that cannot be followed", "name the variable"),
    "locals": Rule(Verdict.DENY, "reads names that cannot be followed", "name the variable"),
    "vars": Rule(Verdict.DENY, "reads names that cannot be followed", "name the attribute"),
    "dir": Rule(Verdict.DENY, "reads names that cannot be followed", "name the attribute"),
    "id": Rule(Verdict.DENY, "differs from run to run"),
}
_EFFECT_MODULES = {
    "time": "reads the clock",
    "random": "draws random numbers",
    "numpy.random": "draws random numbers",
    "secrets": "draws random numbers",
    "datetime": "may read the clock",
    "os": "talks to the operating system",
    "sys": "reads or changes the interpreter",
    "logging": _EFFECT,
    "warnings": _EFFECT,
}
_DENIED_NUMPY = frozenset(
    [
        "save",
        "savez",
        "savez_compressed",
        "savetxt",
        "load",
        "loadtxt",
        "genfromtxt",
        "fromfile",
        "fromregex",
        "memmap",
        "seterr",
        "seterrcall",
        "setbufsize",
        "geterrcall",
        "set_printoptions",
        "printoptions",
        "put",
        "place",
        "copyto",
        "putmask",
        "fill_diagonal",
        "put_along_axis",
        "nditer",
        "nested_iters",
        "vectorize",
        "frompyfunc",
        "apply_along_axis",
        "apply_over_axes",
        "piecewise",
        "fromiter",
        "harden_mask",
        "set_fill_value",
        "soften_mask",
    ]
)
_NUMPY_FILES = ("numpy.lib._format", "numpy.lib.format", "numpy.lib._npyio")
_SETTINGS = frozenset(
    [
        *("array2string", "array_repr", "array_str", "get_printoptions", "getbufsize", "geterr"),
        "format_float",  # of numpy.polynomial.polyutils
    ]
)
"""Functions of NumPy that read its settings, which may be others in the next call."""
_NUMPY_EFFECTS = frozenset(
    [
        *("add_docstring", "add_newdoc", "info", "show_config", "show_runtime"),
        *("set_default_printstyle", "recursive_fill_fields", "fromtextfile", "openfile"),
    ]
)
_READ_FRAMES = frozenset(["bmat"])
_NUMPY_RUNNERS = "numpy._pytesttester"  # of the objects ``np.test``, ``np.linalg.test``
# Methods that change the object they are called on.
MUTATING_METHODS = frozenset(
    [
        "append",
        "extend",
        "insert",
        "remove",
        "pop",
        "clear",
        "sort",
        "reverse",
        "update",
        "setdefault",
        "popitem",
        "add",
        "discard",
        "difference_update",
        "intersection_update",
        "symmetric_difference_update",
        "__setitem__",
        "__delitem__",
        "__iadd__",
        "__imul__",
        "__ior__",
    ]
)
_VALUE_TYPES: tuple[type, ...] = (
    *CONSTANT_TYPES,
    list,
    tuple,
    dict,
    set,
    frozenset,
    slice,
    range,
    np.generic,
    np.dtype,
    np.finfo,
    np.iinfo,
)


def _rules() -> dict[Any, Rule]:
    rules: dict[Any, Rule] = {}
    for name in _NATIVE_BUILTINS.split():
        rules[getattr(builtins, name)] = NATIVE
    for name in _NATIVE_ITERTOOLS.split():
        rules[getattr(itertools, name)] = NATIVE
    rules[itertools.chain.from_iterable] = NATIVE
    for name in _NATIVE_OPERATORS.split():
        rules[getattr(operator, name)] = NATIVE
    for function in (
        functools.wraps,
        functools.update_wrapper,
        functools.partial,
        contextlib.nullcontext,
    ):
        rules[function] = NATIVE
    for name in dir(math):
        function = getattr(math, name)
        if isinstance(function, BuiltinFunctionType):
            rules[function] = STATIC
    for function, callbacks in _CALLBACKS.items():
        rules[function] = Rule(Verdict.NATIVE, callbacks=callbacks)
    for name, rule in _DENIED_BUILTINS.items():
        rules[getattr(builtins, name)] = rule
    return rules


RULES = _rules()


def rule_for(function: Any) -> Rule:
    """The rule of a function that is neither traced nor the user's own."""
    try:
        found = RULES.get(function)
    except TypeError:  # unhashable
        found = None
    if found is not None:
        return found
    if isinstance(function, type):
        return _class_rule(function)
    owner = getattr(function, "__self__", None)
    if owner is not None and not isinstance(owner, ModuleType):
        if isinstance(owner, type):
            return _class_method_rule(owner, function)
        if isinstance(owner, (*_VALUE_TYPES, type(_ for _ in ()))):
            callbacks = ("key",) if isinstance(owner, list) else ()
            return Rule(Verdict.NATIVE, callbacks=callbacks)
        return _denied(function, type(owner).__module__)
    of_class = getattr(function, "__objclass__", None)  # str.upper, dict.get
    if of_class is not None and issubclass(of_class, _VALUE_TYPES):
        return NATIVE
    module = getattr(function, "__module__", None) or ""
    return _numpy_rule(function) if is_numpy_function(function) else _denied(function, module)


def _numpy_rule(function: Any) -> Rule:
    """The rule of a function of NumPy's that has no handler."""
    name = getattr(function, "__name__", "")
    module = getattr(function, "__module__", None) or ""
    if module == "numpy.matlib":
        return Rule(Verdict.DENY, "makes matrices, or draws random numbers")
    if name in _READ_FRAMES:
        return Rule(Verdict.DENY, "reads names of the function that calls it")
    if name in _SETTINGS:
        return Rule(Verdict.DENY, "reads settings of NumPy that may change")
    if name in _NUMPY_EFFECTS or type(function).__module__ == _NUMPY_RUNNERS:
        return Rule(Verdict.DENY, _EFFECT)
    if name in _DENIED_NUMPY or module.startswith(_NUMPY_FILES):
        return _denied(function, module)
    return STATIC


def _class_rule(function: type) -> Rule:
    if issubclass(function, (BaseException, *_VALUE_TYPES)):
        return STATIC if issubclass(function, (np.generic, np.dtype)) else NATIVE
    if function is np.errstate:
        return NATIVE
    return _denied(function, function.__module__)


def _class_method_rule(owner: type, function: Any) -> Rule:
    if issubclass(owner, _VALUE_TYPES) or hasattr(owner, "_fields"):  # dict.fromkeys, P._make
        return NATIVE
    return _denied(function, owner.__module__)


def _denied(function: Any, module: str) -> Rule:
    for prefix, reason in _EFFECT_MODULES.items():
        if module == prefix or module.startswith((prefix + ".", "_" + prefix)):
            return Rule(Verdict.DENY, reason)
    if getattr(function, "__name__", "") in _DENIED_NUMPY and module.startswith("numpy"):
        return Rule(Verdict.DENY, "changes something outside or calls back into Python")
    return Rule(Verdict.DENY, _UNKNOWN)


def is_numpy_function(function: Any) -> bool:
    """Whether it is NumPy's own function or ufunc, random numbers and files excepted."""
    if isinstance(function, np.ufunc):
        return True
    module = getattr(function, "__module__", None) or ""
    private = ("numpy.random", "numpy.testing", "numpy.f2py", "numpy.ctypeslib")
    return module.split(".")[0] == "numpy" and not module.startswith(private)


def is_numpy_source(function: Any) -> bool:
    """Whether it is written in a file of NumPy's: `functools.wraps` borrows modules and names."""
    return type(function) is FunctionType and (
        function.__code__.co_filename.startswith(NUMPY_FOLDER)
    )


def is_library_source(function: Any) -> bool:
    """Whether it is traced as it stands in a library's file: NumPy's, or that of `random`."""
    return is_numpy_source(function) or (
        type(function) is FunctionType and function.__globals__ is vars(random)
    )


_STDLIB = tuple(
    os.path.realpath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib")
)


@functools.lru_cache(maxsize=4096)
def is_library_file(filename: str) -> bool:
    """Whether a file belongs to Python's standard library, NumPy or fusejit.

    The function that stands for a decorated one is the user's: what it computes is.
    """
    if filename.startswith(ENTRY_STUB):
        return False
    if filename.startswith("<frozen ") or is_package_file(filename):
        return True
    numpy = os.path.dirname(os.path.realpath(np.__file__)) + os.sep
    real = os.path.realpath(filename)
    if real.startswith(numpy):
        return True
    return real.startswith(_STDLIB) and "site-packages" not in real


def is_user_function(function: object) -> bool:
    """Whether it is a Python function outside the standard library, NumPy and fusejit."""
    if type(function) is not FunctionType:
        return False
    return is_entry_stub(function) or not is_library_file(function.__code__.co_filename)


@functools.lru_cache(maxsize=1024)
def is_library_module(name: str) -> bool:
    """Whether a module's attributes never change: the standard library, NumPy, fusejit."""
    import_root = name.partition(".")[0]
    return import_root in _LIBRARY_ROOTS


_LIBRARY_ROOTS = frozenset({"numpy", "fusejit", *sys.stdlib_module_names}) - {"__main__"}


def function_name(function: Any) -> str:
    """How the user calls it: ``time.perf_counter``, ``numpy.fft.fft``, ``print``."""
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    if name is None:
        return repr(type(function))
    module = getattr(function, "__module__", None)
    owner = getattr(function, "__self__", None)
    if module is None and owner is not None and not isinstance(owner, ModuleType):
        module = type(owner).__module__
    if module in (None, "builtins", "__main__"):
        return str(name)
    return f"{module}.{name}"


def is_traced_type(cls: type) -> bool:
    """Whether objects of a class are traced: they know themselves what to do."""
    return module_of(cls).startswith("fusejit.tracer.")


def is_library_object(obj: Any) -> bool:
    """Whether a module, class or function belongs to Python or NumPy, and so never changes."""
    if isinstance(obj, ModuleType):
        return is_library_module(obj.__name__)
    if isinstance(obj, (type, FunctionType, BuiltinFunctionType, np.ufunc)) or callable(obj):
        module = getattr(obj, "__module__", None)
        return isinstance(obj, np.ufunc) or (isinstance(module, str) and is_library_module(module))
    return False


def is_named_tuple_class(cls: Any) -> bool:
    """Whether it is a class of named tuples; SciPy has some alike, which may hold more."""
    if not (is_a(cls, type) and issubclass(cls, tuple)):
        return False
    return all(defined_by(cls, name) is not None for name in ("_fields", "_make"))


def is_named_tuple(obj: object) -> bool:
    """Whether it is a named tuple."""
    return is_named_tuple_class(type(obj))


def is_method_in_c(obj: Any) -> bool:
    """Whether it is a method, written in C, of an object: ``log.append``, and not ``math.sqrt``."""
    if not isinstance(obj, BuiltinFunctionType | MethodWrapperType):
        return False
    return obj.__self__ is not None and not isinstance(obj.__self__, ModuleType | type)
