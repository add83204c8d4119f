"""Source: the rewritten form of a function, and what may be traced."""
