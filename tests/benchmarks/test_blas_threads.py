"""The table of programs with matrix products: every engine has its turns, and its line."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.blas_threads import CALLS, DEFAULT, compare, table_lines
from benchmarks.programs import PROGRAMS
from fusejit.codegen.machine.pool import get_num_threads, set_num_threads


def test_every_engine_has_its_turns() -> None:
    before = get_num_threads()
    (program,) = (p for p in PROGRAMS if p.name == "jacobi_solver")
    try:
        times = compare(replace(program, bench=program.sizes[0]), 0.0)
    finally:
        set_num_threads(before)
    assert list(times) == ["numpy", "fusejit", "fusejit, serial"]
    assert {len(measured) for measured in times.values()} == {CALLS}
    assert all(ms > 0 for measured in times.values() for ms in measured)


def test_lines_have_quartiles() -> None:
    lines = table_lines("name", "2", {"numpy": [4.0, 1.0, 2.0, 3.0, 5.0]})
    assert lines == ["| name | 2 | numpy | 1.00 | 2.00 | 3.00 | 4.00 |"]


def test_programs_are_there() -> None:
    assert set(DEFAULT) <= {p.name for p in PROGRAMS}
