from conjoin.progress_parts import by_costs, report, split_progress


def test_parts_make_one_whole_that_never_goes_back():
    seen = []
    parts = by_costs(lambda done, total: seen.append((done, total)), [6, 2, 1, 1])
    for part in parts:
        inner = split_progress(part, 0.5)
        for one in inner:
            for step in range(4):
                report(one, step, 3)
    done = [one for one, _ in seen]
    assert done == sorted(done)
    assert (done[0], done[-1]) == (0, 100)
    assert {total for _, total in seen} == {100}


def test_nobody_listens():
    assert split_progress(None, 0.2, 0.3) == [None, None, None]
    report(None, 1, 2)
