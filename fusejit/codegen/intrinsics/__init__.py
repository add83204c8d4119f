"""The names a kernel may use: their Python implementations, and the tables."""
