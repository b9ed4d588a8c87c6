"""Numbers and dates written as text."""

import datetime

import pytest

from conjoin.tables.parse import FORMATS, all_fit, date_format, is_number, usual_date_format


@pytest.mark.parametrize("text", ["1", "-1.5", "+.5", "5.", "1e3", "inf", "-Infinity", "nan"])
def test_numbers(text):
    assert is_number(text)


@pytest.mark.parametrize("text", ["", "1_000", "1,5", "0x1", " 1", "one", "1e", "\uff11"])
def test_texts_that_are_not_numbers(text):
    assert not is_number(text)


def test_day_comes_before_month_if_both_fit():
    assert date_format(["01/02/2020", "03/04/2020"]) == "%d/%m/%Y"
    assert date_format(["01/02/2020", "03/14/2020"]) == "%m/%d/%Y"
    assert date_format(["01/02/2020", "14/14/2020"]) is None


def test_every_format_is_found_again():
    dates = [datetime.datetime(2020, 1, 1) + datetime.timedelta(hours=31 * i) for i in range(60)]
    for format in FORMATS:
        texts = [date.strftime(format) for date in dates]
        found = date_format(texts)
        assert [datetime.datetime.strptime(t, found) for t in texts] == [
            datetime.datetime.strptime(t, format) for t in texts
        ]


def test_dates_that_do_not_exist():
    assert not all_fit(["2020-02-31"], "%Y-%m-%d")
    assert date_format(["2020-02-31"]) is None


def test_one_text_of_many_that_is_not_a_date():
    start = datetime.datetime(2000, 1, 1)
    dates = [str(start + datetime.timedelta(minutes=7 * i)) for i in range(50_000)]
    assert date_format(dates) == "%Y-%m-%d %H:%M:%S"
    dates[25_001] = "2001-13-01 00:00:00"
    assert date_format(dates) is None


DAYS = {f"{day:02d}/{month:02d}/2019": 2 for day in range(1, 29) for month in range(1, 13)}


@pytest.mark.parametrize("odd", ["2019-13-45", "unknown", "31/02/2019", "45/13/2019"])
def test_one_odd_text_leaves_the_format(odd):
    assert usual_date_format({**DAYS, odd: 1}) == ("%d/%m/%Y", (odd,))


def test_many_odd_texts_are_no_dates():
    texts = {f"word {k}": 1 for k in range(21)}
    assert usual_date_format({**DAYS, **texts}) == (None, ())
    assert usual_date_format({**DAYS, "often": 200}) == (None, ())
    assert usual_date_format(texts) == (None, ())
    assert usual_date_format(DAYS) == ("%d/%m/%Y", ())
