"""The examples in docstrings of the IR run."""

import doctest
import importlib
import pkgutil
import textwrap

import pytest

import fusejit.ir
from fusejit.ir.text.parser import parse_graph
from fusejit.ir.text.printer import print_graph
from fusejit.ir.verifier.verify import verify

MODULES = [f"fusejit.ir.{m.name}" for m in pkgutil.iter_modules(fusejit.ir.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_some_modules_have_examples():
    attempted = sum(doctest.testmod(importlib.import_module(n)).attempted for n in MODULES)
    assert attempted >= 8


def test_the_example_beside_the_grammar():
    example = textwrap.dedent((fusejit.ir.__doc__ or "").split("For example::")[1]).strip()
    graph = parse_graph(example)
    verify(graph)
    assert print_graph(graph) == example
