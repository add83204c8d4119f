"""One trace: the hooks of staged code, calls and reads, the graph under construction, its end."""
