"""A hundred programs with lists as people write them, against plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fusejit_testing.written_lists.check import MODULES, check_program, programs

PROGRAMS = [function for module in MODULES for function in programs(module)]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_program(function: Callable[..., Any]) -> None:
    check_program(function)
