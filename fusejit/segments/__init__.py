"""Functions split into compiled segments, with Python between them."""
