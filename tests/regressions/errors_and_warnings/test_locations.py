"""Operations and guards named a line of the caller: locations must be lines of the function."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit import fuse_jit
from fusejit.ir.ops import GenericOp, walk


def test_copies_of_results_stand_at_the_function() -> None:
    def shown(x: Any) -> Any:
        y = np.max(x, axis=-1, keepdims=True)
        return y, y

    def program(x: Any) -> Any:
        x[0] = 1
        return {"k": np.max(x, axis=-2, keepdims=True)}

    for function, args in ((shown, np.ones((3, 4))), (program, np.ones((3, 4)).T)):
        graph = fuse_jit(function).trace(args).graph
        first = function.__code__.co_firstlineno
        for op in walk(graph.block):
            if isinstance(op, GenericOp):
                assert first <= op.location.line <= first + 2, op.name
                assert op.location.function == function.__name__ or op.location.line == first


def test_guards_on_arguments_stand_at_the_function() -> None:
    def program(x: Any) -> Any:
        return x * 2

    guards = fuse_jit(program).trace(np.ones((1, 4))).graph.guards
    first = program.__code__.co_firstlineno
    assert guards
    assert all(first <= guard.location.line <= first + 1 for guard in guards)
