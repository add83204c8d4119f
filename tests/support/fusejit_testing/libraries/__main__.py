"""``python -m fusejit_testing.libraries NAME... [--tests PATTERN] [--report FILE]``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fusejit_testing.libraries.copies import make_copy
from fusejit_testing.libraries.report import findings, json_report, text_report
from fusejit_testing.libraries.runner import Settings, judge_library


def main(arguments: list[str]) -> int:
    """Judge libraries; 1 if anything was found."""
    parser = argparse.ArgumentParser(
        prog="python -m fusejit_testing.libraries", description=__doc__
    )
    parser.add_argument(
        "names", nargs="+", metavar="NAME", help="numpy.polynomial, scipy.signal .."
    )
    parser.add_argument("--tests", default="", metavar="PATTERN", help="regular expression")
    parser.add_argument("--files", default="", metavar="PATTERN", help="the same of test files")
    parser.add_argument("--jobs", type=int, default=1, help="subprocesses at a time")
    parser.add_argument("--limit-seconds", type=float, default=120, help="a longer test hangs")
    parser.add_argument("--seconds-per-test", type=float, default=30, help="for judging its calls")
    parser.add_argument("--report", type=Path, help="a file: text, or JSON if it ends so")
    parser.add_argument(
        "--folder", type=Path, default=Path(".libraries"), help="copies and results; goes on there"
    )
    given = parser.parse_args(arguments)
    folder = given.folder.resolve()
    settings = Settings(
        folder, given.tests, given.files, given.jobs, given.limit_seconds, given.seconds_per_test
    )
    records = {}
    for name in given.names:
        copy = make_copy(name, folder / "copies")
        records[name] = judge_library(copy, settings, log=lambda line: print(line, flush=True))
    text = text_report(records)
    print(text)
    if given.report is not None:
        is_json = given.report.suffix == ".json"
        given.report.write_text(json_report(records) if is_json else text)
    return int(any(findings(found) for found in records.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
