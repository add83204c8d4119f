"""Code generation: from a schedule to kernels and a launcher."""
