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
from fusejit.dataclass import replace
from fusejit.ir.definitions.definition import Definition
from fusejit.structured.generic import generic, op_of
from fusejit.structured.op import StructuredOp
from fusejit_testing.compare import Bound, assert_same
from fusejit_testing.fused_otherwise import FusedOtherwise
from fusejit_testing.oracle import Outcome, _environment, decorate, interpreted, no_faults, run
from fusejit_testing.structured.by_points import results_by_points
from fusejit_testing.structured.op_case import OpCase
from fusejit_testing.structured.op_maker import make_op
from fusejit_testing.structured.surroundings import OpProgram, alone, store_arrays, surrounded

FUSIONS: tuple[str, ...] = ("auto", "none", "aggressive")


@dataclass(slots=True)
class Tally:
    """What became of ops."""

    ops: int = 0
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

    def compiled_op(self, arguments: dict[str, Any]) -> Any:
        """The decorated function that a call of the op runs."""
        op = self.scope["op"] if self.case.is_formula else op_of(self.definition(arguments))
        return op.entry

    def definition(self, arguments: dict[str, Any]) -> Definition:
        """The op as data."""
        if self.case.is_formula:
            return self.scope["op"].definition  # type: ignore[no-any-return]
        made: list[Definition] = []

        def note(*args: Any, **kwargs: Any) -> None:
            made.append(generic.resolve(*args, **kwargs)[0])

        self.program(alone(self.case), "note", note)(**arguments)
        return made[0]


def check_seed(seed: int, folder: Path, *, jit: bool = False, tally: Tally | None = None) -> None:
    """The op of a seed in a program, and for some seeds alone, and with other sizes.

    The program is compiled under one policy, and what was traced is fused under another one too and
    interpreted; for some seeds it is compiled under all of them.

    Raises
    ------
    AssertionError
        If anything differs from the reference, is left to Python, or is a fault of fusejit.
    """
    tally = Tally() if tally is None else tally
    is_whole = seed % 20 == 0 and not jit
    has_more = is_whole or seed % 8 == 1
    cases = [make_op(seed, sizes) for sizes in range(1 + has_more)]
    at = seed % 3
    others = FUSIONS[at + 1 :] + FUSIONS[:at]
    assert cases[0].definition == cases[-1].definition
    folder.mkdir(exist_ok=True)
    with warnings.catch_warnings(), no_faults(folder):
        warnings.simplefilter("ignore")
        fusions = [FUSIONS[at], *(others if is_whole else [others[seed // 3 % 2]])]
        check = _Check(cases, folder, jit, tally, fusions)
        check.run(alone_too=has_more or jit, is_whole=is_whole)
    tally.ops += 1
    tally.jitted += jit


class _Check:
    """One op under check; ``fusions`` are the policies, the first one that of all programs."""

    def __init__(
        self,
        cases: Sequence[OpCase],
        folder: Path,
        jit: bool,
        tally: Tally,
        fusions: Sequence[str],
    ) -> None:
        self.cases = cases
        self.folder = folder
        self.jit = jit
        self.tally = tally
        self.fusions = fusions

    def run(self, *, alone_too: bool, is_whole: bool) -> None:
        """All calls."""
        loaded = _Loaded(self.cases[0], "jitted" if self.jit else "unjitted")
        program = alone(self.cases[0])
        by_reference = loaded.program(program, "alone", loaded.reference)
        outcomes = [run(by_reference, tuple(c.arguments.values())) for c in self.cases]
        for case, outcome in zip(self.cases, outcomes, strict=True):
            error = outcome.error
            if isinstance(error, ValueError) and 0 in case.sizes.values() and not case.flaw:
                case.flaw = "an axis gives an empty dim another extent"
            if error is not None:
                self.tally.outcomes[f"{case.flaw or 'no flaw'}: {type(error).__name__}"] += 1
                if not isinstance(error, (TypeError, ValueError)):
                    raise AssertionError(f"by reference: {error!r}") from error
            if (error is None) != (not case.flaw):
                raise AssertionError(f"by reference: {error!r} with {case.flaw or 'no flaw'}")
        if not self.jit and not self.cases[0].flaw and self.cases[0].seed % 5 < 2:
            self._by_points(loaded, outcomes)
        if alone_too or self.cases[0].flaw:
            self._alone(loaded, outcomes)
        calls = [
            (case, outcome.result)
            for case, outcome in zip(self.cases, outcomes, strict=True)
            if outcome.error is None
        ]
        if calls:
            self._in_program(loaded, calls, is_whole)

    def _by_points(self, loaded: _Loaded, outcomes: Sequence[Outcome]) -> None:
        """The reference against a loop over all points."""
        dims = loaded.definition(self.cases[0].arguments).dims
        for at, (case, outcome) in enumerate(zip(self.cases, outcomes, strict=True)):
            if 0 in case.sizes.values():
                continue  # an axis that solves for the dim may have the dim's extent 1
            with np.errstate(all="ignore"):
                expected = results_by_points(case, dims)
            given = outcome.result if isinstance(outcome.result, tuple) else (outcome.result,)
            for k, (e, a, result) in enumerate(zip(expected, given, case.results, strict=True)):
                room = 0.0
                if result.tolerance or e.dtype.kind == "c":
                    grown = np.abs(e[np.isfinite(e)]).max(initial=0.0)  # ``O[()] += abs(O[()])``
                    room = max(result.tolerance, 1e-5 * max(result.bound, float(grown)))
                assert_same(e, np.asarray(a), _bound(e, room), f"call {at} by points: result {k}")
            self.tally.outcomes["by points"] += 1

    def _alone(self, loaded: _Loaded, outcomes: Sequence[Outcome]) -> None:
        """The call itself."""
        program = alone(self.cases[0])
        by_kernel = loaded.program(program, "alone", loaded.op)
        with (
            _environment("FUSEJIT_UNJITTED", "0" if self.jit else "1"),
            _environment("FUSEJIT_DUMP_DIR", str(self.folder)),
        ):
            flaw, arguments = self.cases[0].flaw, self.cases[0].arguments
            variants = None if flaw else loaded.compiled_op(arguments).variants
        for at, (case, expected) in enumerate(zip(self.cases, outcomes, strict=True)):
            where = f"call {at} alone"
            actual = run(by_kernel, tuple(case.arguments.values()))
            self._require_no_fault(where)
            self.compare(program, case, expected, actual, where)
            self.tally.outcomes["alone"] += 1
            if variants is not None and case.arguments:
                assert not variants.fallbacks, f"{where}: {variants.fallbacks}"
                assert variants.compiled, f"{where}: nothing was compiled"

    def _in_program(
        self, loaded: _Loaded, calls: Sequence[tuple[OpCase, Any]], is_whole: bool
    ) -> None:
        case, result = calls[0]
        results = result if isinstance(result, tuple) else (result,)
        program = surrounded(case, [np.ndim(r) for r in results])
        expected_of = loaded.program(program, "program", loaded.reference)
        function = loaded.program(program, "program", loaded.op)
        first, *others = self.fusions
        decorated = decorate(
            function, jit=self.jit, fullgraph=True, fusion=first, reports=self.folder
        )
        otherwise = FusedOtherwise(function, others)
        for at, (case, result) in enumerate(calls):
            results = result if isinstance(result, tuple) else (result,)
            args = (*case.arguments.values(), *store_arrays(program, results).values())
            expected = run(expected_of, args)
            known = decorated.variants.compiled
            actual = run(decorated, args)
            where = f"call {at} in a program"
            compare = self._compare_with(program, case, expected, where)
            self._require_no_fault(where)
            compare(actual, first)
            self.tally.outcomes["in a program"] += 1
            assert not decorated.variants.fallbacks, f"{where}: {decorated.variants.fallbacks}"
            if expected.error is not None or not decorated.variants.compiled:
                continue
            variant = decorated.variants[0]
            if len(decorated.variants.compiled) > len(known):
                graphs = {first: variant.schedule.graph}
                if is_whole:
                    graphs["traced"] = variant.traced.graph
                elif not self.jit:
                    graphs |= {fusion: _fused(variant, fusion) for fusion in others}
                for stage, graph in graphs.items():
                    self.tally.outcomes[f"graph of {stage}"] += 1
                    outcome = run(interpreted(variant.traced, graph, function), args)
                    compare(outcome, f"graph of {stage}")
            for fusion in others if is_whole else ():
                if otherwise.check(fusion, decorated.variants, args, compare):
                    self.tally.outcomes[f"compiled, {fusion}"] += 1
                else:
                    self.tally.outcomes[f"compiled, {fusion}: served by another variant"] += 1

    def _compare_with(
        self, program: OpProgram, case: OpCase, expected: Outcome, where: str
    ) -> Callable[[Outcome, str], None]:
        def compare(outcome: Outcome, how: str) -> None:
            self.compare(program, case, expected, outcome, f"{where}, {how}\n{program.source}")

        return compare

    def _require_no_fault(self, where: str) -> None:
        for report in sorted(self.folder.iterdir()):
            raise AssertionError(f"{where}: a fault of fusejit:\n{report.read_text('utf-8')}")

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
            items = [
                o.result if type(o.result) is tuple else (o.result,) for o in (expected, actual)
            ]
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


def _fused(variant: Any, fusion: str) -> Any:
    """The graph of a variant, fused under another policy."""
    stage = variant.before.before.before
    made = replace(stage, options=replace(stage.options, fusion=fusion), seconds={}).fuse()
    return made.schedule.graph


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
            lines.append(
                f"call {sizes}: {name}: {array.dtype}{array.shape}, strides {array.strides}"
            )
    return "\n".join(lines)
