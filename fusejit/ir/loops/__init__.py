"""The IR of kernels: loops, statements, expressions, and the program around them."""
