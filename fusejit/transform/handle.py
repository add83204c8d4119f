"""`Handle`: an op of a schedule with all primitives."""

from __future__ import annotations

from fusejit.transform.base import BaseHandle
from fusejit.transform.conv_to_matmul import conv_to_matmul
from fusejit.transform.fuse import fuse
from fusejit.transform.hoist_pad import hoist_pad
from fusejit.transform.library import generalize, to_library
from fusejit.transform.pack import pack, unpack
from fusejit.transform.pack_matmul import pack_matmul
from fusejit.transform.pad import pad
from fusejit.transform.rematerialize import rematerialize
from fusejit.transform.threads import threads
from fusejit.transform.tile import tile
from fusejit.transform.transpose import transpose_conv, transpose_matmul
from fusejit.transform.winograd import winograd


class Handle(BaseHandle):
    """An op of a schedule. Each method returns the op in a new schedule."""

    conv_to_matmul = conv_to_matmul
    fuse = fuse
    generalize = generalize
    hoist_pad = hoist_pad
    pack = pack
    pack_matmul = pack_matmul
    pad = pad
    rematerialize = rematerialize
    threads = threads
    tile = tile
    to_library = to_library
    transpose_conv = transpose_conv
    transpose_matmul = transpose_matmul
    unpack = unpack
    winograd = winograd
