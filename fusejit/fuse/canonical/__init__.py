"""One form for each meaning: passes that do not fuse."""
