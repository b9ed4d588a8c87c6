"""Small pieces of text: lists of names, long names cut short, hidden characters spelled out.

Names and numbers enter, short strings leave. Nothing heavy is imported, since help texts and error
messages need this module.
"""

import re
from collections.abc import Sequence

MOST_QUOTED = 5  # names in an error message: enough to see what they are like on one line
MOST_LISTED = 6  # names in a sentence or a table cell
LONGEST_NAME = 60  # characters of one name; file names and free text can have thousands
# Control characters, line and paragraph separators, marks that turn the direction of writing, and
# halves of characters: in a file name they would move the cursor or hide text.
HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def quoted(names: Sequence[object], most: int = MOST_QUOTED) -> str:
    """Return the first names in quotes, for an error message.

    >>> quoted(["a", "b"]), quoted(["a", "b", "c"], most=1)
    ("'a', 'b'", "'a' and 2 more")
    """
    words = ", ".join(
        repr(shortened(name) if isinstance(name, str) else name) for name in names[:most]
    )
    more = len(names) - most
    return f"{words} and {more} more" if more > 0 else words


def listed(names: Sequence[str], most: int = MOST_LISTED) -> str:
    """Return the first names as they are, and how many more there are.

    >>> listed(["Dallas", "Austin", "Waco"], most=2)
    'Dallas, Austin and 1 more'
    """
    more = len(names) - most
    return ", ".join(map(shortened, names[:most])) + (f" and {more} more" if more > 0 else "")


def shortened(name: str) -> str:
    """Return a name without the middle part if it is very long.

    >>> shortened("store " + "x" * 500 + " north")
    'store xxxxxxxxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxxxxxx north'
    """
    if len(name) <= LONGEST_NAME:
        return name
    half = (LONGEST_NAME - 3) // 2
    return f"{name[: half + 1]}...{name[-half:]}"


def printable(text: str) -> str:
    r"""Return a text in which hidden characters are spelled out.

    >>> print(printable("two" + chr(10) + "lines"))
    two\nlines
    """
    return HIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


# Words before a secret in connection strings, addresses and SQL: password=..., SECRET '...'.
SECRET_WORDS = r"password|passwd|pwd|secret(?:_?key)?|(?:auth_|access_|session_)?token|api_?key"
QUOTED = r"'[^']*'|\"[^\"]*\""
SECRET = re.compile(
    rf"(\b(?:{SECRET_WORDS})\b)(?:(\s*[=:]\s*)(?:{QUOTED}|[^&\s\"',;)]+)|(\s+)(?:{QUOTED}))",
    re.IGNORECASE,
)
# The address of a database server; a password that is not escaped may hold anything but blanks.
DATABASE = re.compile(r"(postgres(?:ql)?://)([^\s\"']+)", re.IGNORECASE)


def without_secrets(text: str) -> str:
    """Return a text without addresses of databases, and without passwords and keys.

    >>> without_secrets("no table in postgresql://me:hidden@host:5432/shop")
    'no table in postgresql://.../shop'
    >>> without_secrets("host=h password='two words' ... TOKEN 'abc'")
    'host=h password=... ... TOKEN ...'
    """
    text = DATABASE.sub(lambda found: f"{found[1]}...{_database_name(found[2])}", text)
    text = re.sub(r"(\w+://[^\s:/@]*):\S*@", r"\1@", text)
    return SECRET.sub(lambda found: f"{found[1]}{found[2] or found[3]}...", text)


def _database_name(rest: str) -> str:
    """Return the last part of an address with its slash; empty if it may be part of a password."""
    account, _, place = rest.rpartition("@")
    found = re.fullmatch(r"[^/?]*(/[\w-]+)(\?.*|[.,;:!)]*)", place)
    return found[1] if found and "?" not in account else ""
