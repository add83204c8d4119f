"""The names a kernel may use: meaning in Python (twins), and the tables."""
