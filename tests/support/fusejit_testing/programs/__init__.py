"""Random programs of each kind, and what checks and shrinks them."""
