"""Accuracy on real grouped data: every contestant predicts the same test rows of the same sets.

The modules of this folder are the shared core: data, running contestants, results, tables, ceiling.
`regression` and `classification` hold what differs: sets, contestants, error and stored results.
"""
