"""Faults of fusejit itself: what goes wrong in a stage becomes an `InternalError` with a report.

The report is a file that can be sent to us: the passes that were still to come and the IR in front
of them, where there is any, then versions and the traceback. The IR can be read back.
"""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType

from fusejit.errors import CutShort, FusejitError, InternalError, VerificationError
from fusejit.options import Options
from fusejit.support import budget
from fusejit.support.interrupts import frames_below, is_from_handler
from fusejit.support.locks import WorkLock, cut_short

_UNMAPPED = ("failed to map segment", "cannot map", "cannot allocate memory")  # of dlopen
PACKAGES = ("fusejit", "numpy", "numba", "llvmlite")


class Watched:
    """A stage: an exception of fusejit's own that leaves it becomes an `InternalError`.

    Parameters
    ----------
    name : str
        The function that is compiled.
    options : Options
        Tell the folder of reports.
    passing : tuple of type
        Exceptions that are no faults, besides `FusejitError`.
    """

    def __init__(
        self, name: str, options: Options, passing: tuple[type[Exception], ...] = ()
    ) -> None:
        self._name = name
        self._options = options
        self._passing = passing
        self._remaining: Sequence[str] = ("start",)
        self._text: Callable[[], str] | None = None
        self._lock = WorkLock()

    def enter(self, remaining: Sequence[str], text: Callable[[], str] | None = None) -> None:
        """Note the passes that are to come, the next one first, and how to print the IR.

        Raises `OutOfTime` if the compile has no time left for them.
        """
        self._remaining = remaining
        self._text = text
        budget.enter(remaining[0])

    def __enter__(self) -> Watched:
        if cut_short():
            raise CutShort(cut_short())
        self._lock.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        place: TracebackType | None,
    ) -> None:
        self._lock.release()
        if not isinstance(error, Exception) or isinstance(error, self._passing):
            return  # KeyboardInterrupt is no fault
        if isinstance(error, FusejitError) and not isinstance(error, VerificationError):
            return
        if is_from_handler(error) or (isinstance(error, RecursionError) and _is_nearly_full()):
            return  # the user's: of a signal, or of a program that is that deep
        raise fault(self._name, self._options, error, self._remaining, self._text) from error


def fault(
    name: str,
    options: Options,
    error: Exception,
    remaining: Sequence[str],
    text: Callable[[], str] | None = None,
) -> InternalError:
    """Write a report; the error says where it is. A lack of memory is no fault, and has none.

    Parameters
    ----------
    name : str
        The function that is compiled.
    options : Options
    error : Exception
        What was raised.
    remaining : sequence of str
        The stage that failed, and those to come.
    text : callable, optional
        Prints the IR before it.
    """
    if is_out_of_memory(error):
        return InternalError(
            f"memory does not suffice to load or run what compiles {name!r} ({_shown(error)}); "
            "raise the limit of the process, or use fuse_jit(enabled=False)"
        )
    directory = options.dump_dir if options.dump_dir and options.dump_dir.is_dir() else None
    try:
        with tempfile.NamedTemporaryFile(
            "w",
            encoding="utf-8",
            errors="backslashreplace",
            suffix=".fusejit",
            prefix=f"{name}-",
            dir=directory,
            delete=False,
        ) as file:
            file.writelines(f"{line}\n" for line in _report(error, remaining, text))
        where = f"is in {file.name}"
    except (OSError, ValueError) as failed:  # ValueError: a name that no file system can spell
        where = f"could not be saved ({failed})"
    return InternalError(
        f"pass {remaining[0]!r} failed on {name!r} ({_shown(error)}); a report {where}. "
        "This is a fault of fusejit: please send us that file. "
        "fuse_jit(enabled=False) runs the function as plain NumPy."
    )


def is_out_of_memory(error: BaseException | None) -> bool:
    """Whether an exception, or one that led to it, is a lack of memory: libraries are mapped."""
    while error is not None:
        if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
            return True
        text = str(error).lower()
        if isinstance(error, OSError | ImportError) and any(t in text for t in _UNMAPPED):
            return True
        error = error.__cause__ or error.__context__
    return False


def _is_nearly_full() -> bool:
    """Whether more than half of the frames that Python allows are in use."""
    return 2 * sum(1 for _ in frames_below()) > sys.getrecursionlimit()


def _shown(error: Exception) -> str:
    text, _, more = str(error).partition("\n")
    is_short = len(text) <= 80 and not more
    return f"{type(error).__name__}: {text}" if text and is_short else type(error).__name__


def _report(
    error: Exception, remaining: Sequence[str], text: Callable[[], str] | None
) -> Iterator[str]:
    """The lines of a report: all but the IR are comments to the parser."""
    yield f"# passes to run: {', '.join(remaining)}"
    if text is not None:
        try:
            yield text()
        except Exception as failed:  # a graph that cannot be printed is told as well
            yield f"# the IR cannot be printed: {type(failed).__name__}"
    yield "#"
    yield from (f"# {line}" for line in versions())
    yield "#"
    for part in traceback.format_exception(error):
        yield from (f"# {line}" for line in part.splitlines())


def versions() -> Iterator[str]:
    """What the machine runs, one line each. Imports none of the packages."""
    from importlib import metadata  # slow to import

    for package in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            yield f"{package} {metadata.version(package)}"
    yield f"Python {sys.version.split()[0]} ({platform.python_implementation()})"
    yield f"{platform.platform()}, {os.cpu_count()} processors"
