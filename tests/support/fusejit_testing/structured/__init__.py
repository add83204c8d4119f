"""Random structured ops, and small programs around them, against ``op.reference``."""
