"""Checks one random structured op every way against ``op.reference``."""

from __future__ import annotations

import linecache
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fusejit import structured
from fusejit.api import FuseWarning
from fusejit.structured.generic import generic, op_of
from fusejit.structured.op import StructuredOp
from fusejit_testing.compare import Bound, assert_same, clone
from fusejit_testing.fused_otherwise import FusedOtherwise
from fusejit_testing.oracle import (
    Outcome,
    _environment,
    decorate,
    interpreted,
    no_faults,
    run,
)
from fusejit_testing.structured.op_maker import OpCase, make_op
from fusejit_testing.structured.surroundings import (
    OpProgram,
    alone,
    store_arrays,
    surrounded,
)

FUSIONS = ("auto", "none", "aggressive")


@dataclass(slots=True)
class Tally:
    """What became of ops."""

    ops: int = 0
    calls: int = 0
    jitted: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)


class _Loaded:
    """An op and its programs, with fresh compiled forms."""

    def __init__(self, case: OpCase, how: str) -> None:
        self.case = case
        self.scope: dict[str, Any] = {
            "np": np,
            "NAME": f"generic_{case.seed}_{how}",
            **{name: getattr(structured, name) for name in structured.__all__},
        }
        self._run(case.definition, f"op_{case.seed}_{how}")
        self.how = how

    def _run(self, source: str, name: str) -> None:
        filename = f"<{name}>"
        linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
        exec(compile(source, filename, "exec"), self.scope)

    def program(self, program: OpProgram, name: str, compute: Any) -> Callable[..., Any]:
        """The program with ``compute`` in place of the op."""
        self.scope["compute"] = compute
        scope, self.scope = self.scope, dict(self.scope)
        try:
            self._run(program.source, f"{name}_{self.case.seed}_{self.how}")
            return self.scope["program"]  # type: ignore[no-any-return]
        finally:
            self.scope = scope

    @property
    def op(self) -> Any:
        """What a program calls."""
        return self.scope["op"] if self.case.is_formula else generic

    @property
    def reference(self) -> Callable[..., Any]:
        """The same by the interpreter."""
        if self.case.is_formula:
            return self.scope["op"].reference  # type: ignore[no-any-return]

        def computed(*args: Any, **kwargs: Any) -> Any:
            definition, inputs, keywords = generic.resolve(*args, **kwargs)
            return StructuredOp(definition).reference(*inputs, **keywords)

        return computed

    def compiled_op(self, arguments: dict[str, Any]) -> StructuredOp:
        """The op whose entry a call of it runs."""
        if self.case.is_formula:
            return self.scope["op"]  # type: ignore[no-any-return]
        made: list[StructuredOp] = []

        def note(*args: Any, **kwargs: Any) -> None:
            made.append(op_of(generic.resolve(*args, **kwargs)[0]))

        self.program(alone(self.case), "note", note)(**arguments)
        return made[0]


def check_seed(seed: int, folder: Path, *, jit: bool = False, tally: Tally | None = None) -> None:
    """The op of a seed, alone and in a program, for two calls with other sizes.

    Raises
    ------
    AssertionError
        If anything differs from the reference, is left to Python, or is a fault of fusejit.
    """
    tally = Tally() if tally is None else tally
    cases = [make_op(seed, sizes) for sizes in (0, 1)]
    assert cases[0].definition == cases[1].definition
    folder.mkdir(exist_ok=True)
    with warnings.catch_warnings(), no_faults(folder):
        warnings.simplefilter("ignore")
        _Check(cases, folder, jit, tally).run()
    tally.ops += 1
    tally.jitted += jit


class _Check:
    def __init__(self, cases: Sequence[OpCase], folder: Path, jit: bool, tally: Tally) -> None:
        self.cases = cases
        self.folder = folder
        self.jit = jit
        self.tally = tally

    def run(self) -> None:
        """All calls."""
        loaded = _Loaded(self.cases[0], "jitted" if self.jit else "unjitted")
        program = alone(self.cases[0])
        with _environment("FUSEJIT_UNJITTED", "0" if self.jit else "1"), _environment(
            "FUSEJIT_DUMP_DIR", str(self.folder)
        ):
            op = loaded.compiled_op(self.cases[0].arguments)
            variants = op.entry.variants
        by_reference = loaded.program(program, "alone", loaded.reference)
        by_kernel = loaded.program(program, "alone", loaded.op)
        good: list[tuple[OpCase, Any]] = []
        for at, case in enumerate(self.cases):
            where = f"call {at} alone"
            args = tuple(case.arguments.values())
            expected = run(by_reference, args)
            declined = sum(variants.declined.values())
            actual = run(by_kernel, args)
            self.compare(program, case, expected, actual, where)
            self.tally.calls += 1
            if expected.error is not None:
                self.tally.outcomes[f"raises {type(expected.error).__name__}"] += 1
                continue
            self.tally.outcomes["computed"] += 1
            assert sum(variants.declined.values()) == declined, f"{where}: {variants.declined}"
            assert variants.compiled, f"{where}: nothing was compiled"
            good.append((case, expected.result))
        if good:
            self._in_program(loaded, good)

    def _in_program(self, loaded: _Loaded, calls: Sequence[tuple[OpCase, Any]]) -> None:
        case, result = calls[0]
        results = result if isinstance(result, tuple) else (result,)
        program = surrounded(case, [np.ndim(r) for r in results])
        expected_of = loaded.program(program, "program", loaded.reference)
        function = loaded.program(program, "program", loaded.op)
        decorated = decorate(
            function, jit=self.jit, fullgraph=True, fusion=FUSIONS[0], reports=self.folder
        )
        otherwise = FusedOtherwise(function, FUSIONS[1:])
        for at, (case, result) in enumerate(calls):
            results = result if isinstance(result, tuple) else (result,)
            args = (*case.arguments.values(), *store_arrays(program, results).values())
            expected = run(expected_of, args)
            known = decorated.variants.compiled
            actual = run(decorated, args)
            where = f"call {at} in a program"

            def compare(outcome: Outcome, how: str, expected: Outcome = expected, where: str = where) -> None:
                self.compare(program, case, expected, outcome, f"{where}, {how}\n{program.source}")

            compare(actual, FUSIONS[0])
            self.tally.calls += 1
            assert not decorated.variants.declined, f"{where}: {decorated.variants.declined}"
            if expected.error is not None:
                continue
            if len(decorated.variants.compiled) > len(known):
                variant = decorated.variants[0]
                for stage, graph in (
                    ("traced", variant.traced.graph),
                    ("fused", variant.schedule.graph),
                ):
                    compare(run(interpreted(variant.traced, graph, function), args), f"{stage} graph")
            for fusion in FUSIONS[1:]:
                if otherwise.check(fusion, decorated.variants, args, compare):
                    self.tally.outcomes[f"in a program, {fusion}"] += 1
                else:
                    self.tally.outcomes[f"other variant for {fusion}"] += 1

    def compare(
        self, program: OpProgram, case: OpCase, expected: Outcome, actual: Outcome, where: str
    ) -> None:
        """Results, errors and arguments afterwards."""
        if expected.error is not None:
            if type(actual.error) is not type(expected.error):
                raise AssertionError(
                    f"{where}: {actual.error!r} instead of {expected.error!r}"
                ) from actual.error
        elif actual.error is not None:
            raise AssertionError(f"{where}: {actual.error!r}") from actual.error
        else:
            items = [o.result if type(o.result) is tuple else (o.result,) for o in (expected, actual)]
            assert len(items[0]) == len(items[1]), where
            for at, (e, a, tolerance) in enumerate(zip(*items, program.returned, strict=True)):
                assert_same(e, a, _bound(e, tolerance), f"{where}: result {at}")
        tolerances = dict(program.store_tolerances)
        by_name = dict(zip(case_outputs(case), case.results, strict=False))
        names = [*case.arguments, *(name for name, _ in program.stores)]
        for name, e, a in zip(names, expected.args, actual.args, strict=True):
            tolerance = tolerances.get(name, 0.0)
            if name in case.outs and expected.error is None:
                tolerance = by_name[name].tolerance
            assert_same(e, a, _bound(e, tolerance), f"{where}: argument {name} afterwards")


def case_outputs(case: OpCase) -> list[str]:
    """The names of the outputs."""
    return list("OPQ"[: len(case.results)])


def _bound(expected: Any, tolerance: float) -> Bound:
    """A tolerance, but for zeros' signs and the order of axes in memory."""
    is_float = np.asarray(expected).dtype.kind in "fc"
    return Bound(absolute=tolerance if is_float else 0.0, zero_sign=False, order=False)


def describe(seed: int) -> str:
    """The op of a seed with its calls, and its program."""
    lines = [f"seed {seed}"]
    for sizes in (0, 1):
        case = make_op(seed, sizes)
        if not sizes:
            lines += [case.definition, case.call]
        for name, value in case.arguments.items():
            array = np.asarray(value)
            lines.append(f"call {sizes}: {name}: {array.dtype}{array.shape}, strides {array.strides}")
    return "\n".join(lines)
