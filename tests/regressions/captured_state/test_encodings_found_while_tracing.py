"""Strings of kernels that are the first that the process encodes.

Regression: Python then imported the codec while the program was traced, and a finder of
``sys.meta_path`` that is written in Python, as pytest's is, was taken for a part of the program: in
a process of its own, a queue of (time, "arrive") ran in Python.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_PROGRAM = """
import heapq
import sys

class Stash:
    def __getitem__(self, key):
        raise KeyError(key)

class Finder:
    stash = Stash()
    def find_spec(self, name, path=None, target=None):
        try:
            return self.stash[name]
        except KeyError:
            return None

class Customer:
    def __init__(self, patience):
        self.patience = patience

import fusejit
sys.meta_path.insert(0, Finder())

@fusejit.fuse_jit(fullgraph=True)
def queue(n):
    events = []
    for i in range(n):
        heapq.heappush(events, (i * 0.5, i, "arrive", Customer(i * 0.5)))
    left = 0.0
    while events:
        now, _, kind, customer = heapq.heappop(events)
        if kind == "arrive":
            heapq.heappush(events, (now + customer.patience, 0, "leave", customer))
        else:
            left += now
    return left

print(queue(4))
"""


def test_encodings_found_while_tracing(tmp_path: Path) -> None:
    path = tmp_path / "events.py"
    path.write_text(_PROGRAM)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert done.stdout == "6.0\n", done.stderr
