"""Facts about the machine that decisions depend on, as frozen data.

codegen probes and fills it, the pipeline hands it to fuse, and tests use `GENERIC`, so that printed
IR does not depend on the machine it is printed on.
"""

from __future__ import annotations

from fusejit.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """Cores, caches, bandwidth and the functions that exist in vector form.

    Attributes
    ----------
    num_cores : int
        Threads a kernel may use.
    l1_bytes, l2_bytes, last_level_bytes : int
        Cache sizes.
    stream_ns_per_byte : float
        Cost of moving a byte to or from memory, one thread.
    vector_functions : frozenset of str
        ``"exp.f64"`` for each function and dtype with a vector form.
    """

    num_cores: int = 2
    l1_bytes: int = 32 << 10
    l2_bytes: int = 1 << 20
    last_level_bytes: int = 32 << 20
    stream_ns_per_byte: float = 0.1
    vector_functions: frozenset[str] = frozenset()


GENERIC = Target(
    vector_functions=frozenset(
        f"{name}.{dtype}"
        for name in ("exp", "log", "sin", "cos", "tanh")
        for dtype in ("f32", "f64")
    )
)
