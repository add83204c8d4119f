"""All public functions of NumPy, with all their keyword arguments, as small calls.

Which arguments a function takes is found by trying: of a pool of tuples of arguments those are kept
that NumPy takes. To the first a keyword argument is added with each value that its name suggests,
whether NumPy takes that or not: errors are compared too.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fusejit.api import FuseWarning
from fusejit_testing.compare import Bound, clone
from fusejit_testing.oracle import compare_outcomes, decorate, run

Function = Callable[..., Any]

_NOT_COMPARED = frozenset(
    # read and write files, memory and settings, or tell of this process
    (
        *("fromfile", "fromregex", "genfromtxt", "load", "loadtxt", "save", "savetxt", "savez"),
        *("savez_compressed", "frombuffer", "from_dlpack", "set_printoptions", "setbufsize"),
        *("seterr", "seterrcall", "printoptions", "get_include", "info", "show_config", "test"),
        *("show_runtime", "geterr", "geterrcall", "getbufsize", "get_printoptions", "errstate"),
        # contents are arbitrary
        *("empty", "empty_like", "may_share_memory", "shares_memory", "nested_iters"),
        # functions are their arguments: tests of their own
        *("apply_along_axis", "apply_over_axes", "frompyfunc", "piecewise", "fromfunction"),
        "mask_indices",
    )
)
_KEYWORDS_OF_UFUNCS = ("out", "where", "casting", "order", "dtype", "subok", "signature")
_KEYWORDS_OF_REDUCTIONS = ("axis", "dtype", "out", "keepdims", "initial", "where")
_UFUNC_METHODS = ("reduce", "accumulate", "reduceat", "outer", "at")


def _pool() -> dict[str, tuple[Any, ...]]:
    """Positional arguments by name."""
    v = np.array([2.0, -1.5, 0.5, 3.0])
    m = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]])
    i = np.array([3, 1, 2, 1])
    return {
        "matrix": (m,),
        "two matrices": (m, m[::-1].copy()),
        "vector": (v,),
        "integers": (i,),
        "two vectors": (v, v[::-1].copy()),
        "two of integers": (i, i[::-1].copy()),
        "bools": (v > 0,),
        "complex": (v + 1j * v[::-1],),
        "complex matrix": (m + 1j * m.T,),
        "float32": (v.astype(np.float32),),
        "int8": (i.astype(np.int8),),
        "int8 and uint16": (i.astype(np.int8), i.astype(np.uint16)),
        "rank 0": (np.array(2.0),),
        "scalar": (np.float64(2.0),),
        "two of rank 0": (np.array(2.0), np.array(3.0)),
        "rank 3": (np.arange(12.0).reshape(2, 3, 2),),
        "Fortran's": (np.asfortranarray(np.arange(6.0).reshape(2, 3)),),
        "reversed": (np.arange(8.0)[::-2],),
        "empty": (np.zeros((0, 3)),),
        "list": ([v, v * 2],),
        "vector and number": (v, 2),
        "matrix and number": (m, 1),
        "integers and number": (i, 1),
        "vector and integers": (v, np.array([1, 0, 2, 1])),
        "matrix and shape": (m, (9, 1)),
        "bools and vector": (v > 0, v),
        "three vectors": (v, v + 1, v * 2),
        "vector and numbers": (v, -1.0, 1.0),
        "number and vector": (2.0, v),
        "matrix and axes": (m, 0, 1),
        "vector and dtype": (v, np.float32),
        "number": (3,),
        "numbers": (1, 4),
        "element": (i[:1], 4),
        "shape": ((2, 3),),
        "bools, vector, number": (v > 0, v, 1.0),
        "text and matrices": ("ij,jk->ik", m, m),
    }


_VALUES: dict[str, Sequence[Any]] = {
    "axis": (0, -1, None, (0, 1), 5),
    "axes": ((0,), (1, 0), 1),
    "dtype": (np.float32, "int64", np.complex128),
    "order": ("C", "F", "A", "K"),
    "casting": ("unsafe", "no", "same_kind"),
    "copy": (True, False, None),
    "subok": (True, False),
    "ndmin": (1, 3),
    "keepdims": (True, False),
    "where": ("mask", False),
    "out": ("out",),
    "initial": (1, 2.5),
    "signature": ("dd->d", "d->d"),
    "mode": ("valid", "same", "wrap", "clip", "edge", "reduced"),
    "method": ("lower", "auto"),
    "norm": ("ortho",),
    "indexing": ("ij",),
    "side": ("right",),
    "kind": ("stable", "sort"),
    "requirements": (["F", "W"], "C"),
    "like": (None,),
    "device": ("cpu",),
}
_OTHER_VALUES = (0, 1, 2, True, False, None)


@dataclass(frozen=True, slots=True)
class Call:
    """One call: a function or a method by name, its arguments and the ones that are named."""

    name: str
    function: Function
    given: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __str__(self) -> str:
        named = ", ".join(f"{k}={_short(v)}" for k, v in self.kwargs.items())
        return f"{self.name}({self.given}{', ' * bool(named)}{named})"


def _short(value: Any) -> str:
    return f"{value.dtype}{value.shape}" if isinstance(value, np.ndarray) else repr(value)


def functions() -> Iterator[tuple[str, Function]]:
    """All functions of `numpy`, `numpy.linalg` and `numpy.fft`, ufuncs' methods, array methods."""
    for prefix, module in (("", np), ("linalg.", np.linalg), ("fft.", np.fft)):
        for name in sorted(vars(module)):
            function = getattr(module, name)
            if name.startswith("_") or name in _NOT_COMPARED or not callable(function):
                continue
            if isinstance(function, type) or getattr(function, "__name__", name) != name:
                continue
            yield prefix + name, function
            if isinstance(function, np.ufunc) and function.nin == 2 and function.nout == 1:
                for method in _UFUNC_METHODS:
                    yield f"{prefix}{name}.{method}", getattr(function, method)
    yield from methods()


def methods() -> Iterator[tuple[str, Function]]:
    """Methods of arrays, as functions."""
    # the frames of whoever decorates are references that `resize` counts
    others = {"dump", "dumps", "tofile", "to_device", "tobytes", "setfield", "getfield", "resize"}
    for name in sorted(set(vars(np.ndarray)) - others):
        if not name.startswith("_") and callable(getattr(np.ndarray, name)):
            yield f"ndarray.{name}", getattr(np.ndarray, name)


def keywords(name: str, function: Function) -> list[str]:
    """The names of arguments that can be given by name."""
    if isinstance(function, np.ufunc):
        return list(_KEYWORDS_OF_UFUNCS)
    if name.endswith((".reduce", ".accumulate", ".reduceat")):
        return list(_KEYWORDS_OF_REDUCTIONS)
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return ["axis", "dtype", "order"]
    named = [p for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return [p.name for p in named if p.default is not p.empty]


def calls(name: str, function: Function) -> Iterator[Call]:
    """Calls of a function: all that NumPy takes, and the first with each keyword argument."""
    is_first = True
    for given, args in _pool().items():
        made = _result(function, args, {})
        if isinstance(made, Exception):
            continue
        yield Call(name, function, given, args, {})
        for keyword in keywords(name, function) if is_first else ():
            for value in _VALUES.get(keyword, _OTHER_VALUES):
                value = _prepared(value, args, made)
                if isinstance(function, np.ufunc) and keyword == "where":
                    if not isinstance(made, np.ndarray):
                        continue
                    kept = {"out": _prepared("out", args, made), keyword: value}
                    yield Call(name, function, given, args, kept)
                elif value is not None or keyword != "out":
                    yield Call(name, function, given, args, {keyword: value})
        is_first = False


def _prepared(value: Any, args: tuple[Any, ...], made: Any) -> Any:
    """A mask of the shape of the first array; an array for the result."""
    if isinstance(value, str) and value == "mask":
        shape = np.shape(args[0])
        return (np.arange(int(np.prod(shape))) % 2 == 0).reshape(shape)
    if isinstance(value, str) and value == "out":
        return np.full_like(made, 7) if isinstance(made, np.ndarray) else None
    return value


def _result(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*clone(args), **kwargs)
        except Exception as error:
            return error


# ------------------------------------------------------------------------------------- comparison
BOUND = Bound(ulps=1e4, absolute=1e-9)
KNOWN = {
    "geomspace(two matrices, axis=-1)": "the order of axes of a result in NumPy",
    "unique(matrix, axis=-1)": "the order of axes of a result in NumPy",
    "eye(number, M=True)": "bools are sizes",
    "eye(number, M=False)": "bools are sizes",
    "vander(vector, N=True)": "bools are sizes",
    "vander(vector, N=False)": "bools are sizes",
    "array(matrix, ndmax=None)": "ndmax= has no say for arrays",
    "linalg.cross(two matrices, axis=None)": "no error: the last axis",
}
"""Differences that are known, by call or by function, with the reason."""


def caller(function: Function) -> Function:
    """A function that makes a call."""

    def called(args: Any, kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return called


def outcome(call: Call) -> tuple[str, str]:
    """What becomes of a call: "compiled", "plain" and why, "known" or "wrong" and how."""
    kind, text = outcome_of(caller(call.function), (call.args, call.kwargs))
    is_known = kind == "wrong" and (call.name in KNOWN or str(call) in KNOWN)
    return ("known" if is_known else kind), text


def outcome_of(function: Function, given: tuple[Any, ...]) -> tuple[str, str]:
    """What becomes of a call of a function: "compiled", "in part", "plain" and why, or "wrong".

    Of a call that runs in part Python runs some statements, without a warning.
    """
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        expected = run(function, given)
        fused = decorate(function, jit=False)
        actual = run(fused, given)
        if actual.error is None:
            actual = run(fused, given)  # of the variant that is there now
        try:
            compare_outcomes(expected, actual, BOUND)
        except AssertionError as error:
            return "wrong", str(error)
    causes = [str(w.message) for w in told if isinstance(w.message, FuseWarning)]
    if causes and expected.error is None:
        return "plain", causes[0]
    if fused.variants.all_segmented:
        return "in part", repr(fused.variants)
    return "compiled", ""


def main() -> int:
    """Make all calls; print those with another result, and list those that run plain."""
    plain, wrong, number = set(), 0, 0
    for name, function in functions():
        for call in calls(name, function):
            number += 1
            kind, text = outcome(call)
            if kind == "plain":
                plain.add(str(call))
            elif kind == "wrong":
                wrong += 1
                print(f"{call}: {text}", flush=True)
    if sys.argv[1:]:
        Path(sys.argv[1]).write_text("".join(f"{text}\n" for text in sorted(plain)))
    print(f"{number} calls, {wrong} differ, {len(plain)} run as plain NumPy")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
