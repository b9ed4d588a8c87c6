"""What both estimators share: checks of parameters, one dataset, notebooks."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import (
    cross_val_predict,
)
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_html_repr

import conjoin
from conjoin import ConjoinError, ConjoinWarning, JoinRegressor
from conjoin.datasets import make_clusters
from conjoin.errors import ArgumentError, OutlierWarning
from tests.estimators.regression import FEATURES, join


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"strategy": "sum"}, "strategy='sum' is unknown; expected one of auto, best"),
        ({"method": "guess"}, "method='guess' is unknown"),
        ({"on_unseen": "skip"}, "on_unseen='skip' is unknown; expected one of pooled"),
        ({"missing": "zero"}, "missing='zero' is unknown"),
        ({"weigh_by": "all"}, "weigh_by='all' is unknown"),
        ({"delta": 2}, "delta=2 is not a level"),
        ({"folds": 1}, "folds=1 is not a count"),
        ({"random_state": None}, "random_state=None is no seed"),
    ],
)
def test_parameters_are_checked_at_fit(data, wrong, words):
    X, y = data
    for model in (join(by="store", **wrong), join(**wrong)):
        with pytest.raises(ArgumentError, match=words):
            model.fit(X, y)


def test_targets_that_cannot_be_used(data):
    X, y = data
    model = join(by="store")
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X, np.where(np.arange(len(y)) == 3, np.nan, y))
    with pytest.raises(ValueError, match="1d array"):
        model.fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, y[:-1])
    with pytest.raises(ValueError, match="requires y to be passed"):
        model.fit(X, None)
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        column = join(by="store").fit(X, y[:, None])
    assert_array_equal(column.predict(X), model.fit(X, y).predict(X))


def test_unfitted():
    model = join()
    for method in (model.predict, lambda X: model.assign(X, [1.0])):
        with pytest.raises(NotFittedError):
            method([[1.0]])
    assert not hasattr(model, "clusters_")
    with pytest.raises(NotFittedError):
        model.save("nowhere.json")


def test_without_names_there_is_one_least_squares_model(data):
    X, y = data
    with pytest.warns(ConjoinWarning, match="only one dataset, so nothing is joined") as caught:
        model = join().fit(X[FEATURES], y)
    assert caught[0].filename == __file__
    assert model.clusters_ == [["all"]]
    assert model.strategy_ == "separate"
    assert model.ledger_ == ()
    assert model.errors_["separate"].error == pytest.approx(
        np.mean((y - cross_val_predict(LinearRegression(), X[FEATURES], y, cv=10)) ** 2), rel=0.05
    )
    expected = LinearRegression().fit(X[FEATURES], y)
    assert_allclose(model.predict(X[FEATURES]), expected.predict(X[FEATURES]), atol=1e-10)
    assert_allclose(model.coef_.to_numpy()[0, 1:], expected.coef_)
    with pytest.raises(ArgumentError, match="fitted without groups, to one dataset"):
        model.predict(X[FEATURES], groups=X["store"])


def test_one_name_is_one_dataset_too(data, tmp_path):
    X, y = data
    X, y = X[X["store"] == "d4"], y[X["store"] == "d4"]
    with pytest.warns(ConjoinWarning, match="only one dataset"):
        model = join(by="store", fit_intercept=False).fit(X, y)
    assert model.clusters_ == [["d4"]]
    expected = np.linalg.lstsq(X[FEATURES].to_numpy(), y, rcond=None)[0]
    assert_allclose(model.coef_.loc["d4"], [0, *expected], atol=1e-12)
    with pytest.warns(ConjoinWarning, match="not there at fitting"):
        other = model.predict(X.assign(store="d9"))
    assert_array_equal(other, model.predict(X))
    assert model.assign(X, y).cluster == 0
    assert_array_equal(model.result_.using("pooled").predict(X), model.predict(X))
    assert model.result_.explain("d4") == ()
    model.save(tmp_path / "one.json")
    assert_array_equal(JoinRegressor.load(tmp_path / "one.json").predict(X), model.predict(X))
    assert "1 dataset in 1 cluster<" in model._repr_html_()


def test_coefficients_without_pandas(fitted, monkeypatch):
    expected = fitted.coef_

    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr("conjoin.estimators.coefficients.import_module", absent)
    table = fitted.coef_
    assert table.column_names == ["dataset", "intercept", *FEATURES]
    assert_array_equal(table["x2"].to_numpy(), expected["x2"])


def test_looking_at_the_names_of_attributes_computes_none(data, monkeypatch):
    model = join(by="store", strategy="pooled").fit(*data)
    monkeypatch.setattr(JoinRegressor, "errors_", property(lambda self: pytest.fail("computed")))
    assert "errors_" in dir(model)
    assert "JoinRegressor" in estimator_html_repr(make_pipeline(model))


def test_notebook_view(data, fitted):
    page = fitted._repr_html_()
    assert "5 datasets in 2 clusters" in page
    assert "<td>d1, d2, d3</td>" in page
    assert "error (RMSE)" in page
    assert f"{fitted.errors_['auto'].error ** 0.5:.4g}" in page
    assert "sk-top-container" in page
    assert fitted._repr_mimebundle_()["text/html"].startswith('<div class="conjoin-summary">')
    assert "JoinRegressor(by='store', folds=4)" in repr(fitted)
    assert "conjoin-summary" not in join()._repr_html_()
    with sklearn.config_context(display="text"):
        assert list(fitted._repr_mimebundle_()) == ["text/plain"]


def test_notebook_view_shows_names_as_text(data):
    X, y = data
    bad = "<img src=x onerror=alert(1)>"
    model = join(by="store").fit(X.replace({"store": {"d1": bad}}), y)
    page = model._repr_html_()
    assert "<img" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page


def test_notebook_view_of_many_datasets_computes_no_errors(data, fitted, monkeypatch):
    monkeypatch.setattr("conjoin.report.notebook.MOST_ERRORS", 4)
    monkeypatch.setattr(conjoin.Partition, "errors", property(lambda self: pytest.fail("computed")))
    page = fitted._repr_html_()
    assert "5 datasets in 2 clusters" in page
    assert "error (RMSE)" not in page


def test_notebook_view_of_many_clusters_is_short(data, fitted, monkeypatch):
    monkeypatch.setattr("conjoin.report.notebook.MOST_CLUSTERS", 1)
    monkeypatch.setattr("conjoin.report.notebook.MOST_MEMBERS", 2)
    page = fitted._repr_html_()
    assert "d1, d2 and 1 more" in page
    assert "and 1 cluster more" in page


def test_clone(data, fitted):
    fresh = clone(fitted)
    assert fresh.get_params() == fitted.get_params()
    assert not hasattr(fresh, "result_")
    assert_array_equal(fresh.fit(*data).predict(data[0]), fitted.predict(data[0]))


def test_errors_are_value_errors(data):
    with pytest.raises(ValueError) as caught:
        join(by="shop").fit(*data)
    assert isinstance(caught.value, ConjoinError)


def test_a_bar_on_standard_error_shows_progress_when_asked_for(data, capsys):
    X, y = data
    join("store").fit(X, y)
    assert not capsys.readouterr().err
    join("store", verbose=True).fit(X, y)
    shown = capsys.readouterr()
    done, total = shown.err.split()[-2].split("/")
    assert "Finding what to join" in shown.err
    assert done == total != "0"
    assert not shown.out


def test_gross_errors_are_left_out_and_told():
    made = make_clusters(sizes=(2, 2), n=80, p=3, distance=2.0)
    X, y = (np.concatenate(list(part.values())) for part in (made.X, made.y))
    names = np.repeat(made.names, 80)
    clean = join().fit(X, y, groups=names)
    wrong = y.copy()
    wrong[41] = 99999999.0
    with pytest.warns(OutlierWarning, match=r"Without row 42 \(d1, y 99,999,999\): 2 clusters"):
        model = join().fit(X, wrong, groups=names)
    assert model.clusters_ == clean.clusters_
    assert model._repr_html_inner().index("Without row 42") < 200
    assert join(drop_outliers=True).fit(X, wrong, groups=names).clusters_ == clean.clusters_
    assert join(drop_outliers=False).fit(X, wrong, groups=names).clusters_ != clean.clusters_
    assert join(robust=True).fit(X, wrong, groups=names).clusters_ == clean.clusters_
    fewer = join(ignore=["x2"]).fit(X, y, groups=names)
    assert list(fewer.coef_.columns) == ["intercept", "x0", "x1"]
    assert fewer.predict(X[:3], groups=names[:3]).shape == (3,)
