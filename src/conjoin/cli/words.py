"""Texts for a terminal: nothing in them is acted on, and options are called as on the command line.

This module imports nothing heavy, since help and errors need it.
"""

import re

# Control characters, line and paragraph separators, marks that turn the direction of writing, and
# halves of characters: in a name of a file they would move the cursor or hide text.
HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
OPTIONS = {
    "random_state": "--seed",
    "on_unseen": "--on-unseen",
    "learn_share": "--learn-share",
    **{
        name: f"--{name}"
        for name in (
            "target", "by", "features", "weights", "missing", "columns", "query", "method",
            "strategy", "count", "delta", "rule", "repetitions", "family",
            "representation",
        )
    },
}  # fmt: skip
# An argument as messages of the library name it, but not a part of a quoted name or a path.
ARGUMENT = re.compile(rf"(?<![\w'\"/.-])({'|'.join(OPTIONS)})=(?=[\w'\"\[.-])")


def printable(text: str) -> str:
    r"""Return a text in which hidden characters are spelled out.

    >>> print(printable("two" + chr(10) + "lines"))
    two\nlines
    """
    return HIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def with_options(message: str) -> str:
    """Return a message of the library with arguments as the command line calls them.

    >>> with_options("by='shop' is not a column; columns are 'store'.")
    "--by 'shop' is not a column; columns are 'store'."
    """
    message = message.replace("features=[...]", "--features A,B")
    message = message.replace("by is missing:", "--by is missing:")
    message = re.sub(r"\bwith (by|features|query)\b(?!=)", r"with --\1", message)
    return ARGUMENT.sub(lambda found: f"{OPTIONS[found[1]]} ", message)
