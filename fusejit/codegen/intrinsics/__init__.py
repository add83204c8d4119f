"""The names a kernel may use: meaning in Python (Python implementations), and the tables."""
