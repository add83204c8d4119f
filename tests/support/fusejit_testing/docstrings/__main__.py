"""``python -m fusejit_testing.docstrings PACKAGE... [--names PATTERN] [--seconds S] [--jitted]``.

The examples in the docstrings of packages as programs: each whole, and cut after some of its
statements, which then make arguments. Undecorated and decorated must agree, twice. Ends with a
table and the findings; the exit status says whether there are any.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections import Counter


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fusejit_testing.docstrings")
    parser.add_argument("packages", nargs="+", help="such as numpy, numpy.linalg, scipy.signal")
    parser.add_argument("--names", default="", help="a regular expression for names of objects")
    parser.add_argument("--seconds", type=float, default=20.0, help="for one form of an example")
    parser.add_argument("--jitted", action="store_true", help="compile (slow)")
    options = parser.parse_args()
    os.environ.setdefault("FUSEJIT_TIERING", "0")
    os.environ.setdefault("MPLBACKEND", "Agg")
    if not options.jitted:
        os.environ["FUSEJIT_UNJITTED"] = "1"
    from fusejit_testing.docstrings.examples import documented, example_of
    from fusejit_testing.docstrings.judge import judged

    os.chdir(tempfile.mkdtemp(prefix="fusejit-docstrings-"))  # some examples write files
    findings, rows = [], []
    for package in options.packages:
        count: Counter[str] = Counter()
        for name, obj in documented(package):
            example = example_of(name, obj) if re.search(options.names, name) else None
            if example is None:
                continue
            count["examples"] += 1
            for found in judged(example, options.seconds):
                count["forms"] += 1
                if found.kind is not None:
                    count[found.kind] += 1
                    findings.append(found)
                    print(f"{found.kind:8} {found.name} cut at {found.cut}: {found.what}")
                    sys.stdout.flush()
        rows.append((package, count))
    print(
        f"{'package':24}{'examples':>10}{'forms':>8}{'wrong':>8}{'refused':>9}{'error':>8}{'hang':>6}"
    )
    for package, count in rows:
        figures = [count[k] for k in ("examples", "forms", "wrong", "refused", "error", "hang")]
        widths = zip(figures, (10, 8, 8, 9, 8, 6), strict=True)
        print(f"{package:24}" + "".join(f"{figure:>{width}}" for figure, width in widths))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
