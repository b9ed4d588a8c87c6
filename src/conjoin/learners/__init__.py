"""Learners: models that bend, trained on rows, beside the straight lines of the engine.

A learner takes rows of columns and a target and returns a model that predicts new rows. `rows` says
what it is given, `boosting` is LightGBM, `foreign` wraps any scikit-learn estimator, `crossfit`
predicts every row by a model that has not seen it.
"""
