"""Words that the code has given up for the terms of the field: none comes back as a name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLACES = ("fusejit", "docs", "README.md", "CONTRIBUTING.md")

# A regular expression for what was written, and the term that stands for it. Words with a use in
# plain English are matched where they are names only: with a capital, an underscore or a dot.
RENAMED = {
    # calls and tiers
    r"[Cc]arriers?": "entry stub (`EntryStub`)",
    r"fusejit[./]calls": "dispatch/",
    r"Alternation": "InlineCache",
    r"(serve_(first|body|segments|python|retired|declined|waiting))": "EntryInstaller, install_...",
    r"DeclinedCalls|Declined|DECLINED": "fallback (`Fallback`)",
    r"\.declined": "fallbacks",
    r"Paying": "TieringPolicy",
    r"\.paying": "tiering",
    r"Settling": "SegmentProfiler",
    r"\.settling": "profiler",
    r"RetiredFunction|is_retired": "interpreted tier (`InterpretedFunction`)",
    r"\.retired": "interpreted",
    r"fusejit[./]profit": "tiering/",
    r"told\.py|Telling": "introspection.py, Diagnostics",
    r"\.telling": "diagnostics",
    r"guard\.asks|\.refuses": "CallGuard.rejects, would_reject",
    r"Openable|Segmenting|opened_(for_kinds|for_contents|singly)": "SplitRequest, FunctionSplitter",
    r"CallKinds|MOST_OF_A_KIND": "CallSignatures",
    r"\.?(run|is)_plain|starts_plain": "run_python, runs_interpreted, is_passthrough, ..",
    r"retires|FUSEJIT_RETIRE": "tiering, FUSEJIT_TIERING",
    r"_?MOST_[A-Z_]+": "MAX_..",
    # tracer
    r"TracedNumber": "SymbolicNumber",
    r"Captures": "CaptureRegistry",
    r"LoopSettling|_settle_\w+": "LoopFixpoint",
    r"fault_place|current_place": "fault_location, current_span",
    r"staged": "traced",
    r"EitherType|is_either|Either\[": "UnionScalar",
    r"MaybeTuple": "OptionalTuple",
    r"Restart": "Retrace",
    r"Fronts|ArraysBehind": "PrefixBuffers, LiveOutArrays",
    r"HANDLERS": "PRIMITIVES",
    r"@handles": "@primitive",
    r"[Ss]tand-ins?|stand_ins?": "sample inputs, traced values",
    r"own_source": "numpy_source",
    r"Unwritten": "UnsupportedLowering",
    r"UnsureNames|unsure": "possibly unbound",
    r'"not a number"': "unsupported_operand",
    r"Outside\(|outside reads": "captures (`Captures`)",
    # IR, fusion, code generation
    r"Placement|Located|located_values": "BufferAssignment, MemRef",
    r"DeferredPlace|deferred_places|needed_places": "DeferredSite, distinct_uses",
    r"needed_in_front|load_in_front|fold_when_it_pays": "needed_before_loop, fold_if_profitable",
    r"check %\w+": "assert",
    r"move_tests|ask_in_front|ask_checks_early": "rotate_loops, hoist_checks, hoist_assertions",
    r"seldom_wraps|wrap_seldom": "defer_index_wrap",
    r"near_remainders|hide_steps": "strength_reduce_mod, prevent_stride_versioning",
    r"read_parts": "split_concat_reads",
    r"[Tt]wins": "Python implementations",
    r"handful_\w+|few_(add|multiply|max|min)|lone_\w+": "sequential, small, scalar",
    r"[Jj]ournals?": "undo log",
    r"late_(values|errors|ops|checks|status|places)|is_late": "deferred",
    r"_Band|_Ring|num_bands": "shared loop, row block, ring buffer",
    r"[A-Z]\w+Writer|\w+_writer": "emitter, printer",
}
# a namespace like NumPy's, with names of its own
ALLOWED = re.compile(r"fusejit/numpy/|docs/numpy\.md")


def files() -> Iterator[Path]:
    """The sources and documents that use the glossary."""
    for place in PLACES:
        path = ROOT / place
        found = [path] if path.is_file() else sorted([*path.rglob("*.py"), *path.rglob("*.md")])
        yield from (p for p in found if not ALLOWED.search(p.relative_to(ROOT).as_posix()))


def test_names_are_those_of_the_glossary() -> None:
    patterns = {
        re.compile(("" if old[0] in '\\@"' else r"(?<!\w)") + f"(?:{old})" + r"(?!\w)"): new
        for old, new in RENAMED.items()
    }
    wrong = []
    for path in files():
        text = path.read_text("utf-8")
        for pattern, new in patterns.items():
            for match in pattern.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                where = f"{path.relative_to(ROOT)}:{line}"
                wrong.append(f"{where}: {match[0]!r}, the term is: {new}")
    assert not wrong, "\n".join(wrong)
