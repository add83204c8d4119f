"""What ``source`` shows is what runs: ``numba.njit`` makes kernels of the same bits of it."""

from __future__ import annotations

import copy
import inspect
from typing import Any

import numpy as np
import pytest

import fusejit.stages
from fusejit.codegen.backend.compile import Kernel, compile_kernel
from fusejit.options import Options
from fusejit.stages import trace

from .programs import CALLS


def arguments(program: Any) -> tuple[Any, ...]:
    """Those of the golden texts with other numbers, and the defaults."""
    rng = np.random.default_rng(3)
    bound = inspect.signature(program).bind(*CALLS[program])
    bound.apply_defaults()
    return tuple(rng.normal(size=a.shape) if isinstance(a, np.ndarray) else a for a in bound.args)


@pytest.mark.parametrize("program", CALLS, ids=lambda p: p.__name__)
def test_the_source_has_the_bits_of_the_kernel(
    program: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = arguments(program)
    lowered = trace(program, args, {}, Options(cache=False)).fuse().lower()

    def by_numba(text: str, signature: Any, loops: Any, **options: Any) -> Kernel:
        return compile_kernel(text, signature, cache_enabled=False, use_public_api=True)

    mine = lowered.compile().launch(*copy.deepcopy(args))
    monkeypatch.setattr(fusejit.stages, "compile_kernel", by_numba)
    numbas = lowered.compile().launch(*copy.deepcopy(args))
    results = (each if isinstance(each, tuple) else (each,) for each in (mine, numbas))
    for left, right in zip(*results, strict=True):
        np.testing.assert_array_equal(left, right)
