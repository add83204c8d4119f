"""Python's functions on numbers; complex numbers."""
