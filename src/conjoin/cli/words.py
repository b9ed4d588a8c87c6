"""Texts for a terminal: nothing in them is acted on, and options are called as on the command line.

This module imports nothing heavy, since help and errors need it.
"""

import re
import shlex

from conjoin.api.described import described
from conjoin.api.request import PredictionOptions, Request
from conjoin.cli.options import flag_of

OPTIONS = {
    name: flag_of(name, option)
    for request in (Request, PredictionOptions)
    for name, option in described(request).items()
} | {"rule": "--rule", "repetitions": "--repetitions"}
# The same of `conjoin paper`.
OPTIONS |= {
    name: f"--{name}"
    for name in ("n", "resamples", "overparametrised", "reading", "steps", "pairs")
}
OPTIONS |= {"lam": "--lambda", "out_of_samples": "--out-of-samples", "fresh_rows": "--fresh-rows"}
# Options without a value: how they are switched on and off.
SWITCHES = {
    name: (OPTIONS[name], option.opposite or "--no-" + OPTIONS[name].removeprefix("--"))
    for request in (Request, PredictionOptions)
    for name, option in described(request).items()
    if option.opposite or isinstance(getattr(request, name, None), bool)
} | {"overparametrised": ("--overparametrised", "--no-overparametrised")}
SWITCH = re.compile(rf"\b({'|'.join(SWITCHES)})=(True|False)\b")
# An argument as messages of the library name it, but not a part of a quoted name or a path.
ARGUMENT = re.compile(rf"(?<![\w'\"/.-])({'|'.join(OPTIONS)})=(?=[\w'\"\[.-])")


# A list of columns, such as ignore=['id', 'zip'].
LISTED = re.compile(r"\b(category|ignore)=\['([^\]]*)'\]")


def with_options(message: str) -> str:
    """Return a message of the library with arguments as the command line calls them.

    >>> with_options("by='shop' is not a column; columns are 'store'.")
    "--by 'shop' is not a column; columns are 'store'."
    """
    message = message.replace("features=[...]", "--features A,B")
    message = SWITCH.sub(lambda found: SWITCHES[found[1]][found[2] == "False"], message)
    message = LISTED.sub(
        lambda found: f"--{found[1]} " + shlex.quote(found[2].replace("', '", ",")), message
    )
    message = message.replace("by is missing:", "--by is missing:")
    message = re.sub(r"\bwith (by|features|query)\b(?!=)", r"with --\1", message)
    return ARGUMENT.sub(lambda found: f"{OPTIONS[found[1]]} ", message)
