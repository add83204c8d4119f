"""Loops, conditionals and exceptions: decided while tracing, or ops of the graph."""
