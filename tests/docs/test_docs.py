"""The documents are true: their examples run, their outputs are what is printed, their links lead
somewhere.

Every ```` ```python ```` block of a document runs in order, in one namespace, from a file of its
own (`fuse_jit` reads the source). A ```` ```text ```` block after it is what it prints. A warning
is printed as ``file:line: Category: message``; an exception as its last line.

A line ``<!-- needs: module -->`` skips a document where that module is not installed.

``FUSEJIT_UPDATE_DOCS=1 pytest tests/docs`` rewrites the ``text`` blocks.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
MAX_WORDS = 25_000
"""Words in all files of ``docs`` together."""
MAX_README_LINES = 150
UPDATE = os.environ.get("FUSEJIT_UPDATE_DOCS", "0") not in ("", "0")

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block; ``span`` is where its text stands in the document."""

    language: str
    text: str
    span: tuple[int, int]


def blocks_of(document: str) -> list[Block]:
    return [Block(m[1], m[2], m.span(2)) for m in FENCE.finditer(document)]


def examples_of(document: str) -> Iterator[tuple[Block, Block | None]]:
    """The python blocks, each with the text block that is the next one."""
    blocks = blocks_of(document)
    for block, following in pairwise([*blocks, None]):
        if block is not None and block.language == "python":
            is_output = following is not None and following.language == "text"
            yield block, following if is_output else None


class Runner:
    """Runs the blocks of one document one after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.namespace: dict[str, Any] = {"__name__": "example"}
        self.count = 0

    def run(self, code: str, may_raise: bool) -> str:
        """What the block prints."""
        self.count += 1
        path = self.folder / str(self.count) / "example.py"
        path.parent.mkdir()
        path.write_text(code)
        printed = io.StringIO()

        def show(message: Any, category: type, filename: str, line: int, *_: Any) -> None:
            print(f"{filename}:{line}: {category.__name__}: {message}", file=printed)

        with (
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("always")
            warnings.showwarning = show
            try:
                exec(compile(code, str(path), "exec"), self.namespace)
            except Exception as error:
                if not may_raise:
                    raise
                print("".join(traceback.format_exception_only(error)).strip())
        text = re.sub(
            re.escape(f"{self.folder}{os.sep}") + r"\d+" + re.escape(os.sep), "", printed.getvalue()
        )
        return "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n"


@pytest.fixture
def runner(tmp_path, monkeypatch) -> Runner:
    for name in [n for n in os.environ if n.startswith("FUSEJIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("FUSEJIT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return Runner(tmp_path)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_examples_print_what_the_document_says(path, runner):
    document = path.read_text("utf-8")
    for module in re.findall(r"^<!-- needs: (\w+) -->$", document, re.MULTILINE):
        pytest.importorskip(module, reason=f"the examples of {path.name} need it")
    outputs: list[tuple[Block, str]] = []
    for code, output in examples_of(document):
        printed = runner.run(code.text, may_raise=output is not None)
        if output is not None:
            outputs.append((output, printed))
        else:
            assert printed == "\n", f"no text block says what this prints:\n{code.text}"
    if UPDATE:
        for output, printed in reversed(outputs):
            document = document[: output.span[0]] + printed + document[output.span[1] :]
        path.write_text(document, "utf-8")
        return
    for output, printed in outputs:
        assert printed == output.text


def test_the_documents_are_short() -> None:
    texts = [path.read_text("utf-8") for path in (ROOT / "docs").glob("*.md")]
    assert sum(len(text.split()) for text in texts) <= MAX_WORDS
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= MAX_README_LINES


def test_the_readme_has_examples():
    assert len(list(examples_of((ROOT / "README.md").read_text("utf-8")))) >= 5


def test_a_wrong_output_is_noticed(runner):
    [(code, output)] = examples_of("```python\nprint(2)\n```\nThis prints\n\n```text\n3\n```\n")
    assert output is not None
    assert runner.run(code.text, may_raise=False) == "2\n" != output.text


# ------------------------------------------------------------------------------------------ links
def anchor(heading: str) -> str:
    """The anchor GitHub gives a heading."""
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return kept.replace(" ", "-")


def anchors_of(document: str) -> set[str]:
    without_code = FENCE.sub("", document)
    return {anchor(m[1]) for m in re.finditer(r"^#+ (.*)$", without_code, re.MULTILINE)}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_links_lead_somewhere(path):
    for link in LINK.findall(FENCE.sub("", path.read_text("utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, fragment = link.partition("#")
        target = path if not file else path.parent / file
        assert target.exists(), f"{path.name}: {link}"
        if fragment:
            assert fragment in anchors_of(target.read_text("utf-8")), f"{path.name}: {link}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_files_named_in_the_text_exist(path):
    for name in re.findall(
        r"`((?:fusejit|tests|benchmarks|docs|examples)/[\w/.]+)`", path.read_text("utf-8")
    ):
        assert (ROOT / name).exists(), f"{path.name}: {name}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_modules_named_without_their_folder_exist(path):
    folders = ("fusejit", "tests", "benchmarks", "examples")
    files = {f"/{f.relative_to(ROOT)}" for folder in folders for f in (ROOT / folder).rglob("*.py")}
    for name in re.findall(r"`([\w/]+\.py)`", path.read_text("utf-8")):
        assert any(file.endswith(f"/{name}") for file in files), f"{path.name}: {name}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_make_targets_named_in_the_text_exist(path):
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for name in re.findall(r"(?:^|`)make (\w+)", path.read_text("utf-8"), re.MULTILINE):
        assert name in targets, f"{path.name}: make {name}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_benchmark_options_named_in_the_text_exist(path):
    from benchmarks.cli import parser

    known = {option for action in parser()._actions for option in action.option_strings}
    for command in re.findall(r"python -m benchmarks((?: [^`\n#]*)?)", path.read_text("utf-8")):
        for option in re.findall(r"(--[\w-]+)", command):
            assert option in known, f"{path.name}: {option}"


def test_examples_of_changes_are_those_that_were_made() -> None:
    """Each added line of a diff in CONTRIBUTING.md stands in its file, in this order."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    checked = 0
    for example in re.findall(r"```diff\n(.*?)```", text, re.DOTALL):
        for part in example.split("--- a/")[1:]:
            name, *lines = part.splitlines()
            rest = iter((ROOT / name).read_text("utf-8").splitlines())
            for line in lines:
                assert line[0] == "+", line
                assert line[1:] in rest, f"{name}: {line[1:]}"
                checked += 1
    assert checked > 30


# ----------------------------------------------------------------------------- which tests to run
def test_make_quick_touches_every_part() -> None:
    files = (ROOT / "tests" / "quick.txt").read_text("utf-8").split()
    assert all((ROOT / f).exists() for f in files)
    parts = {f.split("/")[1] for f in files}
    rooms = ("tracer", "ir", "fuse", "codegen", "structured", "linalg", "numpy_namespace")
    assert parts >= {*rooms, "benchmarks", "docs", "differential", "regressions", "robustness"}


def test_the_table_of_tests_names_what_exists() -> None:
    section = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Which tests to run")[2]
    rows = [
        line.split("|")[1:3] for line in section.partition("\n## ")[0].splitlines() if "|" in line
    ]
    named = {name for row in rows for cell in row for name in re.findall(r"`([\w/.*]+)`", cell)}
    assert all(any(ROOT.glob(name)) for name in named), named
    packages = {f.parent.name for f in (ROOT / "fusejit").glob("*/__init__.py")}
    assert {name.removeprefix("fusejit/") for name in named} >= packages
