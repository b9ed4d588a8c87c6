"""Room sources."""
