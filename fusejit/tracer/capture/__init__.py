"""Source: the staged form of a function, and what may be staged."""
