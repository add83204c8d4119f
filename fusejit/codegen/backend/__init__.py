"""The back end: LLVM, object code on disk and in the process, threads."""
