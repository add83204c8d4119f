"""What the tests of several stages share: programs in IR text, and random graphs."""
