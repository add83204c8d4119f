"""The parent's side: starts a worker, sends commands, notices crashes and hangs."""

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

REPOSITORY = Path(__file__).resolve().parent.parent
TIMEOUT_S = 300.0


class WorkerError(RuntimeError):
    """The worker answered with an error; it is still usable."""


class WorkerDied(WorkerError):
    """The worker crashed, hung or could not start; a new one is needed."""


class WorkerProcess:
    """One engine in a process of its own.

    Parameters
    ----------
    engine
        A name from `benchmarks.engines.ENGINES`, or ``package.module:Class``.
    environment
        Variables on top of the parent's. Timed rounds set none.
    timeout_s
        A command that takes longer kills the worker.
    fresh_heap
        Leave the allocator as it is at the start of a process, see `worker.settle_allocator`.
    """

    def __init__(
        self,
        engine: str,
        environment: Mapping[str, str] | None = None,
        timeout_s: float = TIMEOUT_S,
        fresh_heap: bool = False,
    ) -> None:
        self.engine = engine
        self.timeout_s = timeout_s
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the worker
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", engine] + ["fresh-heap"] * fresh_heap,
            cwd=REPOSITORY,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )
        self.replies: queue.Queue[str | None] = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def request(self, command: str, **fields: Any) -> dict[str, Any]:
        """Send a command and wait for its reply.

        Raises
        ------
        WorkerError
            The command failed in the worker.
        WorkerDied
            The worker is gone; the message ends with the last lines it wrote to stderr.
        """
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps({"command": command, **fields}) + "\n")
            self.process.stdin.flush()
            line = self.replies.get(timeout=self.timeout_s)
        except OSError:
            line = None
        except queue.Empty:
            self.close(kill=True)
            raise WorkerDied(f"no reply within {self.timeout_s:g} s") from None
        if line is None:
            last_words = self._last_words()
            self.close(kill=True)
            raise WorkerDied(f"exit status {self.process.returncode}; {last_words}")
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise WorkerError(reply["error"])
        return reply

    def close(self, kill: bool = False) -> None:
        """Let the worker finish by closing its stdin, or kill it; wait until it is gone."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        if kill:
            self.process.kill()
        with contextlib.suppress(OSError):  # it is dead already, with unread requests
            self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.reader.join(timeout=10)
        self.process.stdout.close()
        self.log.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.replies.put(line)
        self.replies.put(None)

    def _last_words(self, count: int = 4) -> str:
        self.process.wait()
        self.log.seek(0)
        lines = self.log.read().decode(errors="replace").strip().splitlines()
        return " | ".join(lines[-count:]) or "nothing on stderr"
