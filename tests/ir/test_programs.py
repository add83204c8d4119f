"""The interpreter on programs in IR text: NumPy's results, bit by bit, and NumPy's mutations."""

import numpy as np
import pytest

from fusejit.ir.interpreter.interpret import argument_paths, check_guards, interpret
from fusejit.ir.text.parser import parse_graph
from fusejit.ir.text.printer import print_graph
from fusejit.ir.verifier.verify import verify
from fusejit_testing.compare import assert_same_results, copy_arguments, difference
from fusejit_testing.programs.programs import HOST_FUNCTIONS, PROGRAMS

each_program = pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())


@each_program
@pytest.mark.parametrize("n", [1, 2, 3, 5, 40])
def test_it_means_what_numpy_does(program, n):
    graph = parse_graph(program.text)
    verify(graph)
    arguments = program.arguments(np.random.default_rng(n), n)
    expected_arguments = copy_arguments(arguments)
    paths = argument_paths(arguments)
    assert check_guards(graph, paths) is None
    with np.errstate(all="ignore"):
        expected = program.reference(**expected_arguments)
    assert_same_results(interpret(graph, paths, HOST_FUNCTIONS), expected)
    for name, expected_argument in expected_arguments.items():
        assert difference(arguments[name], expected_argument) is None, name


@each_program
def test_its_text_is_what_is_printed(program):
    assert print_graph(parse_graph(program.text)) + "\n" == program.text


def test_a_loop_body_runs_not_at_all_for_an_empty_range():
    graph = parse_graph(PROGRAMS["triangle"].text)
    sums, total = interpret(graph, argument_paths({"x": np.zeros((0, 0)), "scale": 2.0}))
    assert sums.shape == (0,)
    assert total == 0.0


def test_a_returned_buffer_is_the_object_and_a_returned_view_shares_its_memory():
    graph = parse_graph(PROGRAMS["shift"].text)
    x = np.arange(6.0)
    whole, view = interpret(graph, argument_paths({"x": x}))
    assert whole is x
    assert np.shares_memory(view, x)
    view[0] = 100.0
    assert x[-1] == 100.0


def test_a_readonly_argument_gives_a_readonly_view():
    text = """graph @f
      symbol s0 = size(arg:x, 0)
      buffer @x : s0 x f64 = arg:x class 0 readonly
    { return @x [(d0) -> (2 * d0)] ((s0 + 1) floordiv 2) }"""
    x = np.arange(5.0)
    x.flags.writeable = False
    (view,) = interpret(parse_graph(text), argument_paths({"x": x}))
    assert view.tolist() == [0.0, 2.0, 4.0]
    assert not view.flags.writeable


def test_the_guard_that_fails_is_named():
    graph = parse_graph(PROGRAMS["triangle"].text)
    guard = check_guards(graph, argument_paths({"x": np.zeros((2, 3)), "scale": 1.0}))
    assert guard is graph.guards[0]
    assert guard.reason == "x is square"
