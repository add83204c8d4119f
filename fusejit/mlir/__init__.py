"""MLIR programs as functions on NumPy arrays, and graphs as MLIR text (`fusejit.ir.mlir_text`)."""
