"""What a fresh process pays before its first result: with an empty and with a filled cache."""

import tempfile
from typing import Any

from benchmarks.client import WorkerError, WorkerProcess
from benchmarks.records import FirstCallRecord
from benchmarks.selection import Case


def measure_first_call(engine: str, case: Case) -> FirstCallRecord:
    """Time first calls in two fresh processes that share a cache folder, empty at the start."""
    identity: dict[str, Any] = {
        "workload": case.workload.name,
        "size": case.size,
        "dtype": case.dtype,
    }
    times: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="fusejit-cache-") as cache:
        for state in ("cold", "cached"):
            try:
                with WorkerProcess(engine, {"FUSEJIT_CACHE_DIR": cache}) as worker:
                    reply = worker.request("first_call", **identity, with_out=False)
            except WorkerError as error:
                return FirstCallRecord(**identity, **times, error=str(error))
            times[f"{state}_load_ns"] = reply["load_ns"]
            times[f"{state}_call_ns"] = reply["first_call_ns"]
    return FirstCallRecord(**identity, **times)
