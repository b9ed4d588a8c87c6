"""Models: least squares, partial pooling, mixtures and likelihoods, all fitted from moments.

Enters: moments, or rows where a likelihood needs them. Leaves: coefficients, variances and
posteriors. Nothing here reads tables or files.

- `ols`, `noise`: least squares, noise variances
- `partial`, `mixture`: partial pooling, soft clusters
- `effort`: how much work a collection is worth
- `glm_families`, `padded_rows`, `glm`: distributions, stacks of rows, Newton's method
- `problem`, `glm_rows`, `likelihood`: what strategies are fitted to
- `backing`, `held_out`: what verdicts rest on, probabilities of held-out rows
"""
