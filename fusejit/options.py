"""Options, and the one table of environment variables.

| variable                | meaning                                             | default          |
|-------------------------|-----------------------------------------------------|------------------|
| FUSEJIT_DISABLE         | 1: decorated functions run as plain NumPy           | 0                |
| FUSEJIT_WARN            | 0: no `FuseWarning` is shown                        | 1                |
| FUSEJIT_CACHE           | 0: no disk cache                                    | 1                |
| FUSEJIT_CACHE_DIR       | folder of the disk cache                            | ~/.cache/fusejit |
| FUSEJIT_CACHE_SIZE      | limit of the disk cache in MiB                      | 256              |
| FUSEJIT_NUM_THREADS     | threads a kernel may use                            | usable cores     |
| FUSEJIT_FUSION          | default fusion policy: auto, aggressive, none       | auto             |
| FUSEJIT_COMPILE_SECONDS | limit of processor time for compiling a function    | 10               |
| FUSEJIT_DUMP            | print graph,fused,schedule,loops,source,all; passes |                  |
| FUSEJIT_DUMP_DIR        | folder for the IR before a failing pass             | temporary folder |
| FUSEJIT_TIERING         | 0: compile even where no gain is predicted          | 1                |
| FUSEJIT_UNJITTED        | 1: kernels run as plain Python, for debuggers       | 0                |
| FUSEJIT_NO_LIBMVEC      | 1: no vector math library                           | 0                |
| FUSEJIT_NO_SVML         | 1: NumPy's SVML is not used                         | 0                |
| FUSEJIT_LAZY            | 0: `fusejit.numpy` is NumPy under another name      | 1                |
| FUSEJIT_LAZY_COMPILES   | 0: NumPy runs what `fusejit.numpy` has deferred     | 1                |
| FUSEJIT_LAZY_THRESHOLD  | bytes from which `fusejit.numpy` makes an `Array`   | 1048576          |
| FUSEJIT_LAZY_WINDOW     | operations that `fusejit.numpy` may defer           | 64               |
| FUSEJIT_REPORT          | 1: print what `fusejit.numpy` did when Python exits | 0                |
| FUSEJIT_VECTOR_BITS     | widest vector registers to use (128, 256, 512)      | the machine's    |
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from fusejit.dataclass import dataclass

if TYPE_CHECKING:
    from pathlib import Path

FUSIONS = ("auto", "aggressive", "none")
"""Policies that have a name (`fusejit.fuse.grouping.policy`)."""

COMPILE_SECONDS = 10.0
"""Processor time that compiling a function may take by default."""


@dataclass(frozen=True, slots=True)
class Options:
    """How one decorated function is compiled.

    Attributes
    ----------
    enabled : bool
        False: the function runs as plain NumPy.
    fullgraph : bool
        True: a fallback is an error instead of a warning.
    warn : bool
        False: no `FuseWarning` is shown.
    jit : bool
        False: kernels run unjitted, as plain Python.
    cache : bool
        Whether compiled kernels are kept on disk.
    cache_dir : Path or None
        Folder of the disk cache.
    cache_bytes : int
        Bound of the disk cache.
    num_threads : int or None
        Threads a kernel may use; None for the usable cores.
    fusion : str or callable
        The policy: ``"auto"``, ``"none"``, ``"aggressive"``, or a function that decides about each
        legal fold (`fusejit.fuse.grouping.policy`).
    tiering : bool
        True: Python runs what costs more compiled than it gains (`fusejit.tiering.cost_estimate`).
    is_segment : bool
        True: the function is a segment of one that runs already, or is called between segments.
        Text of its numbers is then made in Python: they differ from call to call.
    is_op : bool
        True: the function is one structured op: nothing in it can be compiled without the rest.
    is_general : bool
        True: extents of 1 are symbols like others, so that they need no variant, and a variant
        beyond ``max_variants`` replaces the oldest one.
    formats_in_python : bool
        True: text of numbers is made in Python; else the first such number is a constant.
    varying : frozenset of str
        Parameters that are given lists of ever other lengths, short ones too.
    on_error : str
        How to compile a segment that may raise after a store and whose bound names are read
        afterwards. ``"undo"``: roll the stores back and let NumPy run the segment.
        ``"per_statement"``: compile each statement as a segment. Empty: no name is read afterwards.
    max_variants : int
        Variants of one function (by dtypes, ranks, layouts, guards) before calls fall back.
    compile_seconds : float
        Processor time that one compile may take; all parts of a function together have as much.
    schedule : callable or None
        Given a traced stage, the graph after the steps of a recipe (`fusejit.transform`).
    dump : frozenset of str
        Stages that are printed.
    dump_dir : Path or None
        Where the IR before a failing pass is saved; None for the folder of temporary files.
    """

    enabled: bool = True
    fullgraph: bool = False
    warn: bool = True
    tiering: bool = True
    is_segment: bool = False
    is_op: bool = False
    is_general: bool = False
    formats_in_python: bool = False
    varying: frozenset[str] = frozenset()
    on_error: str = ""
    jit: bool = True
    cache: bool = True
    cache_dir: Path | None = None
    cache_bytes: int = 256 << 20
    num_threads: int | None = None
    fusion: Any = "auto"
    max_variants: int = 32
    compile_seconds: float = COMPILE_SECONDS
    schedule: Any = None
    dump: frozenset[str] = frozenset()
    dump_dir: Path | None = None


def check_fusion(fusion: Any) -> None:
    """Refuse what is no policy.

    Raises
    ------
    ValueError
        If there is no policy of this name.
    TypeError
        If it is neither a name nor callable.
    """
    if isinstance(fusion, str):
        if fusion not in FUSIONS:
            names = ", ".join(repr(name) for name in FUSIONS)
            raise ValueError(f"fusion={fusion!r} is not one of {names}, nor a function")
    elif not callable(fusion):
        raise TypeError(f"fusion must be a name or a function, not {type(fusion).__name__}")


def _flag(name: str, default: str) -> bool:
    return os.environ.get(name, default) not in ("", "0")


def _path(text: str | None) -> Path | None:
    if not text:
        return None
    from pathlib import Path  # slow to import

    return Path(text)


def _seconds(name: str, given: float | None) -> float:
    """The number given, or that of the environment, if it is one; else the default."""
    if given is not None:
        return given
    try:
        asked = float(os.environ.get(name, ""))
    except ValueError:
        return COMPILE_SECONDS
    return asked if asked >= 0 else COMPILE_SECONDS


def options_from_environment(
    *,
    enabled: bool = True,
    fullgraph: bool = False,
    warn: bool = True,
    fusion: Any = None,
    compile_seconds: float | None = None,
    schedule: Any = None,
    tiering: bool = True,
) -> Options:
    """Options as the environment asks for them at this moment."""
    directory = os.environ.get("FUSEJIT_CACHE_DIR")
    threads = os.environ.get("FUSEJIT_NUM_THREADS", "")
    size = os.environ.get("FUSEJIT_CACHE_SIZE", "")
    dump = os.environ.get("FUSEJIT_DUMP", "")
    dump_dir = os.environ.get("FUSEJIT_DUMP_DIR")
    return Options(
        enabled=enabled and not _flag("FUSEJIT_DISABLE", "0"),
        fullgraph=fullgraph,
        warn=warn and _flag("FUSEJIT_WARN", "1"),
        tiering=tiering and _flag("FUSEJIT_TIERING", "1"),
        jit=not _flag("FUSEJIT_UNJITTED", "0"),
        cache=_flag("FUSEJIT_CACHE", "1"),
        cache_dir=_path(directory),
        cache_bytes=(int(size) if size.isdigit() else 256) << 20,
        num_threads=int(threads) if threads.isdigit() and int(threads) > 0 else None,
        fusion=os.environ.get("FUSEJIT_FUSION", "auto") if fusion is None else fusion,
        compile_seconds=_seconds("FUSEJIT_COMPILE_SECONDS", compile_seconds),
        schedule=schedule,
        dump=frozenset(part.strip() for part in dump.split(",") if part.strip()),
        dump_dir=_path(dump_dir),
    )
