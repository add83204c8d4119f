"""The campaign: seeds are handed out once, workers may die or hang, and it goes on where it was."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fusejit.errors import UnsupportedError
from fusejit_testing.campaign.__main__ import main
from fusejit_testing.campaign.families import FAMILIES, kind_of
from fusejit_testing.campaign.records import Chunk, Outcome, Record
from fusejit_testing.campaign.runner import Worker, check_chunk, chunks, run

DYING = """
import json, os, signal, sys, time
for line in sys.stdin:
    task = json.loads(line)
    for seed in range(task["first"], task["first"] + task["count"]):
        print(json.dumps({"seed": seed}), flush=True)
        if seed == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        if seed == 5:
            time.sleep(1000)
        failure = {"kind": "differences", "text": "wrong"} if seed == 7 else {}
        outcome = {"checked": seed, "jitted": seed % 2 == 0, "seconds": 0.5}
        print(json.dumps({**outcome, **failure}), flush=True)
    print(json.dumps({"done": True}), flush=True)
"""


def dying_worker() -> Worker:
    return Worker(0, [sys.executable, "-c", DYING])


def test_a_worker_that_dies_or_hangs_costs_one_program() -> None:
    outcome, worker = check_chunk(Chunk("mutation", 0, 10, 2), dying_worker, None, longest=2.0)
    assert worker is not None
    worker.kill()
    assert (outcome.programs, outcome.jitted, outcome.seconds) == (10, 5, 4.0)
    assert outcome.failures == {
        "differences": ["wrong"],
        "refusals": [],
        "faults": [
            "mutation, seed 3: the process ended: SIGKILL",
            "mutation, seed 5: no end after 2 s",
        ],
    }


def test_it_goes_on_where_it_was(tmp_path: Path) -> None:
    path, said = tmp_path / "record.jsonl", list[str]()
    todo = [Chunk("joins", at, 2, 2) for at in (10, 12, 14)]
    done = Outcome(2, 1, 7.0)
    done.failures["faults"].append("an old one")
    Record(path).add(todo[1], done)
    record = Record(path)
    run(todo, record, 2, 100.0, dying_worker, said.append)
    assert len(said) == 2
    again = Record(path)
    assert again.done == record.done
    assert set(again.done) == set(todo)
    assert list(again.lines())[1:] == [
        "joins                6       3            0         0       1        9",
        "all                  6       3            0         0       1        9",
    ]


def test_seeds_are_handed_out_once() -> None:
    made = chunks(1000, 50, 7000, [n for n in FAMILIES if n != "surface"])
    seeds = [(c.family, s) for c in made for s in range(c.first, c.first + c.count)]
    assert len(seeds) == len(set(seeds)) == 1000
    assert {c.jit_every for c in made} == {20}
    assert {name for name, _ in seeds} == set(FAMILIES) - {"surface"}
    assert min(s for _, s in seeds) == 7000


def test_programs_in_a_process_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--programs", "20", "--jitted", "0", "--first", "4000", "--jobs", "1"]
    given += ["--families", "mutation", "library", "--record", str(tmp_path / "record.jsonl")]
    assert main(given) == 0
    first = capsys.readouterr().out.splitlines()
    assert main(given) == 0
    again = capsys.readouterr().out.splitlines()
    assert len(first) == len(again) + 2  # nothing was left to do
    assert [line.split()[:6] for line in again[1:]] == [
        ["mutation", "10", "0", "0", "0", "0"],
        ["library", "10", "0", "0", "0", "0"],
        ["all", "20", "0", "0", "0", "0"],
    ]


def test_kinds_of_failures() -> None:
    refused = AssertionError("call 0: UnsupportedError() instead of a result")
    refused.__cause__ = UnsupportedError("no")
    assert kind_of(refused) == "refusals"
    assert kind_of(AssertionError("result: 1 of 2 elements differ")) == "differences"
    assert kind_of(AssertionError("a fault of fusejit:\nreport")) == "faults"
    assert kind_of(TimeoutError("takes longer than 60 s")) == "faults"
