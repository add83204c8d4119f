"""What a call runs before, between and behind kernels."""
