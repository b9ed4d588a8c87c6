import pickle

import numpy as np

from conjoin.models.remote_glm import Ask
from conjoin.sites.desk import RoundDesk


def ask(value: float, kind: str = "sums") -> Ask:
    arrays = (np.array([value]),) if kind != "step" else (np.array([value]), np.array([2.0]))
    return Ask(kind, "a", False, arrays)


def test_questions_of_several_pieces_of_work_travel_together():
    rounds = []

    def carry(asked):
        rounds.append(len(asked))
        return [(one.arrays[0] + 1,) for one in asked]

    desk = RoundDesk(carry)

    def work(start: float) -> float:
        for _ in range(3):
            start = float(desk.fetch([ask(start)])[0][0][0])
        return start

    assert list(desk.each(work, [0.0, 10.0, 20.0, 0.0])) == [3.0, 13.0, 23.0, 3.0]
    assert rounds == [3, 3, 3]
    assert work(0.0) == 3.0  # all is known
    assert rounds == [3, 3, 3]


def test_the_answer_to_a_step_holds_the_sums_at_its_end():
    desk = RoundDesk(lambda asked: [(np.array([0.5]), np.array([7.0])) for _ in asked])
    desk.fetch([ask(1.0, "step")])
    desk._carry = None  # nobody is asked again
    assert desk.fetch([ask(2.0)])[0][0] == 7.0


def test_old_answers_are_forgotten_beyond_a_limit():
    asked = []
    desk = RoundDesk(lambda some: asked.extend(some) or [(one.arrays[0],) for one in some], most=16)
    for value in (1.0, 2.0, 3.0):
        desk.fetch([ask(value)])
    desk.fetch([ask(3.0)])
    assert len(asked) == 3
    desk.fetch([ask(1.0)])
    assert len(asked) == 4


def test_a_desk_can_be_pickled():
    desk = pickle.loads(pickle.dumps(RoundDesk(len)))
    assert list(desk.each(lambda item: item, [1, 2])) == [1, 2]
