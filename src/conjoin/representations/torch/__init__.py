"""Room torch."""
