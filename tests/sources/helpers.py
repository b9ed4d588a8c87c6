"""Small builders and checks shared by the tests of sources."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conjoin.errors import ConjoinError, ReadError
from conjoin.sources.read import open_source

PLAIN = "store,price,sales\na,1.5,10\nb,2.5,20\n"


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def write_parquet(path: Path, **columns) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)
    return path


def rows(sources, **options):
    with open_source(sources, **options) as source:
        return source.relation.order("ALL").fetchall()


def types(sources, **options):
    with open_source(sources, **options) as source:
        return dict(zip(source.relation.columns, map(str, source.relation.types)))


def refused(sources, match, error=ReadError, **options):
    with pytest.raises(error, match=match) as caught:
        open_source(sources, **options)
    message = str(caught.value)
    assert isinstance(caught.value, ConjoinError)
    assert "\n" not in message and message.endswith((".", "?"))
    return message
