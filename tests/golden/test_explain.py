"""``explain``: everything the passes did is told, in the user's lines and names."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fusejit.fuse
import fusejit.stages
from fusejit import fuse_jit
from fusejit.errors import UnsupportedError
from fusejit.explain.remedies import REMEDIES
from fusejit.fuse.folding.cost import Reject
from fusejit.fuse.folding.legality import RULES
from fusejit.ir.host import HostExpr
from fusejit.ir.host import Path as HostPath
from fusejit.ir.ops import GenericOp, base_name, walk
from fusejit.ir.target_facts import GENERIC
from fusejit_testing.programs.programs_random import SIZES, load, random_program

from .programs import CALLS, softmax, update, weighted

X = np.ones((3, 5))


@pytest.fixture(autouse=True)
def fixed_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusejit.stages, "host_target", lambda: GENERIC)
    monkeypatch.delenv("FUSEJIT_FUSION", raising=False)


@pytest.mark.parametrize("fusion", ["auto", "none", "aggressive"])
@pytest.mark.parametrize("program", CALLS, ids=lambda p: p.__name__)
def test_every_fusion_and_refusal_is_told(program: Any, fusion: str) -> None:
    fused, args = fuse_jit(fusion=fusion)(program), CALLS[program]
    report = fused.trace(*args).fuse().report
    text = fused.explain(*args, detail=True)
    for f in report.folded:
        word = "beside" if f.how == "merge" else "into"
        assert f"    {base_name(f.producer)} {word} {base_name(f.consumer)}: " in text
        assert f.reason
        assert f" [{f.rule}]  ({f.location.short})" in text
    for r in report.refused:
        assert f" and {base_name(r.consumer)}: " in text
        assert f"[{r.rule}]  ({r.location.short})" in text
    for g in report.grouped:
        assert f": {g.reason}" in text
        assert f" [{g.rule}]  ({g.ops[0].location.short})" in text
    assert text.count("    one loop over tiles of") == len(report.grouped)


@pytest.mark.parametrize("fusion", ["auto", "none", "aggressive"])
@pytest.mark.parametrize("program", CALLS, ids=lambda p: p.__name__)
def test_every_traced_line_is_shown(program: Any, fusion: str) -> None:
    """A line that did something before fusion still does it somewhere."""
    fused, args = fuse_jit(fusion=fusion)(program), CALLS[program]
    stage = fused.trace(*args)
    lines = fused.explain(*args, detail=True).splitlines()
    end = next(at for at, line in enumerate(lines) if line.startswith("  variants"))
    for op in walk(stage.graph.block):
        if isinstance(op, GenericOp):
            short = op.location.short
            shown = any(
                line.split()[:1] == [short] and base_name(op.name) in line for line in lines[:end]
            )
            assert shown, f"{op.name} {short}"


def test_a_group_is_one_loop_and_says_what_stays_in_cache() -> None:
    text = fuse_jit(softmax).explain(X, detail=True)
    assert "\nsoftmax: 5 ops -> 1 loop nest in 1 kernel\n" in text
    assert "    one loop over tiles of d0 < 3; 3 results in cache, never in memory\n" in text
    assert "  e = np.exp(x - np.max(x, axis=-1, keepdims=True))\n" in text
    assert "in one loop, but not one op" in text
    assert "kept apart" not in text


def test_what_is_kept_apart_has_a_remedy() -> None:
    text = fuse_jit(update).explain(X.copy(), X.copy(), detail=True)
    rule = "memory is unchanged between"
    assert f"[{rule}]" in text
    assert f"    [{rule}] {REMEDIES[rule]}\n" in text


def test_a_refusal_names_the_result_that_is_read() -> None:
    def relax(u: Any, v: Any) -> Any:
        change = v - u
        u += change / 2  # computed in one loop with the change
        return np.abs(change).max(axis=1)

    text = fuse_jit(relax).explain(X.copy(), X, detail=True)
    assert "    subtract beside add: it stays in memory" in text
    assert "    subtract and max: memory that it reads is stored to" in text


def test_nothing_fused_is_told_as_policy() -> None:
    text = fuse_jit(fusion="none")(softmax).explain(X, detail=True)
    assert "\nsoftmax: 5 ops -> 5 loop nests in 1 kernel\n" in text
    assert "  fusion policy: none\n" in text
    assert "fused, one by one" not in text


def test_what_is_computed_again_is_told() -> None:
    text = fuse_jit(fusion="aggressive")(softmax).explain(X, detail=True)
    assert "  computed where it is read, instead of kept:\n    subtract: in 2 loops  (" in text
    assert "    exp: in 2 loops  (" in text


def test_lines_of_helpers_are_shown() -> None:
    assert "  return np.exp(-v * v)\n" in fuse_jit(weighted).explain(X, np.ones(3), detail=True)


def test_guards_are_written_as_python() -> None:
    def head(x: Any, w: Any) -> Any:
        return x[: len(x) // 2] * w if len(x) > 4 else x

    text = fuse_jit(head).explain(np.ones(6), np.ones(3), detail=True)
    assert "    4 < x.shape[0]  (" in text
    assert "    (x.shape[0] // 2) == w.shape[0]  (" in text


S0, P = HostExpr.named("s0"), HostExpr.named("p")


def made(op: str, *operands: Any) -> HostExpr:
    return HostExpr(
        op, tuple(o if isinstance(o, HostExpr) else HostExpr.const(o) for o in operands)
    )


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (made("ge", S0, 2), "x.shape[0] >= 2"),
        (made("not", made("eq", S0, 0)), "x.shape[0] != 0"),
        (made("not", made("lt", S0, 0)), "x.shape[0] >= 0"),
        (made("not", made("lt", P, 0)), "not (p < 0)"),  # it may be NaN
        (
            made("mul", made("add", S0, 1), made("add", S0, 1)),
            "(x.shape[0] + 1) * (x.shape[0] + 1)",
        ),
        (HostExpr.path(HostPath("global", "cfg", (("[]", "lr"),))), "global cfg['lr']"),
        (HostExpr.named("unknown"), "unknown"),
    ],
)
def test_host_expressions_as_python(expr: HostExpr, text: str) -> None:
    assert expr.user_text({"s0": HostExpr.size(HostPath("arg", "x"), 0)}) == text


def reject_names() -> set[str]:
    """The rules that the passes refuse by, besides those of `RULES`."""
    found = set()
    for path in Path(fusejit.fuse.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in ("Reject", "Refused")
                and isinstance(node.args[0], ast.Constant)
            ):
                found.add(node.args[0].value)
    return found


def test_every_rule_has_a_remedy() -> None:
    names = {rule.__name__.replace("_", " ") for rule in RULES} | reject_names()
    assert {"expensive broadcast", "several uses", "policy", "dims stand together"} <= names
    assert names == set(REMEDIES)


def test_a_policys_own_rule_is_told_without_remedy() -> None:
    text = fuse_jit(fusion=lambda c: Reject("mine", "not now"))(softmax).explain(X, detail=True)
    assert "not now [mine]" in text
    assert "    [mine]" not in text


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_are_explained(seed: int, tmp_path: Path) -> None:
    """Whatever the policy, each traced op that is left stands at its line in the report."""
    program = random_program(seed)
    args = program.call(SIZES[0])
    for fusion in ("auto", "none", "aggressive"):
        fused = fuse_jit(fusion=fusion)(load(program, tmp_path))
        try:
            graph = fused.trace(*args).fuse().graph
        except UnsupportedError:
            return
        lines = fused.explain(*args, detail=True).splitlines()
        for op in walk(graph.block):
            for origin in op.origins if isinstance(op, GenericOp) else ():
                file = origin.location.short
                shown = [ln for ln in lines if ln.split()[:1] == [file] and origin.name in ln]
                assert shown or file == "", f"{origin.name} {file}"
