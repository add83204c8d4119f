"""Passes over the `Loop` ops of a graph."""
