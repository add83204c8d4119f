"""Hands runs of seeds to worker processes, and goes on when one of them dies or does not end."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fusejit_testing.campaign.families import FAMILIES, SHRINKING
from fusejit_testing.campaign.records import Chunk, Outcome, Record
from fusejit_testing.programs.mutation_fuzzer import SLOWEST

CHUNK = 100  # seeds
LONGEST = 2 * SLOWEST + SHRINKING + 30  # seconds without a line; deadlines of its own come before
_THREADS = ("NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "FUSEJIT_NUM_THREADS")


def chunks(programs: int, jitted: int, first: int, names: Sequence[str]) -> list[Chunk]:
    """The runs of seeds of a campaign, those of all families in turns.

    The calls of a family that has an end come on top: they are made once, from its first on.
    """
    endless = {n: f.share for n, f in FAMILIES.items() if f.most is None and n in names}
    jit_every = programs // jitted if jitted else 0
    found: list[tuple[float, Chunk]] = []
    shares = given = 0
    for name, share in endless.items():
        shares += share
        count = programs * shares // sum(endless.values()) - given
        given += count
        for at in range(0, count, CHUNK):
            found.append((at / count, Chunk(name, first + at, min(CHUNK, count - at), jit_every)))
    for name in names:
        most = FAMILIES[name].most
        count = 0 if most is None else most()
        for at in range(0, count, CHUNK):
            found.append((at / count, Chunk(name, at, min(CHUNK, count - at), 0)))
    return [chunk for _, chunk in sorted(found, key=lambda item: item[0])]


class Worker:
    """A process of `fusejit_testing.campaign.worker`."""

    def __init__(self, memory: int, command: Sequence[str] | None = None) -> None:
        environment = {**os.environ, **dict.fromkeys(_THREADS, "1"), "PYTHONWARNINGS": "ignore"}
        module = "fusejit_testing.campaign.worker"
        self.process = subprocess.Popen(
            command or [sys.executable, "-m", module, str(memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
            start_new_session=True,
        )
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def give(self, chunk: Chunk, first: int) -> None:
        """Hand it what is left of a chunk from a seed on."""
        count = chunk.first + chunk.count - first
        task = {"family": chunk.family, "first": first, "count": count}
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({**task, "jit_every": chunk.jit_every}) + "\n")
        self.process.stdin.flush()

    def messages(self, longest: float) -> Iterator[dict[str, Any]]:
        """What it tells; raises TimeoutError if it is silent, EOFError if it has ended."""
        while True:
            try:
                line = self._lines.get(timeout=longest)
            except queue.Empty:
                raise TimeoutError(f"no end after {longest:g} s") from None
            if line is None:
                raise EOFError(f"the process ended: {_ending(self.process.wait())}")
            yield json.loads(line)

    def kill(self) -> None:
        """End it and what it has started."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()


def _ending(status: int) -> str:
    return signal.Signals(-status).name if status < 0 else f"status {status}"


def check_chunk(
    chunk: Chunk, start: Callable[[], Worker], worker: Worker | None, longest: float = LONGEST
) -> tuple[Outcome, Worker | None]:
    """What became of the programs of a chunk, and the worker that is left."""
    outcome = Outcome()
    at, end = chunk.first, chunk.first + chunk.count
    while at < end:
        worker = start() if worker is None else worker
        try:
            worker.give(chunk, at)
            for message in worker.messages(longest):
                if "seed" in message:
                    at = message["seed"]
                elif "checked" in message:
                    at = message["checked"] + 1
                    outcome.programs += 1
                    outcome.jitted += message["jitted"]
                    outcome.seconds += message["seconds"]
                    if message.get("way"):
                        outcome.note_way(message["way"])
                    if "kind" in message:
                        outcome.failures[message["kind"]].append(message["text"])
                else:
                    return outcome, worker
        except (TimeoutError, EOFError, BrokenPipeError) as error:
            outcome.programs += 1
            outcome.failures["faults"].append(f"{chunk.family}, seed {at}: {error}")
            at += 1
            worker.kill()
            worker = None
    return outcome, worker


def run(
    todo: Sequence[Chunk],
    record: Record,
    jobs: int,
    seconds: float,
    start: Callable[[], Worker],
    tell: Callable[[str], None],
) -> None:
    """Check all chunks that ``record`` does not have yet, until ``seconds`` are over."""
    waiting: queue.SimpleQueue[Chunk] = queue.SimpleQueue()
    for chunk in todo:
        if chunk not in record.done:
            waiting.put(chunk)
    lock = threading.Lock()
    end = time.monotonic() + seconds
    workers: list[Worker] = []

    def started() -> Worker:
        worker = start()
        workers.append(worker)
        return worker

    def serve() -> None:
        worker: Worker | None = None
        while time.monotonic() < end:
            try:
                chunk = waiting.get_nowait()
            except queue.Empty:
                break
            outcome, worker = check_chunk(chunk, started, worker)
            with lock:
                record.add(chunk, outcome)
                for kind, texts in outcome.failures.items():
                    for text in texts:
                        tell(f"{'=' * 100}\n{chunk.family}, {kind}\n{text}")
                left = waiting.qsize()
                tell(f"{chunk.family} {chunk.first}+{chunk.count}: {left} runs of seeds are left")

    threads = [threading.Thread(target=serve, daemon=True) for _ in range(jobs)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        for worker in workers:
            worker.kill()
