"""Whether compiling pays, and what becomes of what does not."""
