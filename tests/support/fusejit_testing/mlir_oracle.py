"""Real MLIR as the judge: runs emitted functions, and counts ops after linalg's own fusion.

MLIR does not check sizes and frees nothing here, so it works in a child process: `run` and
`fused_counts` send many programs at once to ``python -m fusejit_testing.mlir_oracle``.
"""

from __future__ import annotations

import ctypes
import pickle
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fusejit.mlir.bindings import mlir_modules, run_passes

LOWER = (
    "one-shot-bufferize{bufferize-function-boundaries=1 "
    "function-boundary-type-conversion=identity-layout-map},"
    "func.func(convert-linalg-to-loops),expand-strided-metadata,lower-affine,"
    "convert-scf-to-cf,convert-math-to-llvm,convert-math-to-libm,convert-arith-to-llvm,"
    "convert-index-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,"
    "reconcile-unrealized-casts"
)
FUSE = "builtin.module(func.func(linalg-fuse-elementwise-ops,canonicalize,cse))"
BATCH = 16


@dataclass(frozen=True, slots=True)
class Program:
    """A function of MLIR text, the arguments of one call, and the results' types.

    ``results`` has dtype and rank of each; a rank of None is a number that is no tensor.
    """

    text: str
    arguments: tuple[Any, ...]
    results: tuple[tuple[np.dtype, int | None], ...]


def run(programs: Sequence[Program], timeout: float = 300.0) -> list[tuple[Any, ...]]:
    """The results of each program, computed by MLIR: bufferized, lowered to loops, LLVM, run."""
    for program in programs:
        if program.text.splitlines()[0].count(": ") != len(program.arguments):
            raise ValueError(f"not the arguments of {program.text.splitlines()[0]}")
    found: list[tuple[Any, ...]] = _in_child("run", list(programs), timeout)
    return found


def verify(texts: Sequence[str], timeout: float = 300.0) -> list[str]:
    """What MLIR's verifier says about each text: nothing if it is right."""
    found: list[str] = _in_child("verify", list(texts), timeout)
    return found


def fused_counts(texts: Sequence[str], timeout: float = 300.0) -> list[int]:
    """The ops that ``linalg-fuse-elementwise-ops``, run to a fixpoint, leaves of each text.

    Counted are those with loops. Fills are not, nor copies of parts of arguments: the views of a
    graph are written as such copies.
    """
    found: list[int] = _in_child("fused_counts", list(texts), timeout)
    return found


def generalized(
    texts: Sequence[str], timeout: float = 300.0
) -> list[tuple[list[str], list[str], str]]:
    """The one named op of each text as ``linalg.generic``: its maps, its iterator types, the text.

    A map is written as ``(d0, d1) -> (d1)``.
    """
    found: list[tuple[list[str], list[str], str]] = _in_child("generalized", list(texts), timeout)
    return found


def morphed(texts: Sequence[str], forms: Sequence[str], timeout: float = 300.0) -> list[str]:
    """Each text after ``linalg-morph-ops`` with each option, such as ``generic-to-category``."""
    found: list[str] = _in_child("morphed", (list(texts), list(forms)), timeout)
    return found


def _in_child(task: str, work: Any, timeout: float) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder, "given"), Path(folder, "made")
        given.write_bytes(pickle.dumps((task, work)))
        command = [sys.executable, "-m", "fusejit_testing.mlir_oracle", str(given), str(made)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
        if done.returncode:
            raise RuntimeError(f"the MLIR oracle ended with {done.returncode}:\n{done.stderr}")
        return pickle.loads(made.read_bytes())


# ----------------------------------------------------------------------------------- in the child
def _module(text: str) -> Any:
    ir, _ = mlir_modules()
    return ir.Module.parse(text)


def _verify(texts: list[str]) -> list[str]:
    complaints = []
    for text in texts:
        try:
            module = _module(text)
            complaints.append("" if module.operation.verify() else "the verifier refuses it")
        except Exception as error:
            complaints.append(f"{error}\n{text}")
    return complaints


def _fused_counts(texts: list[str]) -> list[int]:
    return [_fused_count(text) for text in texts]


def _fused_count(text: str) -> int:
    module, before = _module(text), ""
    while (text := str(module)) != before:
        before = text
        run_passes(module, FUSE)
    (function,) = module.body
    return sum(_is_counted(op.operation) for op in function.regions[0].blocks[0])


def _generalized(texts: list[str]) -> list[tuple[list[str], list[str], str]]:
    found = []
    for text in texts:
        module = _module(text)
        run_passes(module, "builtin.module(func.func(linalg-generalize-named-ops))")
        (function,) = module.body
        generics = [
            op.operation
            for op in function.regions[0].blocks[0]
            if op.operation.name.startswith("linalg.")
        ]
        (generic,) = generics
        maps = [str(m) for m in generic.attributes["indexing_maps"]]
        iterators = [str(i) for i in generic.attributes["iterator_types"]]
        found.append(
            (
                [m.removeprefix("affine_map<").removesuffix(">") for m in maps],
                [i.removeprefix("#linalg.iterator_type<").removesuffix(">") for i in iterators],
                str(module),
            )
        )
    return found


def _morphed(work: tuple[list[str], list[str]]) -> list[str]:
    texts, forms = work
    found = []
    for text in texts:
        module = _module(text)
        for form in forms:
            run_passes(module, f"builtin.module(func.func(linalg-morph-ops{{{form}}}))")
        found.append(str(module))
    return found


def _is_counted(op: Any) -> bool:
    """Whether it is a linalg op with loops, and no fill, nor a copy of part of an argument."""
    if not op.name.startswith("linalg.") or op.name == "linalg.fill":
        return False
    if op.name != "linalg.generic":
        return True
    if not list(op.attributes["iterator_types"]):
        return False
    ir, _ = mlir_modules()
    num_inputs = next(iter(op.attributes["operandSegmentSizes"]))
    body = op.regions[0].blocks[0]
    *computed, last = body
    inputs = list(body.arguments)[:num_inputs]
    if computed or any(v not in inputs for v in last.operation.operands):
        return True
    for value in list(op.operands)[:num_inputs]:
        while not isinstance(value.owner, ir.Block):
            if value.owner.name != "tensor.extract_slice":
                return True
            value = value.owner.operands[0]
    return False


def _run(programs: list[Program]) -> list[tuple[Any, ...]]:
    results: list[tuple[Any, ...]] = []
    for start in range(0, len(programs), BATCH):
        batch = programs[start : start + BATCH]
        results += _run_batch(batch)
    return results


def _run_batch(programs: Sequence[Program]) -> list[tuple[Any, ...]]:
    """Compile one module with a function per program, and call each."""
    engines = __import__("torch_mlir.execution_engine", fromlist=["ExecutionEngine"])
    functions = []
    for at, program in enumerate(programs):
        text = re.sub(r"func\.func @\w+", f"func.func @f{at}", program.text, count=1)
        functions.append(
            re.sub(r"\{$", "attributes {llvm.emit_c_interface} {", text, count=1, flags=re.M)
        )
    module = _module("\n".join(functions))
    run_passes(module, f"builtin.module({LOWER})")
    engine = engines.ExecutionEngine(module, opt_level=1)
    engine.raw_register_runtime("memrefCopy", ctypes.cast(_COPY, ctypes.c_void_p))
    return [_call(engine, f"f{at}", program) for at, program in enumerate(programs)]


def _call(engine: Any, name: str, program: Program) -> tuple[Any, ...]:
    # what is passed is written in place when it is an ``outs``: always copies
    kept = [
        np.array(a, order="C", copy=True) if isinstance(a, np.ndarray) else a
        for a in program.arguments
    ]
    slots: list[Any] = []
    for value in kept:
        if isinstance(value, np.ndarray):
            slots.append(ctypes.pointer(ctypes.pointer(_descriptor(value))))
        else:
            slots.append(ctypes.pointer(_C_TYPES[value.dtype](value.item())))
    fields = [
        (f"r{k}", _C_TYPES[dtype] if rank is None else _descriptor_type(rank))
        for k, (dtype, rank) in enumerate(program.results)
    ]
    if not fields:
        return ()
    out = type("Results", (ctypes.Structure,), {"_fields_": fields})()
    if len(fields) == 1 and program.results[0][1] is None:
        engine.invoke(name, *slots, ctypes.pointer(out))
    else:
        engine.invoke(name, ctypes.pointer(ctypes.pointer(out)), *slots)
    return tuple(
        dtype.type(getattr(out, f"r{k}"))
        if rank is None
        else _view(getattr(out, f"r{k}"), dtype).copy()
        for k, (dtype, rank) in enumerate(program.results)
    )


class _Unranked(ctypes.Structure):
    _fields_ = [("rank", ctypes.c_int64), ("descriptor", ctypes.c_void_p)]


def _copy(itemsize: int, source: Any, target: Any) -> None:
    """``memrefCopy`` of MLIR's runtime library, which the wheel does not have."""
    arrays = []
    for unranked in (source[0], target[0]):
        descriptor = _descriptor_type(unranked.rank).from_address(unranked.descriptor)
        arrays.append(_view(descriptor, np.dtype(f"V{itemsize}")))
    arrays[1][...] = arrays[0]


_COPY = ctypes.CFUNCTYPE(
    None, ctypes.c_int64, ctypes.POINTER(_Unranked), ctypes.POINTER(_Unranked)
)(_copy)


_C_TYPES: dict[np.dtype, Any] = {
    np.dtype(np.bool_): ctypes.c_bool,
    **{np.dtype(f"i{n}"): getattr(ctypes, f"c_int{8 * n}") for n in (1, 2, 4, 8)},
    **{np.dtype(f"u{n}"): getattr(ctypes, f"c_int{8 * n}") for n in (1, 2, 4, 8)},
    np.dtype(np.float32): ctypes.c_float,
    np.dtype(np.float64): ctypes.c_double,
}


def _descriptor_type(rank: int) -> Any:
    """MLIR's memref descriptor: two pointers, an offset, sizes, strides."""
    fields: list[Any] = [
        ("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p), ("offset", ctypes.c_int64)
    ]  # fmt: skip
    if rank:
        fields += [("shape", ctypes.c_int64 * rank), ("strides", ctypes.c_int64 * rank)]
    return type("Descriptor", (ctypes.Structure,), {"_fields_": fields})


def _descriptor(array: np.ndarray) -> Any:
    made = _descriptor_type(array.ndim)()
    made.allocated = made.aligned = array.ctypes.data
    made.offset = 0
    for axis in range(array.ndim):
        made.shape[axis] = array.shape[axis]
        made.strides[axis] = array.strides[axis] // array.itemsize
    return made


def _view(descriptor: Any, dtype: np.dtype) -> np.ndarray:
    """The memory of a descriptor."""
    shape = tuple(getattr(descriptor, "shape", ()))
    if 0 in shape:
        return np.empty(shape, dtype)
    strides = tuple(s * dtype.itemsize for s in getattr(descriptor, "strides", ()))
    address = descriptor.aligned + descriptor.offset * dtype.itemsize
    extent = sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) + dtype.itemsize
    memory = (ctypes.c_char * extent).from_address(address)
    return np.ndarray(shape, dtype, memory, 0, strides)


_TASKS: dict[str, Any] = {
    "run": _run,
    "verify": _verify,
    "fused_counts": _fused_counts,
    "generalized": _generalized,
    "morphed": _morphed,
}


def _main(given: str, made: str) -> None:
    task, work = pickle.loads(Path(given).read_bytes())
    ir, _ = mlir_modules()
    with ir.Context() as context, ir.Location.unknown():
        context.enable_multithreading(False)
        found = _TASKS[task](work)
    Path(made).write_bytes(pickle.dumps(found))


if __name__ == "__main__":
    # under its own name, so that what is pickled is found again
    from fusejit_testing import mlir_oracle

    mlir_oracle._main(*sys.argv[1:])
