"""The tracer: from a Python function to a `fusejit.ir.traced.TracedFunction`."""
