"""Levels of verdicts on real tables: two random samples of one table are never apart."""
