"""The names a kernel may use: meaning in LLVM."""
