"""Where kernels poll: at no cost for an iteration of an inner loop.

Regression: Ctrl-C and other threads waited for the end of a kernel, because kernels never checked
for signals. Outer loops now run in stretches, and handlers run about every 0.1 s.
"""

from __future__ import annotations

import numpy as np

from fusejit.codegen.loop_passes.interruptible import interruptible
from fusejit.codegen.printer.statement_printer import statement_lines
from fusejit.ir.loops.nodes import For, Integer, Let, Number, ParallelFor, Stmt, Var, While
from fusejit.ir.loops.polynomial import Polynomial


def _range(var: str, upper: str, body: list[Stmt], of_program: bool = True) -> For:
    zero = Integer(Polynomial.const(0))
    return For(var, zero, Integer(Polynomial.name(upper)), body, of_program=of_program)


STEP = Let("s", Number(1.0, np.dtype(float)), rebind=True)


def _text(statements: list[Stmt]) -> str:
    return "\n".join(statement_lines(interruptible(statements)))


def test_a_loop_runs_in_stretches_and_is_itself_unchanged() -> None:
    inner = _range("j", "m", [STEP])
    text = _text([_range("i", "n", [inner])])
    assert "while poll0_at < poll0_end:" in text
    assert "for i in range(poll0_at, poll0_last):" in text
    at = text.index("for i in range")
    assert (
        "poll" not in text[text.index("for j in range(m):") : text.index("poll0_at = poll0_last")]
    )
    assert text.index("poll(poll0_w)") > at


def test_nests_and_what_is_no_loop_of_the_program_stay_as_they_are() -> None:
    nest = ParallelFor(Integer(Polynomial.name("n")), Number(9, np.dtype(int)), [STEP])
    statements: list[Stmt] = [nest, _range("d0", "n", [STEP], of_program=False), STEP]
    assert interruptible(statements) == statements


def test_a_while_loop_counts() -> None:
    text = _text([While([], Var("c"), [STEP])])
    assert "poll_left = poll_left - i64(1)" in text
    assert "poll_left = poll(poll_w)" in text


def test_a_while_loop_inside_of_another_loop_does_not() -> None:
    text = _text([_range("i", "n", [While([], Var("c"), [STEP])])])
    assert "poll_left = poll_left - i64(1)" not in text


def test_a_chunk_polls_for_itself_and_ends_with_the_others() -> None:
    chunk = ParallelFor(
        Integer(Polynomial.name("n")),
        Number(9, np.dtype(int)),
        [_range("i", "hi", [_range("j", "m", [STEP])])],
        of_program=True,
    )
    text = _text([chunk])
    assert "if get(poll0_fault, 0) == 63:" in text
    assert "put(poll0_fault, 0, i64(63))" in text
    assert "return 63" in text
