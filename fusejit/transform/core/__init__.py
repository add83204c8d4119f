"""What primitives share: handles, checks."""
