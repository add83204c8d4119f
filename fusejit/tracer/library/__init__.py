"""Functions that make arrays and put them together."""
