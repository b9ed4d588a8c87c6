"""What users call says what it takes, returns and raises, and shows an example."""

import inspect

import pytest

import conjoin
from conjoin import datasets, paper, representations

PLACES = (conjoin, datasets, paper, representations)
FUNCTIONS = {
    f"{place.__name__}.{name}": getattr(place, name)
    for place in PLACES
    for name in place.__all__
    if inspect.isfunction(getattr(place, name))
}
CLASSES = {
    f"{place.__name__}.{name}": getattr(place, name)
    for place in PLACES
    for name in place.__all__
    if inspect.isclass(getattr(place, name)) and not issubclass(getattr(place, name), Exception)
}
METHODS = {
    f"{cls.__name__}.{name}": method
    for cls in (conjoin.Partition, conjoin.JoinRegressor, conjoin.JoinClassifier)
    for name, method in inspect.getmembers(cls, inspect.isfunction)
    if not name.startswith(("_", "set_", "get_")) and method.__module__.startswith("conjoin")
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_every_section(name):
    text = inspect.getdoc(FUNCTIONS[name])
    for section in ("Parameters", "Returns", "Examples"):
        if section != "Parameters" or inspect.signature(FUNCTIONS[name]).parameters:
            assert f"{section}\n{'-' * len(section)}" in text, section
    assert ">>> " in text
    if "raise" in inspect.getsource(FUNCTIONS[name]):
        assert "Raises\n------" in text


@pytest.mark.parametrize("name", CLASSES)
def test_classes_describe_their_parameters(name):
    text = inspect.getdoc(CLASSES[name])
    assert text
    if inspect.signature(CLASSES[name]).parameters:
        assert any(f"{section}\n----------" in text for section in ("Parameters", "Attributes"))


@pytest.mark.parametrize("name", METHODS)
def test_methods_say_what_they_return(name):
    method = METHODS[name]
    text = inspect.getdoc(method)
    returns = inspect.signature(method).return_annotation
    assert text[0].isupper()
    if returns not in (None, "None"):
        assert "return" in text.lower()
