"""One trace: callbacks of rewritten code, calls, reads, the graph under construction, its end."""
