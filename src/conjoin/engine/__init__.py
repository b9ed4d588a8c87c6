"""Room engine."""
