"""The steps of a launcher: kernels, calls of libraries and of Python, loops and conditionals."""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.codegen.intrinsics.statuses import ROOM_STATUSES
from fusejit.codegen.launcher.launcher_namespace import (
    RAISE_AGAIN,
    LauncherNames,
    affine_text,
    shape_text,
)
from fusejit.ir.analysis.host_blocks import launcher_symbols
from fusejit.ir.host import errstate_keywords
from fusejit.ir.host_calls import host_function, object_texts
from fusejit.ir.loops.nodes import KernelParameter
from fusejit.ir.loops.program import (
    HostArgument,
    HostBlock,
    HostCond,
    HostLoop,
    HostStepCall,
    KernelCall,
    ReadInteger,
    ScalarRef,
    Step,
)
from fusejit.ir.types import Kind


class LauncherSteps(LauncherNames):
    """Writes what a call does, in order."""

    def steps(self, steps: Sequence[Step]) -> None:
        for step in steps:
            if isinstance(step, KernelCall):
                kernel, name = next(self.next_kernel)
                self.namespace[name] = kernel
                arguments = ", ".join(map(self.kernel_argument, step.kernel.parameters))
                call = f"status = {name}({arguments})"
                locks = self.locks(step)
                self.lines += [f"with {locks}:", f"    {call}"] if locks else [call]
                self.put("if status:")
                if self.puts_back:
                    self.put(f"    if status in {{{', '.join(map(str, sorted(self.undone)))}}}:")
                    self.put("        put_back(saved)")
                for at, room in enumerate(self.traced.capacities):
                    if room.size:
                        made = f"make_room(CAPACITIES[{at}], capacity_{at})"
                        self.put(f"    if status == {ROOM_STATUSES[at]:d} and {made}:")
                        self.put(f"        return launch({', '.join(self.parameters)})")
                self.put("    return miss(status, PLACES)")
            elif isinstance(step, HostStepCall):
                self.host_step(step)
            elif isinstance(step, ReadInteger):
                self.put(f"{step.symbol} = int({self.argument(step.source)})")
                self.learn([step.symbol])
            elif isinstance(step, HostLoop):
                self.loop(step)
            elif isinstance(step, HostCond):
                self.put(f"if {self.argument(step.test)}:")
                self.block(step.then_block)
                self.put("else:")
                self.block(step.else_block)
            else:
                operands = ", ".join(self.reference(ref) for ref in step.operands)
                out = self.reference(step.out)
                self.put(f"{step.function}({operands}, out={out})")

    def kernel_argument(self, parameter: KernelParameter) -> str:
        """Text of what a kernel is given."""
        if parameter.ndim is not None:
            return self.array(parameter.name)
        return parameter.name if parameter.value is None else str(parameter.value)

    def locks(self, step: KernelCall) -> str:
        """Text of the locks of the generators from which a kernel draws."""
        exprs = {f"x{at}": s.expr for at, s in enumerate(self.program.graph.scalars)}
        used = [exprs[p.name] for p in step.kernel.parameters if p.name in exprs]
        drawn = [self.host(e.operands[0]) for e in used if e.op == "bits"]
        if len(drawn) > 1:
            return f"locked({', '.join(drawn)})"
        return f"{drawn[0]}.bit_generator.lock" if drawn else ""

    def loop(self, step: HostLoop) -> None:
        """A loop of the launcher, whose kernels were compiled once."""
        if step.condition is None:
            assert step.lower is not None
            assert step.upper is not None
            bounds = f"{affine_text(step.lower)}, {affine_text(step.upper)}, {step.step}"
            self.put(f"for {step.induction} in range({bounds}):")
            self.block(step.body, [step.induction] if step.induction else [])
            return
        assert step.test is not None
        self.put("while True:")
        self.block(step.condition)
        self.put(f"    if not {self.argument(step.test)}:")
        self.put("        break")
        self.block(step.body)

    def block(self, block: HostBlock, symbols: Sequence[str] = ()) -> None:
        """The steps of a block, indented; its slots are new each time."""
        outer, self.lines = self.lines, []
        open_slots, self.open_slots = self.open_slots, block.slots
        self.learn(symbols)
        self.steps(block.steps)
        if block.moves:
            targets, sources = (", ".join(names) for names in zip(*block.moves, strict=True))
            self.put(f"{targets} = {sources}")
        self.open_slots = open_slots
        inner, self.lines = self.lines, outer
        self.lines += [f"    {line}" for line in inner or ["pass"]]

    def argument(self, argument: HostArgument) -> str:
        """Text of what a host call is given."""
        if isinstance(argument.ref, ScalarRef):
            return self.name_of_scalar[argument.ref.name]
        ending = {Kind.ARRAY: "", Kind.SCALAR: "[()]", Kind.PYTHON: ".item()"}[argument.kind]
        return self.reference(argument.ref) + ending

    def host_step(self, step: HostStepCall) -> None:
        """A call between kernels, the sizes it defines, and the slots that have such extents.

        As long as nothing of the caller's was modified, NumPy runs the call from the start if the
        function fails: then errors have the user's lines, and other results are right.
        """
        arguments = [self.argument(operand) for operand in step.operands]
        function = self.bind("host", host_function(step.function))
        objects = object_texts([self.host(o) for o in step.objects])
        if step.errstate:
            function = f"np.errstate(**{errstate_keywords(step.errstate)})({function})"
        call = f"{function}({step.call.format(*arguments, **objects)})"
        lines = [call]
        if step.outs:
            lines = [f"made = host_parts({call}, {len(step.outs)})"]
        for at, slot in enumerate(step.outs):
            made, kind = f"made[{at}]", f"{self.bind('dtype', slot.dtype)}, {len(slot.extents)}"
            if slot.name not in self.names_used:
                lines.append(f"{slot.name} = host_array({made}, {kind})")
                continue
            if slot.name in self.as_made:
                lines.append(f"{slot.name}_made = host_array({made}, {kind})")
                made = f"{slot.name}_made"
            result = f"host_result({made}, {kind}, {slot.order}, {step.is_deferred})"
            lines.append(f"{slot.name} = {result}")
        lines += [f"{name} = {step.outs[at].name}.shape[{axis}]" for name, at, axis in step.sizes]
        lines += [
            f"require_shape({s.name}, {shape_text(s.extents)})" for s in step.outs if s.extents
        ]
        self.put("try:")
        self.lines += [f"    {line}" for line in lines]
        if step.is_deferred:
            self.put("except Exception as error:")
            self.put(f"    raise_from(error, {self.bind('place', step.location)})")
        else:
            self.lines += [*RAISE_AGAIN, "    return HOST_FAILED"]
        self.learn([name for name, _, _ in step.sizes])

    def learn(self, symbols: Sequence[str]) -> None:
        """Symbols are known from here on: allocate the slots that waited for them."""
        self.known_sizes |= set(symbols)
        unknown = set(launcher_symbols(self.program.graph)) - self.known_sizes
        for slot in self.open_slots:
            if slot.name in self.allocated or slot.name in self.made_by_host:
                continue
            if not any(unknown & e.symbols() for e in slot.extents):
                # kernels check what they know of sizes that a step before them has found
                self.put(f"{slot.name} = {self.allocation(slot, not symbols)}")
                self.allocated.add(slot.name)
