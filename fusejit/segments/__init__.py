"""Functions cut into compiled segments, with Python between them."""
