"""Room result."""
