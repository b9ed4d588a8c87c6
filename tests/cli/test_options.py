from inspect import signature

from conjoin.api.described import described
from conjoin.api.request import PairRequest, Request
from conjoin.cli.options import flag_of, takes


def test_flags_have_dashes_and_the_seed_its_own_name():
    options = described(Request)
    assert flag_of("weigh_by", options["weigh_by"]) == "--weigh-by"
    assert flag_of("random_state", options["random_state"]) == "--seed"


def test_a_command_gets_the_options_and_its_values():
    seen = {}

    @takes(PairRequest)
    def command(file: str, loud: bool = False, *, asked: dict) -> None:
        seen.update(asked, file=file, loud=loud)

    names = list(signature(command).parameters)
    assert set(described(PairRequest)) < set(names)
    assert names[:2] == ["file", "target"]  # what is required comes first
    values = {name: getattr(PairRequest, name, None) for name in described(PairRequest)}
    command(file="f", loud=True, **{**values, "target": "y", "features": ["a, b", "c"]})
    assert seen["features"] == ["a", "b", "c"]
    assert seen["file"] == "f"
    assert seen["loud"]
    assert seen["delta"] == 0.1


def test_several_columns_name_a_dataset_once():
    seen = {}

    @takes(Request)
    def command(*, asked: dict) -> None:
        seen.update(asked)

    values = {name: getattr(Request, name, None) for name in described(Request)}
    command(**{**values, "target": "y", "by": ["a", "b", "a"]})
    assert seen["by"] == ["a", "b"]
    command(**{**values, "target": "y", "by": None})
    assert seen["by"] is None
