"""Decide which sites to train together, over Flower."""
