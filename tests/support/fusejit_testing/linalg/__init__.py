"""MLIR's linalg dialect as data, cases of its ops, and independent references."""
