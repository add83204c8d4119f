"""`Handle`: an op of a schedule with all primitives."""

from __future__ import annotations

from fusejit.transform.base import BaseHandle
from fusejit.transform.fuse import fuse
from fusejit.transform.library import generalize, to_library
from fusejit.transform.no_fuse import no_fuse
from fusejit.transform.rematerialize import rematerialize
from fusejit.transform.threads import threads
from fusejit.transform.tile import tile


class Handle(BaseHandle):
    """An op of a schedule. Each method returns the op in a new schedule."""

    fuse = fuse
    generalize = generalize
    no_fuse = no_fuse
    rematerialize = rematerialize
    threads = threads
    tile = tile
    to_library = to_library
