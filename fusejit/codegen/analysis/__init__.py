"""What is known of statements and integers of a kernel."""
