"""The passes over the loops of a kernel, in order; those over graphs are in `fusejit.pipeline`.

Each takes the statements of one kernel, whole, and returns them changed. What they need of the
graph is in the context.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from fusejit.codegen.loop_nests.short_nests import write_short_nests
from fusejit.codegen.loop_passes.buffer_reuse import reuse_memory
from fusejit.codegen.loop_passes.common_loads import hoist_common_loads
from fusejit.codegen.loop_passes.defer_index_wrap import defer_index_wrap
from fusejit.codegen.loop_passes.hoist_checks import hoist_checks
from fusejit.codegen.loop_passes.index_checks import CallFacts, prove_checks
from fusejit.codegen.loop_passes.interruptible import interruptible
from fusejit.codegen.loop_passes.invariant_division import prepare_divisors
from fusejit.codegen.loop_passes.invariant_offsets import hoist_offsets
from fusejit.codegen.loop_passes.loop_fusion import merge_nests
from fusejit.codegen.loop_passes.loop_rotation import rotate_loops
from fusejit.codegen.loop_passes.strength_reduce_mod import strength_reduce_mod
from fusejit.codegen.loop_passes.stride_versioning import prevent_stride_versioning
from fusejit.codegen.loop_passes.temporal_tiling import tile_time_loops
from fusejit.codegen.printer.statement_printer import statement_lines
from fusejit.dataclass import dataclass
from fusejit.ir.loops.nodes import Stmt
from fusejit.ir.loops.program import LoopNestNote
from fusejit.ir.pass_log import PassLog

Statements = list[Stmt]


@dataclass(frozen=True, slots=True)
class KernelContext:
    """What the passes may ask, and where they report.

    Attributes
    ----------
    name : str
        Of the kernel, for the log.
    merges : bool
        Whether neighbouring nests may become one.
    draws : bool
        Whether it draws from a generator of NumPy's: a handler of a signal could draw as well,
        while the generator is locked.
    facts : callable
        What is known of the integers of the kernel.
    dtypes : dict of str to dtype
        Of what pointers point to.
    strides : frozenset of str
        The names of strides of arguments, which may turn out to be 1.
    notes : list of LoopNestNote
        Why nests were merged, or were not.
    undo_log : callable
        Has a kernel undo its stores where NumPy has to run the call.
    """

    name: str
    merges: bool
    draws: bool
    facts: Callable[[], CallFacts]
    dtypes: Mapping[str, np.dtype]
    strides: frozenset[str]
    notes: list[LoopNestNote]
    undo_log: Callable[[Statements], Statements]


KernelPass = Callable[[Statements, KernelContext], Statements]


def _always(rewrite: Callable[[Statements], Statements]) -> KernelPass:
    return lambda statements, at: rewrite(statements)


KERNEL_PASSES: tuple[tuple[str, KernelPass], ...] = (
    (
        "merge nests over the same points",
        lambda s, at: merge_nests(s, at.notes) if at.merges else s,
    ),
    ("tile loops over time", lambda s, at: tile_time_loops(s, at.notes) if at.merges else s),
    ("prove checks of indices", lambda s, at: prove_checks(s, at.facts, at.dtypes)),
    ("strength-reduce remainders", _always(strength_reduce_mod)),
    ("hoist checks", _always(hoist_checks)),
    ("defer index wraps", _always(defer_index_wrap)),
    ("rotate loops", _always(rotate_loops)),
    ("reuse memory", _always(reuse_memory)),
    ("write small nests as statements", _always(write_short_nests)),
    ("hoist common loads", _always(hoist_common_loads)),
    ("hoist offsets", _always(hoist_offsets)),
    ("prevent stride versioning", lambda s, at: prevent_stride_versioning(s, at.strides)),
    ("prepare divisors", _always(prepare_divisors)),
    ("insert polls", lambda s, at: s if at.draws else interruptible(s)),
    ("undo stores", lambda s, at: at.undo_log(s)),
)


def run_kernel_passes(statements: Statements, at: KernelContext, log: PassLog) -> Statements:
    """All passes of `KERNEL_PASSES`, in order."""
    for name, rewrite in KERNEL_PASSES:
        statements = log.run(at.name, name, _of_context(rewrite, at), statements, _text)
    return statements


def _of_context(rewrite: KernelPass, at: KernelContext) -> Callable[[Statements], Statements]:
    return lambda statements: rewrite(statements, at)


def _text(statements: Statements) -> str:
    return "\n".join(statement_lines(statements))
