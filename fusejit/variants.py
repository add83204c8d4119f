"""`Variants`: the compiled forms of a decorated function, and what fell back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from fusejit.codegen.launcher.call_guard import CallGuard
    from fusejit.segments.segmented import SegmentedFunction
    from fusejit.stages import Compiled
    from fusejit.tiering.cost_estimate import CostEstimate


class Waiting(Protocol):
    """What has Python run calls that are not to be traced now."""

    def reason(self) -> str:
        """Say why, for users."""


class Variants:
    """The variants of a decorated function, newest first, and its fallback calls.

    A function that runs in segments has none itself: each segment has its own.
    """

    def __init__(self) -> None:
        self.compiled: tuple[Compiled, ...] = ()
        self.segmented: SegmentedFunction | None = None
        self.for_types: tuple[SegmentedFunction, ...] = ()  # for arguments that no kernel is given
        self.fallbacks: Counter[str] = Counter()
        self.passed: tuple[str, CallGuard] | None = None  # fallback calls that are not asked about
        self.measured: CostEstimate | None = None  # calls of the newest variant, if timed
        self.interpreted = ""  # what a call costs that Python runs, as compiling does not pay
        self.untraced: Waiting | None = None  # why Python runs calls for now

    def __reduce__(self) -> tuple[Any, ...]:
        return Variants, ()  # machine code stays in its process

    def __len__(self) -> int:
        return len(self.compiled)

    def __getitem__(self, index: int) -> Compiled:
        return self.compiled[index]

    def segmented_for(self, args: Sequence[Any]) -> SegmentedFunction | None:
        """The segments that serve a call, if some do."""
        return next((s for s in self.for_types if s.takes(args)), self.segmented)

    @property
    def all_segmented(self) -> tuple[SegmentedFunction, ...]:
        """Every form of the function in segments."""
        return self.for_types if self.segmented is None else (self.segmented, *self.for_types)

    @property
    def newest_segmented(self) -> SegmentedFunction | None:
        """The form in segments that serves all calls, else the newest of those for some."""
        return next(iter(self.all_segmented), None)

    def has_outdated_classes(self) -> bool:
        """Whether a variant is for objects of a class that has been defined again."""
        from fusejit.ir.traced import CheckKind  # decorating loads no compiler
        from fusejit.warm_up.redefined_code import is_outdated

        checks = [check for variant in self.compiled for check in variant.traced.checks]
        classes = [c.expected for c in checks if c.kind in (CheckKind.TYPE, CheckKind.IS)]
        classes += [getattr(c.expected, "kind", None) for c in checks if c.kind is CheckKind.LIST]
        if any(isinstance(kind, type) and is_outdated(kind) for kind in classes):
            return True
        calls = (call for split in self.all_segmented for call in split.segments)
        states = (call.state for call in calls if call.state is not None)
        return any(state.variants.has_outdated_classes() for state in states)

    def timing(self) -> Callable[[int, int], None]:
        """What to call with the nanoseconds of a call in NumPy and fused, when it has ended.

        They count if nothing was compiled meanwhile.
        """
        before = self.compiled, self.all_segmented

        def note(numpy_ns: int, fused_ns: int) -> None:
            if any(before) and before == (self.compiled, self.all_segmented):
                from fusejit.tiering.cost_estimate import CostEstimate  # which loads a compiler

                self.measured = CostEstimate(
                    numpy_ns, max(1, fused_ns), False, False, is_measured=True
                )

        return note

    def count_passed(self) -> None:
        """Count the calls that fell back without being asked about; the last one was."""
        if self.passed is not None:
            cause, guard = self.passed
            self.fallbacks[cause] += guard.calls - 1
            self.passed = None

    def __repr__(self) -> str:
        in_parts = [s for s in self.all_segmented if not s.runs_interpreted]
        whole = f"{len(self)} variant(s)"
        lines = ["runs in segments" if in_parts and not self.compiled else whole]
        if self.compiled:
            from fusejit.reports.variant_lines import served  # decorating loads no compiler

            for at, text in enumerate(served([variant.traced for variant in self.compiled])):
                where = "from cache" if self.compiled[at].from_cache else "compiled"
                lines.append(f"  {at}: {text} ({where})")
        fallback = self.fallbacks.copy()
        if self.passed is not None:
            fallback[self.passed[0]] += self.passed[1].calls
        lines += [f"  fallback {n}x: {cause}" for cause, n in fallback.items()]
        if self.interpreted:
            lines.append(
                f"  Python runs it, because compiling would gain nothing: {self.interpreted}"
            )
        if self.untraced is not None:
            lines.append(f"  Python runs it{self.untraced.reason()}")
        for segmented in self.all_segmented:
            reasons = ", ".join(dict.fromkeys(b.reason for b in segmented.boundaries))
            where = f" where {reasons}" if segmented.expected is not None else ""
            if segmented.runs_interpreted:
                lines.append(
                    f"  interpreted{where}: no segment gains from compiling, Python runs it"
                )
            else:
                lines.append(f"  {_lines_text(segmented)}{where}")
        return "\n".join(lines)


def _lines_text(segmented: SegmentedFunction) -> str:
    """Which lines are compiled, and which ones Python runs."""
    from fusejit.segments.parts import parts_of  # decorating does not load it

    parts = parts_of(segmented)
    compiled = dict.fromkeys(part.lines for part in parts if not part.reason)
    python = dict.fromkeys(part.lines for part in parts if part.reason)
    first = f"compiled lines {', '.join(compiled)}; " if compiled else ""
    return f"{first}Python runs lines {', '.join(python)}"
