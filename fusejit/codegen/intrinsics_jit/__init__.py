"""The functions that kernels may call: implementations in LLVM."""
