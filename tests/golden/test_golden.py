"""What users see of each stage, against files: ``FUSEJIT_UPDATE_GOLDEN=1 pytest tests/golden``.

A change of a file is a change of what users read: look at the difference before committing it. The
machine is a fixed one, so that costs and choices do not depend on where the tests run.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import fusejit.stages
from fusejit import fuse_jit
from fusejit.ir.target_facts import GENERIC
from fusejit.ir.text.parser import parse_graph
from fusejit.ir.text.printer import print_graph

from .programs import CALLS

FOLDER = Path(__file__).parent / "texts"
UPDATE = os.environ.get("FUSEJIT_UPDATE_GOLDEN", "0") not in ("", "0")


@pytest.fixture(autouse=True)
def fixed_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusejit.stages, "host_target", lambda: GENERIC)
    monkeypatch.delenv("FUSEJIT_FUSION", raising=False)


def stages(program: Any) -> dict[str, str]:
    fused, args = fuse_jit(program), CALLS[program]
    traced = fused.trace(*args)
    return {
        "traced": str(traced),
        "fused": str(traced.fuse()),
        "explain": fused.explain(*args),
        "detail": fused.explain(*args, detail=True).rest,
        "dot": traced.fuse().dot(),
    }


@pytest.mark.parametrize("program", CALLS, ids=lambda p: p.__name__)
def test_printed_stages(program: Any) -> None:
    made = stages(program)
    assert made == stages(program), "printing depends on more than the program"
    for stage, text in made.items():
        path = FOLDER / f"{program.__name__}.{stage}"
        if UPDATE:
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"{text.rstrip()}\n")
        assert f"{text.rstrip()}\n" == path.read_text("utf-8"), path


@pytest.mark.parametrize("program", CALLS, ids=lambda p: p.__name__)
def test_printed_graphs_are_read_back(program: Any) -> None:
    traced = fuse_jit(program).trace(*CALLS[program])
    for graph in (traced.graph, traced.fuse().graph):
        text = print_graph(graph)
        assert print_graph(parse_graph(text)) == text
