"""From kernel text to machine code, on disk and in the process; threads; the machine."""
