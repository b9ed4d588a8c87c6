"""Estimators for scikit-learn: `JoinRegressor` and `JoinClassifier` (in `estimators.join`)."""
