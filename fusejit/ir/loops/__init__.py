"""The IR of kernels: loops, statements and expressions, and the program of which they are steps."""
