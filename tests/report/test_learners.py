from conjoin.report.learners import learner_in_words


def test_learners_have_words():
    assert learner_in_words("linear") == "lines"
    assert learner_in_words("boosting") == "boosted trees"
    assert learner_in_words("SVR") == "SVR"
