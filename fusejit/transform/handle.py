"""`Handle`: an op of a schedule with all primitives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fusejit.transform.core.base import BaseHandle
from fusejit.transform.layouts.conv_to_matmul import conv_to_matmul
from fusejit.transform.layouts.hoist_pad import hoist_pad
from fusejit.transform.layouts.pack import pack, unpack
from fusejit.transform.layouts.pack_matmul import pack_matmul
from fusejit.transform.layouts.pad import pad
from fusejit.transform.layouts.transpose import transpose_conv, transpose_matmul
from fusejit.transform.layouts.winograd import winograd
from fusejit.transform.primitives.collapse import collapse
from fusejit.transform.primitives.decompose import decompose
from fusejit.transform.primitives.expand import expand
from fusejit.transform.primitives.fold_unit_dims import fold_unit_dims
from fusejit.transform.primitives.fuse import fuse
from fusejit.transform.primitives.fuse_siblings import fuse_siblings
from fusejit.transform.primitives.interchange import interchange
from fusejit.transform.primitives.library import generalize, to_library
from fusejit.transform.primitives.no_fuse import no_fuse
from fusejit.transform.primitives.peel import peel
from fusejit.transform.primitives.promote import promote
from fusejit.transform.primitives.rematerialize import rematerialize
from fusejit.transform.primitives.specialize import specialize
from fusejit.transform.primitives.split import split
from fusejit.transform.primitives.threads import threads
from fusejit.transform.primitives.tile import tile
from fusejit.transform.primitives.tile_reduction import tile_reduction
from fusejit.transform.primitives.unroll import unroll
from fusejit.transform.primitives.unroll_reduction import unroll_reduction
from fusejit.transform.primitives.vectorize import vectorize


class Handle(BaseHandle):
    """An op of a schedule. Each method returns the op in a new schedule."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if hasattr(type(self.schedule), name) and not name.startswith("_"):
                raise AttributeError(f"{name} is a method of the schedule: .schedule.{name}")
            raise AttributeError(f"an op of a schedule has no attribute {name!r}")

    collapse = collapse
    decompose = decompose
    expand = expand
    fold_unit_dims = fold_unit_dims
    conv_to_matmul = conv_to_matmul
    fuse = fuse
    fuse_siblings = fuse_siblings
    generalize = generalize
    no_fuse = no_fuse
    interchange = interchange
    promote = promote
    hoist_pad = hoist_pad
    pack = pack
    pack_matmul = pack_matmul
    pad = pad
    peel = peel
    rematerialize = rematerialize
    specialize = specialize
    split = split
    threads = threads
    tile = tile
    tile_reduction = tile_reduction
    to_library = to_library
    unroll = unroll
    unroll_reduction = unroll_reduction
    vectorize = vectorize
    transpose_conv = transpose_conv
    transpose_matmul = transpose_matmul
    unpack = unpack
    winograd = winograd
