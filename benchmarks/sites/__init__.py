"""Measurements of sites that may not share rows."""
