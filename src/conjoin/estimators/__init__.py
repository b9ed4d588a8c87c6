"""Room estimators."""
