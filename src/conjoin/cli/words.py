"""Texts for a terminal: nothing in them is acted on, and options are called as on the command line.

This module imports nothing heavy, since help and errors need it.
"""

import re

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


def with_options(message: str) -> str:
    """Return a message of the library with arguments as the command line calls them.

    >>> with_options("by='shop' is not a column; columns are 'store'.")
    "--by 'shop' is not a column; columns are 'store'."
    """
    message = message.replace("features=[...]", "--features A,B")
    message = message.replace("by is missing:", "--by is missing:")
    message = re.sub(r"\bwith (by|features|query)\b(?!=)", r"with --\1", message)
    return ARGUMENT.sub(lambda found: f"{OPTIONS[found[1]]} ", message)
