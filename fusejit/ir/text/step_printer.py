"""The steps of a schedule and of a program as text: one line each."""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.ir.execution_plan import ExecutionPlan, RegionStep, Step
from fusejit.ir.host_calls import object_texts
from fusejit.ir.loops.program import (
    HostCond,
    HostStepCall,
    KernelCall,
    LibraryCall,
    ReadInteger,
    inner_blocks,
)
from fusejit.ir.loops.program import Step as ProgramStep


def describe_program(steps: Sequence[ProgramStep], indent: str = "") -> list[str]:
    """One line per step of a program; the steps inside one are indented."""
    lines = []
    for at, step in enumerate(steps):
        if isinstance(step, KernelCall):
            text = f"kernel({', '.join(p.name for p in step.kernel.parameters)})"
        elif isinstance(step, HostStepCall):
            outs = ", ".join(slot.name for slot in step.outs)
            names = [o.ref.name for o in step.operands]
            objects = object_texts(list(map(str, step.objects)))
            text = f"{step.function}({step.call.format(*names, **objects)})"
            text += f" -> {outs}" if outs else ""
        elif isinstance(step, LibraryCall):
            operands = ", ".join(ref.name for ref in step.operands)
            text = f"{step.function}({operands}) -> {step.out.name}"
        elif isinstance(step, ReadInteger):
            text = f"{step.symbol} = int({step.source.ref.name})"
        elif isinstance(step, HostCond):
            text = f"if {step.test.ref.name}"
        elif step.condition is None:
            text = f"for {step.induction} in range({step.lower}, {step.upper}, {step.step})"
        else:
            text = "while"
        lines.append(f"{indent}step {at}: {text}")
        for block in inner_blocks(step):
            lines += describe_program(block.steps, f"{indent}  ")
            lines += [f"{indent}    {target} = {source}" for target, source in block.moves]
    return lines


def describe_plan(schedule: ExecutionPlan) -> str:
    """One line per step."""
    return "\n".join(_described_steps(schedule.steps, ""))


def _described_steps(steps: Sequence[Step], indent: str) -> list[str]:
    lines = []
    for at, step in enumerate(steps):
        ops = getattr(step, "ops", None)
        names = ", ".join(getattr(op, "name", type(op).__name__.lower()) for op in ops or [step.op])  # type: ignore[union-attr]
        lines.append(f"{indent}step {at}: {type(step).__name__} ({names})")
        for block in step.blocks if isinstance(step, RegionStep) else ():
            lines += _described_steps(block, f"{indent}  ")
        for group in getattr(step, "groups", ()):
            pairs = zip(group.ops, group.shared_dims, strict=True)
            names = ", ".join(" ".join([op.name, *(f"d{d}" for d in dims)]) for op, dims in pairs)
            local = ", ".join(f"%{v.name}" for v in group.local)
            tiles = f", in tiles: {local}" if local else ""
            lines.append(f"{indent}  group ({names}){tiles}")
    return lines
