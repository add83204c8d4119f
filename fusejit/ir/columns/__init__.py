"""Items of containers from outside, in columns."""
