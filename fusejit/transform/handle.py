"""`Handle`: an op of a schedule with all primitives."""

from __future__ import annotations

from fusejit.transform.base import BaseHandle
from fusejit.transform.collapse import collapse
from fusejit.transform.conv_to_matmul import conv_to_matmul
from fusejit.transform.decompose import decompose
from fusejit.transform.expand import expand
from fusejit.transform.fold_unit_dims import fold_unit_dims
from fusejit.transform.fuse import fuse
from fusejit.transform.fuse_siblings import fuse_siblings
from fusejit.transform.hoist_pad import hoist_pad
from fusejit.transform.interchange import interchange
from fusejit.transform.library import generalize, to_library
from fusejit.transform.no_fuse import no_fuse
from fusejit.transform.pack import pack, unpack
from fusejit.transform.pack_matmul import pack_matmul
from fusejit.transform.pad import pad
from fusejit.transform.peel import peel
from fusejit.transform.promote import promote
from fusejit.transform.rematerialize import rematerialize
from fusejit.transform.specialize import specialize
from fusejit.transform.split import split
from fusejit.transform.threads import threads
from fusejit.transform.tile import tile
from fusejit.transform.tile_reduction import tile_reduction
from fusejit.transform.transpose import transpose_conv, transpose_matmul
from fusejit.transform.unroll import unroll
from fusejit.transform.unroll_reduction import unroll_reduction
from fusejit.transform.vectorize import vectorize
from fusejit.transform.winograd import winograd


class Handle(BaseHandle):
    """An op of a schedule. Each method returns the op in a new schedule."""

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
