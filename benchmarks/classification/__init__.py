"""Accuracy of class probabilities on real grouped data: every contestant on the same splits."""
