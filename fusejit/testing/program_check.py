"""Checks one random program every way; a failing one is shrunk and printed."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import numpy as np

from fusejit.api import FuseWarning
from fusejit.errors import UnsupportedError
from fusejit.testing.compare import EXACT, Bound
from fusejit.testing.oracle import check, run
from fusejit.testing.program_shrink import shrink
from fusejit.testing.programs_random import (
    EDGE_SIZES,
    SIZES,
    RandomProgram,
    load,
    random_program,
)
from fusejit.testing.written_sums import numpy_as_written

FUNCTION_BOUND = Bound(ulps=8)  # 4 ulp of ours and 4 ulp of NumPy's


def check_program(program: RandomProgram, *, jit: bool, edges: bool = False) -> None:
    """Two sizes with one compilation; with ``edges`` also empty and length-1 axes."""
    bound = FUNCTION_BOUND if program.inexact else EXACT
    with tempfile.TemporaryDirectory(prefix="fusejit-programs-") as folder:
        function = load(program, Path(folder))
        reference = load(program, Path(folder), numpy_as_written)
        calls = [program.call(sizes, at) for at, sizes in enumerate(SIZES)]
        variants: int | None = 1
        if edges:
            calls = [program.call(sizes, at) for at, sizes in enumerate(EDGE_SIZES)]
            variants = None
        check(
            function,
            *calls,
            jit=jit,
            bound=bound,
            inner_bound=bound,
            reference=reference,
            variants=variants,
        )


def failure_of(program: RandomProgram, *, jit: bool, edges: bool = False) -> BaseException | None:
    """What goes wrong, or None."""
    try:
        with np.errstate(all="ignore"):
            check_program(program, jit=jit, edges=edges)
    except (Exception, AssertionError) as failure:
        return failure
    return None


def _is_refused(failure: BaseException) -> bool:
    cause = failure.__cause__
    declined = ("float16", "takes the truth of a sequence", "has to be checked")
    return isinstance(cause, UnsupportedError) or (
        isinstance(cause, FuseWarning) and any(text in str(cause) for text in declined)
    )


def _cause(failure: BaseException | None) -> str:
    """The kind of a failure: its text without names and numbers."""
    text = re.sub(r"call \d, (un)?jitted", "", f"{type(failure).__name__} {failure}")
    return re.sub(r"[^A-Za-z ]", "", re.sub(r"\w*\d\w*", "", text))[:40]


def _runs(program: RandomProgram, edges: bool) -> bool:
    """Whether NumPy runs the program (a shrunk one may use a name that is gone)."""
    with tempfile.TemporaryDirectory(prefix="fusejit-programs-") as folder:
        function = load(program, Path(folder))
        outcomes = [
            run(function, program.call(sizes, at))
            for at, sizes in enumerate(EDGE_SIZES if edges else SIZES)
        ]
    errors = [o.error for o in outcomes if o.error is not None]
    return not any(isinstance(e, NameError) for e in errors) and (edges or not errors)


def check_seed(seed: int, *, jit: bool, edges: bool = False) -> bool:
    """Check the program of a seed; on failure raise with its minimal form.

    Returns
    -------
    bool
        False if fusejit refuses the program with an `UnsupportedError` or for its dtypes.
    """
    program = random_program(seed)
    failure = failure_of(program, jit=jit, edges=edges)
    if failure is None:
        return True
    if _is_refused(failure):
        return False

    def same(shorter: RandomProgram) -> bool:
        return _runs(shorter, edges) and _cause(
            failure_of(shorter, jit=jit, edges=edges)
        ) == _cause(failure)

    small = shrink(program, same)
    raise AssertionError(f"{small}\n{failure_of(small, jit=jit, edges=edges)}") from failure
