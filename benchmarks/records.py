"""What a run leaves behind: records that go to JSON and back unchanged."""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SCHEMA = 1

RIVALS = ("numba", "njit", "jax", "torch")
"""Engines whose rules are not NumPy's."""


@dataclass(frozen=True)
class EngineRecord:
    """One engine on one case; times in nanoseconds per call.

    ``error`` holds why there are no times; ``mismatch`` why the result is wrong; ``declined`` why
    the engine's own code did not run: it refused (no times) or ran NumPy in its place.
    """

    median_ns: float | None = None
    min_ns: float | None = None
    spread: float | None = None
    speedup: float | None = None
    rounds_ns: tuple[float, ...] = ()
    calls_per_round: int = 0
    prepare_call_ns: int | None = None
    max_error: float | None = None
    mismatch: str | None = None
    error: str | None = None
    declined: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class CaseRecord:
    """One workload at one size and dtype, with or without ``out=``."""

    workload: str
    family: str
    size: int
    dtype: str
    with_out: bool
    engines: Mapping[str, EngineRecord]
    discarded_rounds: int = 0
    noisy: bool = False
    load: float = 0.0

    @property
    def label(self) -> str:
        """``chain8 f64 1e+06 out=``."""
        return f"{self.workload} {self.dtype} {self.size:,}" + (" out=" if self.with_out else "")


@dataclass(frozen=True)
class FirstCallRecord:
    """First calls in fresh processes, once with an empty and once with a filled cache folder."""

    workload: str
    size: int
    dtype: str
    cold_load_ns: int | None = None
    cold_call_ns: int | None = None
    cached_load_ns: int | None = None
    cached_call_ns: int | None = None
    error: str | None = None


@dataclass(frozen=True)
class RunRecord:
    """A whole run."""

    machine: Mapping[str, Any]
    options: Mapping[str, Any]
    versions: Mapping[str, str]
    unavailable: Mapping[str, str]
    cases: tuple[CaseRecord, ...]
    first_calls: tuple[FirstCallRecord, ...] = ()
    schema: int = field(default=SCHEMA)

    def to_json(self) -> str:
        """The record as indented JSON."""
        return json.dumps(dataclasses.asdict(self), indent=1) + "\n"

    def declined(self) -> list[tuple[CaseRecord, str, str]]:
        """Cases that an engine's own code did not run: ``(case, engine, reason)``."""
        return [
            (case, name, engine.declined)
            for case in self.cases
            for name, engine in case.engines.items()
            if engine.declined
        ]

    def own_failures(self) -> list[tuple[CaseRecord, str, str]]:
        """What must make the run fail: wrong results and errors, except those of rivals.

        Numba answers in float64 where NumPy answers in float32, for one: shown, and not our fault.
        """
        return [entry for entry in self.wrong() if entry[1] not in RIVALS]

    def wrong(self) -> list[tuple[CaseRecord, str, str]]:
        """Cases with a wrong result or an error: ``(case, engine, text)``."""
        return [
            (case, name, engine.mismatch or engine.error or "")
            for case in self.cases
            for name, engine in case.engines.items()
            if engine.mismatch or engine.error
        ]


def from_json(text: str) -> RunRecord:
    """Read a record written by `RunRecord.to_json`.

    Raises
    ------
    ValueError
        It was written with another schema.
    """
    data = json.loads(text)
    if data.get("schema") != SCHEMA:
        raise ValueError(f"schema {data.get('schema')!r} cannot be read, expected {SCHEMA}")
    cases = tuple(
        CaseRecord(**case | {"engines": {n: _engine_record(e) for n, e in case["engines"].items()}})
        for case in data.pop("cases")
    )
    first_calls = tuple(FirstCallRecord(**entry) for entry in data.pop("first_calls"))
    return RunRecord(**data, cases=cases, first_calls=first_calls)


def _engine_record(data: dict[str, Any]) -> EngineRecord:
    tuples = {name: tuple(data[name]) for name in ("rounds_ns", "warnings")}
    return EngineRecord(**data | tuples)


def save(record: RunRecord, path: Path) -> None:
    """Write a record, creating the folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(record.to_json())
