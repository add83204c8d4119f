"""A process that checks programs: seeds come in as lines of JSON, what became of them goes out.

Before a program a line with its seed is written, after it one with its outcome. So whoever reads
knows which program a process has died of, or does not end.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

from fusejit_testing.campaign.families import FAMILIES, Failed, kind_of


def main() -> None:
    """Serve until the input ends."""
    lines = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what programs print is no line of ours
    memory = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    warnings.simplefilter("ignore")

    def tell(**outcome: Any) -> None:
        lines.write(json.dumps(outcome) + "\n")

    with tempfile.TemporaryDirectory(prefix="fusejit-campaign-") as name:
        folder = Path(name)
        os.environ["FUSEJIT_CACHE_DIR"] = str(folder / "cache")
        is_first = True
        for line in sys.stdin:
            task = json.loads(line)
            family = FAMILIES[task["family"]]
            most = sys.maxsize if family.most is None else family.most()
            end = min(task["first"] + task["count"], most)
            for seed in range(task["first"], end):
                jit = bool(task["jit_every"]) and seed % task["jit_every"] == 0
                tell(seed=seed)
                start = time.perf_counter()
                failure, way = {}, None
                try:
                    way = family.check(seed, jit, folder)
                except Exception as error:
                    cause = error.__cause__ if isinstance(error, Failed) else None
                    failure = {"kind": kind_of(cause or error), "text": f"seed {seed}: {error}"}
                seconds = time.perf_counter() - start
                tell(checked=seed, jitted=jit, seconds=seconds, way=way or "", **failure)
                for file in folder.glob("*.py"):
                    file.unlink()
                if is_first:  # what exists now is not looked through in each collection
                    gc.freeze()
                    is_first = False
            tell(done=True)


if __name__ == "__main__":
    main()
