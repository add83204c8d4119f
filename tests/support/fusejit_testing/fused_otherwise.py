"""The variants of a decorated function, fused in other ways.

Tracing knows nothing of fusion. So the policies share the traces of one decorated function, and
what is checked of the others begins where they differ: passes, lowering, kernels, launcher.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from fusejit.dataclass import replace
from fusejit.ir.execution_plan import KernelStep, walk_steps
from fusejit.ir.text.printer import print_graph
from fusejit.ir.text.step_printer import describe_plan
from fusejit.outcome import Outcome as Unserved
from fusejit.stages import MERGING, Compiled, Fused
from fusejit.variants import Variants
from fusejit_testing.compare import EXACT, assert_same
from fusejit_testing.oracle import Outcome, interpreted, run


class FusedOtherwise:
    """The variants of ``function`` under other policies than the one they were made with.

    Attributes
    ----------
    fusions : sequence of str
        The policies.
    num_made : int
        How many variants were compiled; where policies fuse alike there is one for all of them.
    """

    def __init__(self, function: Callable[..., Any], fusions: Sequence[str]) -> None:
        self.function = function
        self.fusions = fusions
        self.num_made = 0
        self._made: dict[Compiled, dict[str, Compiled]] = {}
        self._interpreted: set[Compiled] = set()

    def check(
        self,
        fusion: str,
        variants: Variants,
        args: tuple[Any, ...],
        compare: Callable[[Outcome, str], None],
    ) -> bool:
        """Make a call with each variant, until one serves it.

        Parameters
        ----------
        fusion : str
            The policy.
        variants : Variants
            Those of the decorated function, after it has run this call.
        args : tuple
            The arguments.
        compare : callable
            Raises if an outcome, which it is told the name of, is not NumPy's.

        Returns
        -------
        bool
            False if no variant serves the call.

        Raises
        ------
        AssertionError
            If anything differs from NumPy, or a variant that misses has modified an argument.
        """
        made = [self._variants(variant)[fusion] for variant in variants.compiled]
        if made and all(map(operator.is_, made, variants.compiled)):
            return True  # all are fused alike: this call has been made
        for variant in made:
            outcome = run(variant.launch, args)
            if isinstance(outcome.result, Unserved):
                assert not outcome.result.is_fault, outcome.result
                assert_same(args, outcome.args, EXACT, f"fusion {fusion}, arguments after a miss")
                continue
            compare(outcome, f"fusion {fusion}")
            if variant not in self._interpreted and outcome.error is None:
                self._interpreted.add(variant)
                graph = variant.schedule.graph
                again = run(interpreted(variant.traced, graph, self.function), args)
                compare(again, f"fusion {fusion}, fused graph")
            return True
        return False

    def _variants(self, variant: Compiled) -> dict[str, Compiled]:
        """A variant by policy, those that are fused alike as one."""
        if variant not in self._made:
            stage = variant.before.before.before
            options = stage.options
            alike = {_text(variant.before.before): variant}
            by_fusion: dict[str, Compiled] = {}
            for fusion in self.fusions:
                fused = replace(stage, options=replace(options, fusion=fusion), seconds={}).fuse()
                text = _text(fused)
                if text not in alike:
                    alike[text] = fused.lower().compile()
                    self.num_made += 1
                by_fusion[fusion] = alike[text]
            self._made[variant] = by_fusion
        return self._made[variant]


def _text(fused: Fused) -> tuple[str, ...]:
    """All that lowering depends on but the trace, as text."""
    groups = [
        (group.shared_dims, group.halos, group.store is not None)
        for step in walk_steps(fused.schedule.steps)
        if isinstance(step, KernelStep)
        for group in step.groups
    ]
    is_merged = fused.before.options.fusion in MERGING
    steps = describe_plan(fused.schedule)
    return print_graph(fused.graph), steps, repr(groups), repr(is_merged)
