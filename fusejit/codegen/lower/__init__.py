"""From a schedule to the statements of kernels."""
