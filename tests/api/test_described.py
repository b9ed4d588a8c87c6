"""How options are described."""

from dataclasses import dataclass

from conjoin.api.described import Option, default_of, described, documented, option


@dataclass(frozen=True)
class Asked:
    """A request with one option."""

    way: str = option("short", "Which way.", choices=("short", "long"))


def test_an_option_has_a_default_a_description_and_a_docstring():
    assert default_of(Asked, "way") == "short"
    assert described(Asked)["way"] == Option("Which way.", choices=("short", "long"))

    @documented(Asked)
    def walk() -> None:
        """Walk.

        Parameters
        ----------
        {options}
        """

    assert 'way : "short" or "long" (default "short")' in walk.__doc__
    assert "Which way." in walk.__doc__
