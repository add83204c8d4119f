"""Programs in IR text through every stage: interpreter, fused, unjitted source, jitted."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit.codegen.machine.target import host_target
from fusejit.ir.interpreter.interpret import argument_paths, interpret
from fusejit.ir.results import ResultLeaf, ResultSequence
from fusejit.ir.source import UNKNOWN
from fusejit.ir.text.parser import parse_graph
from fusejit.ir.traced import ArrayClass, CheckKind, PathCheck, TracedFunction
from fusejit.options import Options
from fusejit.stages import Traced
from fusejit_testing.programs.programs import PROGRAMS, Arguments, Program

# Not bit for bit: NumPy's exp is not the kernel's (4 ulp each way). "matmul" is tested elsewhere.
HOST_FUNCTIONS = {"numpy.sort": np.sort}
ULPS = {"softmax": 16}


def staged(program: Program, jit: bool) -> tuple[Traced, Callable[..., Any]]:
    """The program as a traced function, and its compiled launcher."""
    graph = parse_graph(program.text)
    names = list(program.arguments(np.random.default_rng(0), 2))
    namespace: dict[str, Any] = {}
    exec(f"def {program.name}({', '.join(names)}): pass", namespace)
    checks = [
        PathCheck(
            b.origin.attr,
            CheckKind.ARRAY,
            ArrayClass(
                b.type.dtype,
                b.type.rank,
                b.order or tuple(range(b.type.rank)),
                b.layout,
                b.writeable,
            ),
        )
        for b in graph.buffers
        if b.origin is not None
    ]
    leaves = tuple(ResultLeaf(i) for i in range(len(graph.results)))
    traced = TracedFunction(graph, checks, ResultSequence(list, leaves), UNKNOWN)
    stage = Traced(namespace[program.name], traced, Options(jit=jit, cache=False), host_target())
    launch = stage.fuse().lower().compile().launch
    assert list(inspect.signature(launch).parameters) == [f"arg_{n}" for n in names]
    return stage, launch


def assert_same(expected: Any, actual: Any, ulps: int = 0) -> None:
    """Same type, dtype and shape; same bits (NaN equals NaN), or at most ``ulps`` apart."""
    assert type(expected) is type(actual)
    if isinstance(expected, np.ndarray | np.generic):
        assert expected.dtype == actual.dtype
        assert expected.shape == actual.shape
        if ulps:
            np.testing.assert_array_max_ulp(np.asarray(actual), np.asarray(expected), ulps)
        else:
            np.testing.assert_array_equal(actual, expected, strict=True)
    else:
        assert expected == actual


@pytest.mark.parametrize("jit", [False, True], ids=["unjitted", "jitted"])
@pytest.mark.parametrize("name", sorted(set(PROGRAMS) - {"matmul"}))
def test_program_gives_the_bits_of_its_reference(name: str, jit: bool) -> None:
    program = PROGRAMS[name]
    stage, launch = staged(program, jit)
    rng = np.random.default_rng(7)
    for n in (1, 2, 5, 40):
        arguments: Arguments = program.arguments(rng, n)
        expected_arguments = copy.deepcopy(arguments)
        expected = program.reference(**expected_arguments)
        interpreted_arguments = copy.deepcopy(arguments)
        interpreted = interpret(stage.graph, argument_paths(interpreted_arguments), HOST_FUNCTIONS)
        actual = launch(*arguments.values())
        assert isinstance(actual, list), actual
        for e, i, a in zip(expected, interpreted, actual, strict=True):
            assert_same(e, i, ULPS.get(name, 0))
            assert_same(e, a, ULPS.get(name, 0))
        for key in arguments:
            assert_same(expected_arguments[key], arguments[key])
