"""One finding again: ``python -m fusejit_testing.libraries.replay FILE [FOLDER]``.

Calls the function of a pickle that the judge wrote, undecorated and fused, and prints how they
differ. The folder is that of the judge, with the copies in it.
"""

from __future__ import annotations

import importlib
import pickle
import sys
import tempfile
from pathlib import Path

from fusejit_testing.libraries.calls import CallJudge
from fusejit_testing.libraries.copies import NUMPY_COPY
from fusejit_testing.libraries.decorated import Decorated, Entry, install
from fusejit_testing.libraries.describe import describe
from fusejit_testing.libraries.records import Finding


def replay(path: Path, copies: Path) -> list[Finding]:
    """Judge the call again; what is found now."""
    sys.path.insert(0, str(copies))
    judge = CallJudge(Path(tempfile.gettempdir()) / "fusejit-replayed")
    with path.open("rb") as file:
        name: str = pickle.load(file)
        module = name.partition(":")[0]
        decorated = Decorated([package_of(module)], copies, judge)
        install(decorated)
        importlib.import_module(module)
        args, kwargs = pickle.load(file)
    entry = entry_named(decorated, name)
    print(f"{name}({describe(args, kwargs)})")
    with judge.judging():
        try:
            print("undecorated:", judge(entry, args, kwargs))
        except Exception as error:
            print(f"undecorated: {type(error).__name__}: {error}")
    return [*judge.findings.values()]


def entry_named(decorated: Decorated, name: str) -> Entry:
    """The decorated function of a name.

    Raises
    ------
    LookupError
        If the library does not have it.
    """
    for entry in decorated.entries.values():
        if entry.name == name:
            return entry
    raise LookupError(f"no function {name}")


def package_of(module: str) -> str:
    """The package that was judged, as far as its first name tells."""
    first, _, inner = module.partition(".")
    return f"{first}.{inner.partition('.')[0]}" if first == NUMPY_COPY else first


def main(path: str, folder: str = ".libraries") -> int:
    """Print what is found; 1 if anything is."""
    home = Path(folder).resolve()
    file = Path(path) if Path(path).exists() else home / "pickles" / path
    found = replay(file, home / "copies")
    for finding in found:
        print(f"{finding.kind.value}: {finding.function}: {finding.what}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
