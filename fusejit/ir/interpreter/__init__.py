"""The reference interpreter: slow, and written to be read."""
