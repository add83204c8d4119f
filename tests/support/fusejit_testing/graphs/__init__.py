"""Random graphs, maps and reshapes, and functions that run graphs without a Python function."""
