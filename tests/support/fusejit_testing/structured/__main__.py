"""``python -m fusejit_testing.structured FIRST COUNT [JIT_EVERY]``: a campaign of random ops."""

from __future__ import annotations

import os
import sys

from fusejit_testing.structured.campaign import main

os.environ.setdefault("FUSEJIT_TIERING", "0")

if __name__ == "__main__":
    sys.exit(min(1, main(*map(int, sys.argv[1:]))))
