"""Measurements of rows in time and of prediction intervals."""
