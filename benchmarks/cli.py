"""The command line.

Exit status: 0 all right; 1 a wrong result or a failing engine (JAX, PyTorch and Numba excepted);
2 wrong usage; 3 with ``--bars``, a bar was missed or could not be measured.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from benchmarks import bars, report
from benchmarks.compile_budget import budget_line
from benchmarks.engines import DEFAULT_ENGINES, ENGINES, FUSION_ENGINES, PROGRAM_ENGINES
from benchmarks.first_call import measure_first_call
from benchmarks.gauge import CoreProbe, Gauge
from benchmarks.machine import machine_facts
from benchmarks.markdown import markdown
from benchmarks.program_report import print_programs
from benchmarks.progress import RunProgress
from benchmarks.records import CaseRecord, FirstCallRecord, RunRecord, from_json, save
from benchmarks.runner import Runner
from benchmarks.selection import SUITES, Case, select_cases, select_workloads
from benchmarks.workload import DTYPES, Workload
from benchmarks.workloads import PROGRAMS, WORKLOADS

ROUNDS = 7
QUICK_ROUNDS = 3
QUICK_SIZES = (100, 10_000, 1_000_000)
BAR_ENGINES = ("numpy", "fusejit", "copy", *bars.RIVALS)
SUITE_PARTS: dict[str, tuple[bars.Part, ...]] = {"fusion": ("B",), "programs": ("C",)}
SUITE_ENGINES = {"fusion": FUSION_ENGINES, "programs": PROGRAM_ENGINES}
OTHER_SUITES = {
    "namespace": "benchmarks.namespace_times",
    "structured": "benchmarks.structured_times",
}
"""Suites that have a table of their own, by the module that prints it."""

FIRST_CALL_SIZE = 1_000
FIRST_CALL_WORKLOADS = ("add", "chain8", "trig_mix", "sum_rows", "softmax", "heat_step", "sobel")
PIPE_WIDTH = 180


def parser() -> argparse.ArgumentParser:
    """All options."""
    p = argparse.ArgumentParser("benchmarks", description="fusejit against NumPy and others.")
    p.add_argument(
        "--suite", choices=(*SUITES, *OTHER_SUITES), help="which workloads (default all)"
    )
    p.add_argument("--family", type=_words, default=(), help="families, with commas")
    p.add_argument("--workload", type=_words, default=(), help="workloads, with commas")
    p.add_argument("--sizes", type=_sizes, default=(), help="element counts: 100,1e6,10**7")
    p.add_argument("--dtypes", type=_dtypes, default=(), help=f"of {', '.join(DTYPES)}")
    p.add_argument("--engines", type=_words, default=(), help=f"of {', '.join(ENGINES)}")
    p.add_argument("--rounds", type=int, help=f"accepted rounds per case (default {ROUNDS})")
    p.add_argument("--quick", action="store_true", help="few sizes and rounds, no first calls")
    p.add_argument("--no-out", action="store_true", help="leave out the out= forms")
    p.add_argument("--no-first-call", action="store_true", help="leave out fresh processes")
    p.add_argument("--fresh-heap", action="store_true", help="do not settle malloc first")
    p.add_argument("--bars", action="store_true", help="hold the run against the speed bars")
    p.add_argument("--json", type=Path, metavar="FILE", help="write everything")
    p.add_argument("--load", type=Path, metavar="FILE", help="read a run instead of measuring")
    p.add_argument("--plot", type=Path, metavar="FILE.png", help="draw ratios over sizes")
    p.add_argument("--markdown", action="store_true", help="print the tables of the documents")
    p.add_argument("--list", action="store_true", help="list the workloads and stop")
    return p


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks; returns the exit status."""
    command = parser()
    options = command.parse_args(arguments)
    if options.suite in OTHER_SUITES:
        importlib.import_module(OTHER_SUITES[options.suite]).main(list(options.workload))
        return 0
    console = Console(width=None if sys.stdout.isatty() else PIPE_WIDTH, highlight=False)
    suite = options.suite or ("bars" if options.bars else "all")
    try:
        workloads = select_workloads(suite, options.family, options.workload)
    except ValueError as error:
        command.error(str(error))
    if options.list:
        _print_list(console, workloads)
        return 0
    if options.load:
        run = from_json(options.load.read_text())
        if not options.markdown:
            report.print_machine(console, run)
    else:
        has_sizes = options.bars or suite == "programs"
        sizes = options.sizes or (QUICK_SIZES if options.quick and not has_sizes else ())
        cases = select_cases(workloads, sizes, options.dtypes, not options.no_out)
        if not cases:
            command.error("no case is left; --list shows sizes and dtypes of the workloads")
        run = _measure(console, options, cases)
    return _present(console, options, run)


def _measure(console: Console, options: argparse.Namespace, cases: list[Case]) -> RunRecord:
    engines = options.engines or _default_engines(options)
    has_programs = any(case.workload.program for case in cases)
    if options.bars and not options.engines and not has_programs:
        cases = [_with_bar_engines(case) for case in cases]
    rounds = options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS)
    records: list[CaseRecord] = []
    first_calls: list[FirstCallRecord] = []
    with ExitStack() as stack:
        progress = stack.enter_context(RunProgress(Console(stderr=True), len(cases)))
        progress.at(f"starting {', '.join(engines)}")
        facts = machine_facts()
        probe = CoreProbe()
        stack.callback(probe.close)
        gauge = Gauge(probe)
        gauge.warm_up()
        runner = stack.enter_context(
            Runner(engines, gauge, rounds, options.fresh_heap, fresh_cache=has_programs)
        )
        run = RunRecord(
            facts, _plain(options), runner.versions, runner.unavailable, cases=(), first_calls=()
        )
        if not options.markdown:
            report.print_machine(console, run)
        for case in cases:
            name = f"{case.workload.name} {case.dtype} {case.size:,}"
            progress.at(name + (" out=" if case.with_out else ""))
            records.append(runner.run_case(case))
            progress.advance()
        has_fusejit = "fusejit" in runner.workers
    if has_fusejit and not (options.quick or options.no_first_call):
        first_calls = [measure_first_call("fusejit", case) for case in _first_call_cases(cases)]
    return RunRecord(
        run.machine, run.options, run.versions, run.unavailable, tuple(records), tuple(first_calls)
    )


def _present(console: Console, options: argparse.Namespace, run: RunRecord) -> int:
    if options.markdown:
        print(markdown(run), end="")
    else:
        if options.suite == "programs":
            print_programs(console, run)
        else:
            report.print_cases(console, run)
        console.print(budget_line(run.cases))
        report.print_first_calls(console, run)
        report.print_summary(console, run)
    report.print_wrong(console, run)
    missed = False
    if options.bars:
        results = bars.evaluate(run.cases, parts=SUITE_PARTS.get(options.suite, bars.PARTS))
        report.print_bars(console, results)
        missed = any(result.verdict != "pass" for result in results)
    if options.json:
        save(run, options.json)
    if options.plot:
        from benchmarks.plot import save_plot  # matplotlib takes a second to import

        save_plot(run, options.plot)
    if run.own_failures() or any(entry.error for entry in run.first_calls):
        return 1
    return 3 if missed else 0


def _default_engines(options: argparse.Namespace) -> tuple[str, ...]:
    if options.bars and options.suite != "programs":
        return BAR_ENGINES
    return SUITE_ENGINES.get(options.suite, DEFAULT_ENGINES)


def _with_bar_engines(case: Case) -> Case:
    """Rivals only where a bar compares with them: they compile for seconds in each case."""
    compared = case.size == bars.ROWS_SIZE and "fusion" in case.workload.tags
    engines = tuple(e for e in BAR_ENGINES if compared or e not in bars.RIVALS)
    return replace(case, engines=engines)


def _first_call_cases(cases: list[Case]) -> list[Case]:
    chosen = {case.workload.name: case.workload for case in cases}
    return [
        Case(chosen[name], FIRST_CALL_SIZE, chosen[name].dtypes[-1], with_out=False)
        for name in FIRST_CALL_WORKLOADS
        if name in chosen
    ]


def _print_list(console: Console, workloads: Sequence[Workload]) -> None:
    total = len(WORKLOADS) + len(PROGRAMS)
    console.print(f"{len(workloads)} of {total} workloads; suites: {', '.join(SUITES)}")
    for w in workloads:
        forms = ["numexpr"] * bool(w.numexpr) + ["out="] * bool(w.out_function)
        sizes = f"{w.sizes[0]:,} to {w.sizes[-1]:,}"
        console.print(
            f"{w.family:<15}{w.name:<42}{' '.join(w.dtypes):<17}{sizes:<21}{' '.join(forms)}"
        )


def _plain(options: argparse.Namespace) -> dict[str, object]:
    return {
        name: str(value) if isinstance(value, os.PathLike) else value
        for name, value in vars(options).items()
    }


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _sizes(text: str) -> tuple[int, ...]:
    sizes = tuple(_size(word) for word in _words(text))
    if any(size < 1 for size in sizes):
        raise argparse.ArgumentTypeError("sizes are positive")
    return sizes


def _size(word: str) -> int:
    base, _, exponent = word.partition("**")
    return int(base) ** int(exponent) if exponent else int(float(base))


def _dtypes(text: str) -> tuple[str, ...]:
    unknown = set(_words(text)) - set(DTYPES)
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown dtypes: {', '.join(sorted(unknown))}")
    return _words(text)
