from hypothesis import settings

settings.register_profile("conjoin", deadline=None, max_examples=40, derandomize=True)
settings.load_profile("conjoin")
