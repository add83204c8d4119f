"""Groups of ops that share outer loops, and the steps of a program."""
