"""Python and NumPy -> `fusejit.ir.traced.TracedFunction`: `entry.trace_function`."""
