"""What primitives share: handles, facts of maps, checks."""
