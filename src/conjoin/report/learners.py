"""What learners are called in sentences.

The name of a learner enters, words leave.
"""

# What a learner trains, for sentences; others stand by their name.
LEARNED_MODELS = {"linear": "lines", "boosting": "boosted trees"}


def learner_in_words(learner: str) -> str:
    """Return what a learner trains.

    >>> learner_in_words("boosting"), learner_in_words("KNeighborsRegressor")
    ('boosted trees', 'KNeighborsRegressor')
    """
    return LEARNED_MODELS.get(learner, learner)
