"""From a call to what serves it: a variant, segments, or Python."""
