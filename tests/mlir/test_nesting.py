"""Text that is nested so deeply that MLIR's parser would end the process is a clear error.

Regression: MLIR text nested 100,000 deep ended the process: MLIR's parser has no bound. The depth
is now measured first.
"""

from __future__ import annotations

import pytest

from fusejit.errors import ParseError
from fusejit.mlir.nesting import MAX_LEVELS, deepest, require_few_levels

N = 100_000
SAME = "func.func @f(%a: tensor<4xf64>) -> tensor<4xf64> { return %a : tensor<4xf64> }"
DEEP = {
    "modules": "module {" * N + "}" * N,
    "parentheses": f"#m = affine_map<(d0) -> ({'(' * N}d0{')' * N})>\n{SAME}",
    "a sum": f"#m = affine_map<(d0)[s0] -> (d0{' + s0' * N})>\n{SAME}",
    "signs": f"#m = affine_map<(d0) -> ({'-' * N}d0)>\n{SAME}",
    "attributes": f"module attributes {{x.y = {'[' * N}{']' * N}}} {{ {SAME} }}",
    "types": f"func.func private @g({'tuple<' * N}{'>' * N})\n{SAME}",
    "locations": f"{SAME} loc({'callsite(' * N}{')' * N})",
    "never closed": "module {" * N,
}


@pytest.mark.parametrize("kind", DEEP)
def test_deep_text_is_refused(kind: str) -> None:
    with pytest.raises(ParseError, match=r"line [12]: the text is nested 100\d\d\d levels deep"):
        require_few_levels(DEEP[kind])


def test_load_refuses_before_mlir_sees_the_text() -> None:
    pytest.importorskip("torch_mlir", reason="the MLIR bindings are not installed")
    from fusejit.mlir import load

    with pytest.raises(ParseError, match="nested 100000 levels"):
        load(DEEP["modules"])
    fine = "module {" * (MAX_LEVELS - 3) + SAME + "}" * (MAX_LEVELS - 3)
    with pytest.raises(Exception, match="public functions"):  # MLIR has read it: modules in modules
        load(fine)


def test_length_is_no_depth() -> None:
    lines = [f"%c{i} = arith.constant -{i} : index // (((((" for i in range(N)]
    assert deepest("\n".join(lines))[0] <= 2
    assert deepest(f"dense<[{', '.join(['-1'] * N)}]>")[0] == 3
    assert deepest('"a string (((((( with \\" brackets"')[0] == 0
    assert deepest("() -> () " * N)[0] == 1
    assert deepest(")))" + "((")[0] == 2


def test_the_line_is_that_of_the_deepest_place() -> None:
    assert deepest("(\n(\n((()))\n)\n)") == (5, 3)
