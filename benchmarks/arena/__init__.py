"""Accuracy on real grouped data: every contestant on the same splits of the same sets."""
