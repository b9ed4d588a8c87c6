"""Documents damaged on purpose: other values with a fitting checksum, hostile texts, bytes."""

import copy
import json

from conjoin.result.document import checksum

# What a value is replaced by. Names and numbers of other kinds, sizes and ranges.
OTHERS = (None, True, -1, 0, 10**9, 10**400, 1e308, -1e308, "", "nan", "x" * 50, [], {}, [[]],
          [1, 2], {"a": 1}, {"shape": [10**9], "base64": ""})  # fmt: skip
DEPTH = 100_000  # lists in lists: far beyond what Python's stack holds


def places(value, path=()):
    """Yield the path of every part of a document, a few of each list."""
    yield path
    if isinstance(value, dict):
        for key, one in value.items():
            yield from places(one, (*path, key))
    elif isinstance(value, list):
        for k, one in enumerate(value[:2]):
            yield from places(one, (*path, k))


def damaged(content, path, rng):
    """Return a copy of the content with another value at a path, or without the value."""
    found = copy.deepcopy(content)
    parent = found
    for key in path[:-1]:
        parent = parent[key]
    how = rng.randrange(len(OTHERS) + 2)
    if how < len(OTHERS):
        parent[path[-1]] = OTHERS[how]
    elif isinstance(parent, dict):
        del parent[path[-1]]
    else:
        parent.append(parent[path[-1]])
    return found


def text_of(document, content):
    """Return a document with another content, as an attacker would write it."""
    return json.dumps({**document, "content": content, "checksum": checksum(content)})


def hostile_texts(text):
    """Return texts of a document that break JSON, or bear on whoever reads it."""
    first = text.index('"content"')
    return {
        "deep lists": text[:first] + '"content": ' + "[" * DEPTH + "]" * DEPTH + "}",
        "deep mappings": text[:first] + '"content": ' + '{"a":' * DEPTH + "1" + "}" * DEPTH + "}",
        "not a number": text[:first] + '"content": {"plan": NaN}}',
        "an infinite number": text[:first] + '"content": {"plan": -Infinity}}',
        "a key twice": text[:first] + '"format": "other", ' + text[first:],
        "a number of 100,000 digits": text[:first] + '"content": ' + "9" * 100_000 + "}",
        "no text": "\ud800" + text,
        "nothing": "",
        "null": "null",
        "a list": "[]",
    }


def flipped(data, rng):
    """Return bytes with a few of them changed, moved or cut off."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        found[rng.randrange(len(found))] = rng.randrange(256)
    how = rng.randrange(4)
    if how == 0:
        return bytes(found[: rng.randrange(len(found))])
    if how == 1:
        at = rng.randrange(len(found))
        return bytes(found[:at] + found[at + rng.randrange(1, 50) :])
    return bytes(found)
