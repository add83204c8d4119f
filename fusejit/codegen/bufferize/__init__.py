"""Bufferization: where values live, and which stores may be made in place."""
