"""Warnings of the library as plain notes on standard error."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from conjoin.cli.words import with_options
from conjoin.errors import ConjoinWarning, OutlierWarning
from conjoin.text import printable


@contextmanager
def notes() -> Iterator[None]:
    """Print what the library warns of as plain notes on standard error, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", ConjoinWarning)
        try:
            yield
        finally:
            # What was found of gross errors stands in the first lines of the output.
            told = [one.message for one in caught if one.category is not OutlierWarning]
            for text in dict.fromkeys(map(str, told)):
                typer.echo(f"Note: {printable(with_options(text))}", err=True)
