"""Tables in the documents are generated from tables in the code.

The function NAME writes the text between ``<!-- begin: NAME -->`` and ``<!-- end: NAME -->``.
``FUSEJIT_UPDATE_DOCS=1 pytest tests/docs`` updates all of them. (tests/codegen/test_accuracy.py
measures the ulp table of docs/semantics.md.)
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fusejit.tracer.capture.entry  # noqa: F401  (fills the dispatch table)
import fusejit.tracer.np.host_functions as host_functions_module
from fusejit import fuse_jit, options
from fusejit.ir.complex_numbers import RULES
from fusejit.ir.host_calls import host_function
from fusejit.ir.scalar_ops.row import EXTREMA, ScalarOp
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS, UFUNC_ROWS
from fusejit.ir.types import DTYPES
from fusejit.pipeline import KERNEL_PASSES, PASSES
from fusejit.tracer.builder.primitives import PRIMITIVES
from fusejit.tracer.np.host_functions import ROWS
from fusejit.tracer.np.numpy_source import NAMES, primitive_of
from fusejit.tracer.values.operator_names import METHODS, OPERATORS
from fusejit.transform.schedules import Handle
from fusejit_testing.file_list import first_line, packages_below
from fusejit_testing.linalg_table import formula_functions, linalg_ops

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
UPDATE = os.environ.get("FUSEJIT_UPDATE_DOCS", "0") not in ("", "0")
SECTION = re.compile(r"(<!-- begin: ([\w ]+) -->\n)(.*?)(<!-- end: \2 -->)", re.DOTALL)
ELSEWHERE = {"ulp table", "bars"}

# --------------------------------------------------------------------- what the functions are for
# One call of every function of the dispatch table, for arrays x, y of shape (n, n), a vector v and
# a float a. Each is traced, lowered, run unjitted and compared with NumPy.
CALLS: dict[Any, str] = {
    np.where: "np.where(x > 0, x, y)",
    np.fromfunction: "np.fromfunction(lambda i, j: i + j, (len(v), 2))",
    np.ndindex: "sum(x[i, j] * j for i, j in np.ndindex(x.shape))",
    np.ndenumerate: "sum(e * i for (i, j), e in np.ndenumerate(x))",
    np.ascontiguousarray: "np.ascontiguousarray(x.T)",
    np.asfortranarray: "np.asfortranarray(x)",
    np.require: "np.require(x, requirements='F')",
    np.broadcast_shapes: "np.zeros(np.broadcast_shapes(x.shape, v.shape))",
    np.broadcast_arrays: "np.broadcast_arrays(v, v[:, None])[0] + 1",
    np.isscalar: "np.where(np.isscalar(x), x, y)",
    np.iscomplexobj: "np.where(np.iscomplexobj(x), x, y)",
    np.isrealobj: "np.where(np.isrealobj(x), x, y)",
    np.positive: "+x",
    np.conjugate: "np.conjugate(x + 1j)",
    np.real: "np.real(x + 1j)",
    np.imag: "np.imag(x + 1j)",
    np.angle: "np.angle(x + 1j * y)",
    np.float_power: "np.float_power(x, 2)",
    np.clip: "np.clip(x, -0.5, 0.5)",
    np.divmod: "np.divmod(x, y)[0]",
    np.fix: "np.fix(x)",
    np.round: "np.round(x)",
    np.around: "np.around(x)",
    np.isposinf: "np.isposinf(x)",
    np.isneginf: "np.isneginf(x)",
    np.sinc: "np.sinc(v)",
    np.select: "np.select([v > 0.5, v < 0.1], [v, v * 2])",
    np.piecewise: "np.piecewise(v, [v > 0.5], [lambda t: t * 2, 0])",
    np.nan_to_num: "np.nan_to_num(x)",
    np.place: "(z := x.copy(), np.place(z, x > 0, v))[0]",
    np.copyto: "(z := x.copy(), np.copyto(z, y, where=x > 0))[0]",
    np.putmask: "(z := x.copy(), np.putmask(z, x > 0, 2))[0]",
    np.take: "np.take(v, [0, -1])",
    np.take_along_axis: "np.take_along_axis(x, np.array([[0, -1]]), 1)",
    np.choose: "np.choose([0, 1, 1, 0], [v, -v])",
    np.put: "(z := x.copy(), np.put(z, [0, -1], 7))[0]",
    np.put_along_axis: "(z := x.copy(), np.put_along_axis(z, np.array([[1]]), 5, 1))[0]",
    np.add.outer: "np.add.outer(v, v)",
    np.add.at: "(z := v.copy(), np.add.at(z, [0, 0], 1))[0]",
    np.subtract.at: "(z := v.copy(), np.subtract.at(z, [0, 0], 1))[0]",
    np.multiply.at: "(z := v.copy(), np.multiply.at(z, [0, 0], 2))[0]",
    np.true_divide.at: "(z := v.copy(), np.true_divide.at(z, [0, 0], 2))[0]",
    np.maximum.at: "(z := v.copy(), np.maximum.at(z, [0, 1], 1))[0]",
    np.minimum.at: "(z := v.copy(), np.minimum.at(z, [0, 1], 1))[0]",
    np.fmax.at: "(z := v.copy(), np.fmax.at(z, [0, 1], 1))[0]",
    np.fmin.at: "(z := v.copy(), np.fmin.at(z, [0, 1], 1))[0]",
    np.bitwise_and.at: "(z := np.arange(4), np.bitwise_and.at(z, [3, 3], 2))[0]",
    np.bitwise_or.at: "(z := np.arange(4), np.bitwise_or.at(z, [3, 3], 4))[0]",
    np.bitwise_xor.at: "(z := np.arange(4), np.bitwise_xor.at(z, [3, 3], 4))[0]",
    np.argmax: "np.argmax(x, axis=1)",
    np.argmin: "np.argmin(x, axis=1)",
    np.eye: "np.eye(3, k=1)",
    np.identity: "np.identity(3)",
    np.tri: "np.tri(3, 4)",
    np.tril: "np.tril(x)",
    np.triu: "np.triu(x, 1)",
    np.diagonal: "np.diagonal(x) + 1",
    np.diag: "np.diag(v)",
    np.trace: "np.trace(x)",
    np.matmul: "x @ y",
    np.dot: "np.dot(x, v)",
    np.empty: "np.empty(len(v)) * 0 == 0",
    np.zeros: "np.zeros((3, len(v)))",
    np.ones: "np.ones(3, np.uint8)",
    np.full: "np.full(len(v), a)",
    np.empty_like: "np.empty_like(x) * 0 == 0",
    np.zeros_like: "np.zeros_like(x)",
    np.ones_like: "np.ones_like(x)",
    np.full_like: "np.full_like(x, 7)",
    np.astype: "np.astype(x, np.float32)",
    np.copy: "np.copy(x.T)",
    np.array: "np.array([1.0, 2.0, 4.0])",
    np.asarray: "np.asarray(x) + 1",
    np.asanyarray: "np.asanyarray(x) + 1",
    np.arange: "np.arange(1, len(v))",
    np.transpose: "np.transpose(x) + 1",
    np.matrix_transpose: "np.matrix_transpose(x) + 1",
    np.swapaxes: "np.swapaxes(x, 0, 1) + 1",
    np.moveaxis: "np.moveaxis(x, 0, 1) + 1",
    np.expand_dims: "np.expand_dims(v, 1) + x",
    np.squeeze: "np.squeeze(v[:, None]) + 1",
    np.reshape: "np.reshape(x, (-1, 2)) * 2",
    np.ravel: "np.ravel(x * 2) + 1",
    np.flip: "np.flip(x, 1) + 1",
    np.flipud: "np.flipud(x) + 1",
    np.fliplr: "np.fliplr(x) + 1",
    np.rot90: "np.rot90(x) + 1",
    np.rollaxis: "np.rollaxis(x, 1) + 1",
    np.atleast_1d: "np.atleast_1d(v) + 1",
    np.atleast_2d: "np.atleast_2d(v) + 1",
    np.atleast_3d: "np.atleast_3d(v) + 1",
    np.lib.stride_tricks.sliding_window_view: (
        "np.lib.stride_tricks.sliding_window_view(v, 2).sum(axis=1)"
    ),
    np.broadcast_to: "np.broadcast_to(v, x.shape) + 1",
    np.sum: "np.sum(x, axis=0)",
    np.add.reduce: "np.add.reduce(x, axis=1)",
    np.max: "np.max(x, axis=(0, 1))",
    np.amax: "np.amax(x)",
    np.maximum.reduce: "np.maximum.reduce(x, axis=0)",
    np.min: "np.min(x, keepdims=True)",
    np.amin: "np.amin(x)",
    np.minimum.reduce: "np.minimum.reduce(x, axis=0)",
    np.any: "np.any(x > 1)",
    np.logical_or.reduce: "np.logical_or.reduce(x > 1, axis=1)",
    np.all: "np.all(x > 1, axis=0)",
    np.logical_and.reduce: "np.logical_and.reduce(x > 1, axis=1)",
    np.mean: "np.mean(x, axis=0)",
    np.var: "np.var(x, axis=0)",
    np.std: "np.std(x * 0)",
    np.ptp: "np.ptp(x, axis=1)",
    np.array_equal: "x * np.array_equal(x, y)",
    np.isclose: "np.isclose(x, y)",
    np.allclose: "x * np.allclose(x, x + 1e-9)",
    np.prod: "np.prod(x > 0, axis=0)",
    np.multiply.reduce: "np.multiply.reduce(x > 0)",
    np.count_nonzero: "np.count_nonzero(x > 0, axis=0)",
    np.concatenate: "np.concatenate((x, y * 2), axis=1)",
    np.stack: "np.stack([x, y], axis=-1)",
    np.vstack: "np.vstack([v, x])",
    np.hstack: "np.hstack([x, y])",
    np.dstack: "np.dstack([x, y])",
    np.column_stack: "np.column_stack([v, v + 1])",
    np.block: "np.block([[x, y], [y, x]])",
    np.append: "np.append(v, a)",
    np.insert: "np.insert(v, 1, 2.5)",
    np.array_split: "np.array_split(v, 3)[1] + 1",
    np.split: "np.split(x, 2)[0] + 1",
    np.hsplit: "np.hsplit(x, [1])[1] + 1",
    np.vsplit: "np.vsplit(x, 2)[0] + 1",
    np.dsplit: "np.dsplit(x[:, None], 2)[0] + 1",
    np.unstack: "np.unstack(x)[1] + 1",
    np.roll: "np.roll(x, 1, axis=0) - x",
    np.tile: "np.tile(v, (2, 3))",
    np.repeat: "np.repeat(x, 2, axis=1)",
    np.pad: "np.pad(x, 1, mode='reflect')",
    np.diff: "np.diff(v, prepend=0)",
    np.ediff1d: "np.ediff1d(x, to_begin=0)",
    np.gradient: "np.gradient(x, axis=0)",
    np.trapezoid: "np.trapezoid(x, dx=0.5)",
    np.convolve: "np.convolve(v, [1, 2, 1], 'same')",
    np.correlate: "np.correlate(v, [1, 2])",
    np.eye: "np.eye(len(v), k=1)",
    np.identity: "np.identity(len(v))",
    np.tri: "np.tri(len(v), k=-1)",
    np.tril: "np.tril(x)",
    np.triu: "np.triu(x, k=1)",
    np.diag: "np.diag(v)",
    np.diagonal: "np.diagonal(x, 1) + 1",
    np.diagflat: "np.diagflat(v)",
    np.trace: "np.trace(x)",
    np.fill_diagonal: "(z := x.copy(), np.fill_diagonal(z, 2))[0]",
    np.ix_: "np.ix_(v, v)[1]",
    np.meshgrid: "np.meshgrid(v, v)[1]",
    np.indices: "np.indices(x.shape)",
    np.linspace: "np.linspace(0, len(v), 9)",
    np.geomspace: "np.geomspace(1, len(v) * 25, 3)",
    np.logspace: "np.logspace(0, len(v), 3, base=2)",
    np.cumsum: "np.cumsum(x, axis=0)",
    np.cumprod: "np.cumprod(x > 0)",
    np.cumulative_sum: "np.cumulative_sum(v, include_initial=True)",
    np.cumulative_prod: "np.cumulative_prod(v)",
    np.add.accumulate: "np.add.accumulate(x)",
    np.multiply.accumulate: "np.multiply.accumulate(x > 0)",
    np.maximum.accumulate: "np.maximum.accumulate(x, axis=1)",
    np.minimum.accumulate: "np.minimum.accumulate(x, axis=1)",
    np.logical_and.accumulate: "np.logical_and.accumulate(x > 0)",
    np.logical_or.accumulate: "np.logical_or.accumulate(x > 0)",
    np.nansum: "np.nansum(x)",
    np.nanmean: "np.nanmean(x, axis=0)",
    np.nanmax: "np.nanmax(x, axis=1)",
    np.nanmin: "np.nanmin(x)",
    np.nanvar: "np.nanvar(x, axis=0)",
    np.nanstd: "np.nanstd(x * 0)",
    np.nancumsum: "np.nancumsum(v)",
    np.nancumprod: "np.nancumprod(v)",
    np.outer: "np.outer(v, v)",
    np.inner: "np.inner(x, v)",
    np.vdot: "np.vdot(x, y)",
    np.vecdot: "np.vecdot(x, y)",
    np.kron: "np.kron(x, v)",
    np.cross: "np.cross(x[:, :3], y[:, 1:])",
    np.tensordot: "np.tensordot(x, y, axes=([0], [1]))",
    np.polyval: "np.polyval([1, 2, 3], v)",
    np.vander: "np.vander(v, 3)",
    np.argmax: "np.argmax(x, axis=1)",
    np.argmin: "np.argmin(v)",
    np.cov: "np.cov(x, ddof=0)",
    np.corrcoef: "np.corrcoef(v, v)",
    np.shape: "np.zeros(np.shape(x))",
    np.iterable: "x if np.iterable(x) else v",
    np.ndim: "x * np.ndim(x)",
    np.size: "x / np.size(x)",
    np.result_type: "x.astype(np.result_type(x, np.float32))",
}
"""NumPy functions that are not rows of the scalar op table."""

ON_NUMBERS = {
    "x * math.sqrt(a)": "`math.sqrt exp log sin cos tan tanh floor ceil fabs`",
    "x * min(a, len(v))": "`min max abs round int float bool pow`, `len` of arrays",
    "x[: len(v) // 2] + len(v) % 3": "`+ - * / // % **` and comparisons",
}


def name_of(function: Any) -> str:
    """``np.sum``, ``np.add.reduce``."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return f"np.{owner.__name__}.{function.__name__}"
    module = getattr(function, "__module__", "numpy") or "numpy"
    return f"np.{module.removeprefix('numpy').lstrip('.')}.{function.__name__}".replace("..", ".")


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [" | ".join(cells) for cells in (header, *rows)]
    lines = [f"| {line} |" for line in lines]
    lines.insert(1, "|" + "---|" * (lines[0].count("|") - 1))
    return "\n".join(lines) + "\n"


# ---------------------------------------------------------------------------------- the sections
def environment() -> str:
    """The table of environment variables, from the docstring of `fusejit.options`."""
    rows = re.findall(r"^\| (\w+) +\| (.*?) +\| (.*?) *\|$", options.__doc__ or "", re.MULTILINE)
    return table(
        ("variable", "meaning", "default"),
        ((f"`{n}`", meaning, default) for n, meaning, default in rows if n != "variable"),
    )


def dtypes() -> str:
    """The element types."""
    return ", ".join(f"`{np.dtype(dtype).name}`" for dtype in DTYPES.values()) + "\n"


_SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "**", "neg": "-x"}
_SYMBOLS |= {"floordiv": "//", "mod": "%", "lshift": "<<", "rshift": ">>"}
_SYMBOLS |= {"and": "&", "or": "|", "xor": "^", "invert": "~x", "abs": "abs"}
_SYMBOLS |= {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
_CLASSES = {"b": "bool", "i": "signed", "u": "unsigned", "f": "float", "c": "complex"}


def symbol_of(row: ScalarOp) -> str:
    """The Python operator of a row, as a column."""
    for name, ufunc in OPERATORS.items():
        if ufunc is row.ufunc and name in _SYMBOLS:
            return f"`{_SYMBOLS[name]}`".replace("|", "\\|")
    return ""


def scalar_ops() -> str:
    """The elementwise functions, grouped by the classes of dtypes and by accuracy."""
    groups: dict[tuple[str, str], list[str]] = {}
    for row in SCALAR_OPS.values():
        if row.function is not None:  # steps of complex arithmetic
            continue
        name = "where" if row.ufunc is None else row.name
        classes = {*row.templates, *("c" if row.name in RULES else "")}
        kinds = ", ".join(_CLASSES[k] for k in "biufc" if k in classes)
        kinds = "all" if row.ufunc is None or classes == set("biufc") else kinds
        bits = "NumPy's bits" if row.exact else "at most 4 ulp"
        if row.name == "power":
            bits += "; integers: NumPy's bits"
        if row.name in EXTREMA:
            bits = "NumPy's bits except the sign of a zero"
        symbol = symbol_of(row)
        text = f"`{name}`" + f" ({symbol})" * bool(symbol)
        groups.setdefault((kinds, bits), []).append(text)
    rows = ((", ".join(names), kinds, bits) for (kinds, bits), names in groups.items())
    return table(("functions", "computed in", "result"), rows)


_GROUPS = {
    "elementwise": "Elementwise",
    "arrays": "Creating, indexing, joining and rearranging",
    "reductions": "Reductions, scans and products",
    "numbers": "Shapes, types, parts of complex numbers",
}
"""Folders of `fusejit.tracer` with handlers of NumPy functions."""


def functions() -> str:
    """The other functions of the dispatch table, by the folder of their handler."""
    groups: dict[str, list[str]] = {folder: [] for folder in _GROUPS}
    for function in CALLS:
        folder = PRIMITIVES[function].__module__.split(".")[-2].replace("indexing", "arrays")
        groups[folder].append(f"`{name_of(function).removeprefix('np.')}`")
    lines = [f"- {_GROUPS[folder]}: {', '.join(names)}" for folder, names in groups.items()]
    lines.append(f"- Of Python numbers, in the launcher: {', '.join(ON_NUMBERS.values())}")
    return "\n".join(lines) + "\n"


def numpy_source() -> str:
    """The functions that are traced through NumPy's own source."""
    public = sorted(name.removeprefix("numpy.") for name in NAMES if "._" not in name)
    names = [name for name in public if not name.startswith("polynomial.")]
    series = " ".join(name.rpartition(".")[2] for name in public if name not in names)
    return f"`{' '.join(names)}`, and of `np.polynomial` `{series}`\n"


def host_functions() -> str:
    """What NumPy runs between kernels."""
    return ", ".join(f"`np.{name}`" for name in short_names()) + "\n"


def short_names() -> list[str]:
    """Functions of the table of host calls that have no handler of their own."""
    known = {*CALLS, *(f for f in PRIMITIVES if primitive_of(f) is not None)}
    rows = [row for row in ROWS if not row.refusal and host_function(row.name) not in known]
    return [row.name.removeprefix("numpy.") for row in rows]


def methods() -> str:
    """Methods of arrays."""
    return ", ".join(f"`{name}`" for name in sorted([*METHODS, "transpose", "fill"])) + "\n"


def passes() -> str:
    """The passes over graphs, in order."""
    return "".join(f"{at}. {name}\n" for at, (name, _) in enumerate(PASSES, 1))


def primitives() -> str:
    """The steps of schedules: parameters, and the first line of the docstring."""
    rows = "| step | effect |\n|---|---|\n"
    for name in sorted(n for n in vars(Handle) if not n.startswith("_")):
        function = vars(Handle)[name]
        given = [p for p in inspect.signature(function).parameters.values() if p.name != "handle"]
        shown = ", ".join(str(p.replace(annotation=p.empty)) for p in given if p.name != "check")
        rows += f"| `{name}({shown})` | {(function.__doc__ or '').splitlines()[0]} |\n"
    return rows


def kernel_passes() -> str:
    """The passes over the loops of a kernel, in order."""
    return "".join(f"{at}. {name}\n" for at, (name, _) in enumerate(KERNEL_PASSES, 1))


def folders() -> str:
    """The folders of the package, each with the first line of its docstring."""
    rows = []
    for folder in packages_below(ROOT / "fusejit"):
        if folder != ROOT / "fusejit":
            what = first_line(folder).replace("``", "`").replace("|", "\\|").rstrip(".")
            rows.append((f"`{folder.relative_to(ROOT / 'fusejit').as_posix()}`", what))
    return table(("folder", "contents"), rows)


HOST_FUNCTIONS = {
    f for f, handler in PRIMITIVES.items() if handler.__module__ == host_functions_module.__name__
}
IN_KERNELS_TOO = {np.sort, np.median, np.bincount}
"""Functions of the table of host calls that some programs run in a kernel."""
SECTIONS: dict[str, Callable[[], str]] = {
    "passes": passes,
    "primitives": primitives,
    "kernel passes": kernel_passes,
    "folders": folders,
    "environment": environment,
    "dtypes": dtypes,
    "scalar ops": scalar_ops,
    "functions": functions,
    "own source": numpy_source,
    "host functions": host_functions,
    "methods": methods,
    "linalg ops": linalg_ops,
    "formula functions": formula_functions,
}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_generated_sections_are_up_to_date(path):
    document = path.read_text("utf-8")

    def fresh(match: re.Match[str]) -> str:
        if match[2] in ELSEWHERE:
            return match[0]
        return f"{match[1]}{SECTIONS[match[2]]()}{match[4]}"

    made = SECTION.sub(fresh, document)
    if UPDATE:
        path.write_text(made, "utf-8")
    else:
        assert document == made


def test_every_section_stands_somewhere():
    found = {m[2] for path in DOCUMENTS for m in SECTION.finditer(path.read_text("utf-8"))}
    assert found == set(SECTIONS) | ELSEWHERE


# ------------------------------------------------------------------------------- they are complete
def test_the_tables_name_every_numpy_function_of_the_dispatch_table():
    types = {dtype.type for dtype in DTYPES.values()}
    outer = {f.outer for f in vars(np).values() if isinstance(f, np.ufunc)} - {np.add.outer}
    documented = ("numpy", "numpy.lib.stride_tricks")
    numpy_functions = {
        f
        for f in PRIMITIVES.keys() - outer
        if isinstance(f, np.ufunc)
        or (getattr(f, "__module__", "") in documented and primitive_of(f) is None)
        or isinstance(getattr(f, "__self__", None), np.ufunc)
    }
    named = set(CALLS) | set(UFUNC_ROWS)
    assert numpy_functions - types - HOST_FUNCTIONS - IN_KERNELS_TOO == named - HOST_FUNCTIONS
    assert {host_function(row.name) for row in ROWS} >= IN_KERNELS_TOO


def test_no_host_function_stands_for_what_is_compiled():
    assert not HOST_FUNCTIONS & (set(CALLS) | set(UFUNC_ROWS))


ARRAYS = (
    np.arange(16.0).reshape(4, 4) / 8 - 1,
    np.arange(16.0, 0, -1).reshape(4, 4) / 4,
    np.array([0.5, -2.0, 3.0, 4.0]),
    2.5,
)


def define(folder: Path, expression: str) -> Any:
    """A function of that expression, from a file."""
    path = folder / "example.py"
    path.write_text(
        f"import math\nimport numpy as np\ndef f(x, y, v, a):\n    return {expression}\n"
    )
    namespace: dict[str, Any] = {"__name__": "example"}
    exec(compile(path.read_text("utf-8"), str(path), "exec"), namespace)
    return namespace["f"]


@pytest.mark.parametrize("expression", [*CALLS.values(), *ON_NUMBERS])
def test_the_calls_of_the_table_give_numpy_s_results(expression, tmp_path, monkeypatch):
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    function = define(tmp_path, expression)
    found = fuse_jit(fullgraph=True)(function)(*ARRAYS)
    expected = function(*ARRAYS)
    np.testing.assert_array_equal(found, expected)  # these numbers are exact in any order
    assert found.dtype == expected.dtype


@pytest.mark.parametrize("row", UFUNC_ROWS.values(), ids=lambda row: row.name)
def test_the_scalar_ops_of_the_table_give_numpy_s_results(row, tmp_path, monkeypatch):
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    is_logical = set(row.templates) == {"b"} or "f" not in row.templates
    x, y, v, a = ARRAYS
    given = (x > 0, y > 2, v, a) if is_logical else (abs(x) + 0.25, y, v, a)
    function = define(tmp_path, f"np.{row.name}({'x, y' if row.arity == 2 else 'x'})")
    found = fuse_jit(fullgraph=True)(function)(*given)
    with np.errstate(all="ignore"):  # the arc sine of 1.25
        expected = function(*given)
    if row.exact:
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_array_max_ulp(found, expected, maxulp=8)


# ---------------------------------------------------------------------------- environment variables
def test_the_table_has_every_variable_that_the_package_reads():
    read: set[str] = set()
    for path in (ROOT / "fusejit").rglob("*.py"):
        read |= set(re.findall(r"[\"'](FUSEJIT_[A-Z_]+)[\"']", path.read_text("utf-8")))
    listed = set(re.findall(r"^\| (FUSEJIT_\w+)", options.__doc__ or "", re.MULTILINE))
    assert read == listed


def test_documents_name_only_variables_that_exist():
    of_the_tests = {f"FUSEJIT_UPDATE_{what}" for what in ("DOCS", "GOLDEN", "PROGRAMS")}
    listed = set(re.findall(r"FUSEJIT_\w+", options.__doc__ or "")) | of_the_tests
    for path in DOCUMENTS:
        assert set(re.findall(r"FUSEJIT_\w+", path.read_text("utf-8"))) <= listed, path.name
