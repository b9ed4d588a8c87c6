"""Results: what users get back.

`values` has the small frozen values, `fits` the models, `predictor` the one way from rows to
predictions, `partition` and `comparison` what the public functions return, `store` and `load` the
model file.
"""
