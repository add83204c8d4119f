"""The first calls of a function, before it is known whether it is worth a trace."""
