"""Random graphs, maps and reshapes, and what runs graphs that no Python function was traced for."""
