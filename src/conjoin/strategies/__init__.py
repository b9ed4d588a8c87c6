"""Room strategies."""
