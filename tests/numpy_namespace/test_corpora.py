"""The programs of both corpora with ``fusejit.numpy`` for NumPy: the same results, to the bit.

Their arguments are `Array` objects, however small, and so is every array that they make.
"""

from __future__ import annotations

import io
import warnings
from contextlib import redirect_stdout
from typing import Any

import numpy
import pytest

import fusejit.numpy as np
from benchmarks.ordinary import PROGRAMS as ORDINARY
from benchmarks.programs import PROGRAMS
from benchmarks.programs.program import Program

ALL = (*PROGRAMS, *ORDINARY)


def described(value: Any, depth: int = 0) -> Any:
    """Return a result as something that can be compared: arrays by dtype, strides and bits."""
    if isinstance(value, numpy.ndarray) and value.dtype != object:
        return value.dtype, value.shape, value.strides, value.tobytes()
    if isinstance(value, numpy.ndarray | tuple | list | set | frozenset):
        items = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
        return type(value).__name__, [described(item, depth + 1) for item in items]
    if isinstance(value, dict):
        return [(described(k, depth + 1), described(v, depth + 1)) for k, v in value.items()]
    if isinstance(value, numpy.random.Generator):
        return repr(value.bit_generator.state)
    if hasattr(value, "__dict__") and not isinstance(value, type) and depth < 20:
        return type(value).__name__, described(vars(value), depth + 1)
    return type(value).__name__, repr(value)


def as_arrays(value: Any) -> Any:
    """Copy ndarrays in nested arguments to arrays of the namespace."""
    if type(value) is numpy.ndarray:
        return np.array(value, order="K")
    if type(value) is numpy.random.Generator:
        return np.random.Generator(value.bit_generator)
    if type(value) in (list, tuple):
        return type(value)(map(as_arrays, value))
    if type(value) is dict:
        return {key: as_arrays(item) for key, item in value.items()}
    return value


def outcome(program: Program, args: Any) -> Any:
    printed = io.StringIO()
    with redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = program.function(*args)
        except Exception as error:
            result = type(error).__name__, str(error)
    return described(result), described(args), printed.getvalue()


@pytest.mark.parametrize("program", ALL, ids=lambda p: f"{p.family}-{p.name}")
def test_a_program(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    size = program.sizes[0]
    expected = outcome(program, program.build(size))
    monkeypatch.setitem(program.function.__globals__, "np", np)
    for most_operations in (64, 0):
        with np.threshold(0), np.window(most_operations):
            assert outcome(program, as_arrays(program.build(size))) == expected
