"""The list of mended faults names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIST = ROOT / "docs" / "mended.md"


def test_tests_that_the_list_names_exist() -> None:
    rows = [line for line in LIST.read_text().splitlines() if line.startswith("| ")]
    found = 0
    for row in rows:
        folder = None
        for name in re.findall(r"`((?:tests/[\w/]+/)?test_\w+\.py)`", row):
            folder = (ROOT / name).parent if "/" in name else folder
            assert folder is not None, f"no folder: {row}"
            assert (folder / Path(name).name).exists(), name
            found += 1
    assert found > 30
