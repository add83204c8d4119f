"""The trace: primitives that the rewritten source calls, and the graph under construction."""
