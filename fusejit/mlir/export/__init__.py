"""Graphs as MLIR text."""
