"""Representations on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("torch", reason="torch is not installed (extra nn)")


def test_partition_save_predict_explain_and_report(conjoin_, folder):
    done = conjoin_(
        "partition", "long.parquet", "--target", "y", "--by", "store", "--representation", "mlp1",
        "--save", "network.json", "--report", "network.html",
    )  # fmt: skip
    assert done.code == 0
    line = next(line for line in done.out.splitlines() if line.startswith("Features: "))
    assert line.startswith("Features: MLP1 (one hidden layer of 16 units), trained on all 360")
    assert line.endswith("cross-fitted in 5 groups.")
    assert "MLP1 (one hidden layer" in (folder / "network.html").read_text()
    assert conjoin_("predict", "network.json", "long.parquet", "-o", "out.csv").code == 0
    assert np.isfinite(pd.read_csv(folder / "out.csv")["prediction"]).all()
    assert conjoin_("explain", "network.json", "d1").code == 0
    facts = json.loads(conjoin_("explain", "network.json", "--json").out)
    assert facts["representation"]["used"] == 360
    assert facts["representation"]["losses"]


@pytest.mark.parametrize(
    "options, message",
    [
        (
            ["--representation", "PCA"],
            "--representation 'PCA' is unknown; expected one of mlp1, mlp2.",
        ),
        (["--representation", "mlp1", "--learn-share", "0.3"], "networks are cross-fitted now"),
    ],
)
def test_what_cannot_be_gets_one_sentence(conjoin_, options, message):
    done = conjoin_("partition", "long.parquet", "--target", "y", "--by", "store", *options)
    assert done.code == 2
    assert message in done.err
    assert len(done.err.splitlines()) == 1


def test_training_can_be_interrupted(conjoin_, monkeypatch):
    def interrupt(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("conjoin.representations.networks.Network._train", interrupt)
    done = conjoin_(
        "partition", "long.parquet", "--target", "y", "--by", "store", "--representation", "mlp1"
    )
    assert (done.code, done.err) == (130, "Interrupted.\n")


def test_without_torch_there_is_one_sentence(conjoin_, monkeypatch):
    import sys

    for name in [n for n in sys.modules if "conjoin.representations.torch" in n]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    done = conjoin_(
        "partition", "long.parquet", "--target", "y", "--by", "store", "--representation", "mlp1"
    )
    assert done.code == 2
    assert done.err == (
        "Error: Neural networks need torch, which is not installed; run pip install "
        "'conjoin[nn]'.\n"
    )
