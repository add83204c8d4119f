"""Python and NumPy -> `fusejit.ir.traced.TracedFunction`."""

from fusejit.tracer.entry import trace_function

__all__ = ["trace_function"]
