"""Copies of installed libraries, with their tests, for the judge to decorate.

A library is copied under its own name into a folder that comes first on ``sys.path``: sources are
copied, all else is linked. NumPy is what fusejit itself runs on, so its packages are copied into
another library, `NUMPY_COPY`, that stands for NumPy in the tests and takes all else from NumPy.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

NUMPY_COPY = "numpy_copy"
NUMPY_PACKAGES = ("lib", "linalg", "ma", "polynomial")

_TEST_FILES = ("test_*.py", "*_test.py")
_ANY = "|".join(NUMPY_PACKAGES)
_IMPORT = re.compile(rf"^(\s*(?:from|import)\s+)numpy\.({_ANY})\b", re.M)
_IMPORT_AS_NAME = re.compile(rf"^(\s*import\s+)numpy\.((?:{_ANY})(?:\.\w+)*)\s*$", re.M)
_NUMPY_ITSELF = re.compile(r"^(\s*)import numpy( as \w+)?\s*$", re.M)
_FROM_NUMPY = re.compile(r"^(\s*)from numpy import\b", re.M)


@dataclass(frozen=True, slots=True)
class Copy:
    """A copied package.

    Attributes
    ----------
    name : str
        As it was asked for: ``"numpy.lib"``.
    package : str
        As it is imported: ``"numpy_copy.lib"``.
    root : Path
        The folder to put on ``sys.path``.
    """

    name: str
    package: str
    root: Path

    @property
    def folder(self) -> Path:
        """The package's folder within the copy."""
        return self.root.joinpath(*self.package.split("."))

    def test_files(self) -> list[Path]:
        """The package's own test files by either of pytest's patterns, sorted."""
        found = {p for pattern in _TEST_FILES for p in self.folder.rglob(pattern)}
        return sorted(p for p in found if "tests" in p.parts)


def make_copy(name: str, root: Path) -> Copy:
    """Copy the library of a package into ``root``, unless that has been done.

    Raises
    ------
    ModuleNotFoundError
        If there is no such package.
    """
    library, _, inner = name.partition(".")
    spec = importlib.util.find_spec(library)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"no package named {library!r} is installed")
    source = Path(spec.submodule_search_locations[0])
    root.mkdir(parents=True, exist_ok=True)
    if library == "numpy":
        if inner.partition(".")[0] not in NUMPY_PACKAGES:
            raise ModuleNotFoundError(f"of NumPy {', '.join(NUMPY_PACKAGES)} are judged")
        _copy_numpy(source, root)
        return Copy(name, f"{NUMPY_COPY}.{inner}", root)
    if not (root / library).exists():
        _copy_tree(source, root / library)
        for beside in source.parent.glob(f"{library}.libs"):
            (root / beside.name).symlink_to(beside)
    copy = Copy(name, name, root)
    if not copy.folder.is_dir():
        raise ModuleNotFoundError(f"{library} has no package {inner!r}")
    return copy


def _copy_tree(source: Path, target: Path) -> None:
    """Sources are copied, all else is linked; a copy that was broken off leaves nothing."""
    partial = target.with_name(f"{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    for path in _files(source):
        to = partial / path.relative_to(source)
        to.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".py":
            shutil.copyfile(path, to)
        else:
            to.symlink_to(path)
    partial.rename(target)


def _files(folder: Path) -> Iterable[Path]:
    return (p for p in sorted(folder.rglob("*")) if p.is_file() and "__pycache__" not in p.parts)


# --------------------------------------------------------------------------------------- NumPy
_FACADE = '''"""Stands for NumPy in its own tests: copied packages, and NumPy's own for all else."""
import numpy as _numpy
from fusejit_testing.libraries.facade import counterparts as _counterparts
from . import lib, linalg, ma, polynomial

globals().update(_counterparts(_numpy, (lib, linalg, ma, polynomial)))
__all__ = _numpy.__all__


def __getattr__(name):
    return getattr(_numpy, name)
'''
_EXTENSION = """import sys
import {name} as own
sys.modules[__name__] = own
"""


def _copy_numpy(source: Path, root: Path) -> None:
    target = root / NUMPY_COPY
    if target.exists():
        return
    partial = root / f"{NUMPY_COPY}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    for package in NUMPY_PACKAGES:
        for path in _files(source / package):
            _copy_numpy_file(path, partial / path.relative_to(source), source)
    shutil.copyfile(source / "conftest.py", partial / "conftest.py")
    (partial / "__init__.py").write_text(_FACADE)
    partial.rename(target)


def _copy_numpy_file(path: Path, to: Path, source: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".py":
        is_test = "tests" in path.parts or path.name == "testutils.py"
        to.write_text(rewritten(path.read_text(encoding="utf-8"), is_test), encoding="utf-8")
    elif path.suffix == ".so":
        module = path.relative_to(source).with_name(path.name.partition(".")[0])
        name = ".".join(("numpy", *module.parts))
        to.with_name(f"{module.name}.py").write_text(_EXTENSION.format(name=name))
    elif path.suffix != ".pyi":
        to.symlink_to(path)


def rewritten(text: str, is_test: bool) -> str:
    """NumPy's source with imports of the copied packages; tests see the copy as NumPy.

    >>> rewritten("import numpy as np\\nfrom numpy.lib import scimath", is_test=True)
    'import numpy_copy as np\\nfrom numpy_copy.lib import scimath'
    """
    text = _IMPORT_AS_NAME.sub(rf"\1{NUMPY_COPY}.\2; import {NUMPY_COPY} as numpy", text)
    text = _IMPORT.sub(rf"\1{NUMPY_COPY}.\2", text)
    if is_test:
        text = _FROM_NUMPY.sub(rf"\1from {NUMPY_COPY} import", text)
        text = _NUMPY_ITSELF.sub(lambda m: f"{m[1]}import {NUMPY_COPY}{m[2] or ' as numpy'}", text)
    return text
