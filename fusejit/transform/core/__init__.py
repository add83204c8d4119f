"""What primitives share: handles, facts of maps, slices of ops, the check of a step."""
