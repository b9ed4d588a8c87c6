"""Engines that people already run: files opened by Dask or Spark, or by DuckDB within a memory.

Names of files or folders enter, with the name of an engine and where it is; a lazy frame of that
engine leaves, open inside a block. Rows stay with the engine.
"""

import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conjoin.errors import ArgumentError, ReadError
from conjoin.text import quoted, without_secrets

CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
MEMORY = re.compile(r"\d+(\.\d+)?\s?(KB|MB|GB|TB|KIB|MIB|GIB|TIB)", re.IGNORECASE)
# Which engine each of the other options is for.
OWN = {"master": "spark", "scheduler": "dask", "memory": "duckdb"}


@dataclass(frozen=True)
class Engine:
    """What computes, and where.

    Parameters
    ----------
    name : "duckdb", "dask" or "spark"
    master : str, optional
        Where Spark is, such as "spark://host:7077" or "local[4]"; by default all cores here.
    scheduler : str, optional
        Where Dask is, such as "tcp://host:8786"; by default threads of this process.
    memory : str, optional
        What DuckDB may use, such as "2GB"; beyond it, DuckDB uses the disk.
    """

    name: str
    master: str | None = None
    scheduler: str | None = None
    memory: str | None = None


def engine_of(name: str | None, **options: str | None) -> Engine | None:
    """Return the engine that was asked for; None if there is none.

    >>> engine_of("duckdb", memory="2GB").memory
    '2GB'
    """
    for option, value in options.items():
        if value is not None and name != OWN[option]:
            raise ArgumentError(
                f"{option}={value!r} goes with engine={OWN[option]!r}; name that engine, or leave "
                f"{option} out."
            )
    memory = options.get("memory")
    if memory is not None and not MEMORY.fullmatch(memory.strip()):
        raise ArgumentError(f"memory={memory!r} is no size; expected one such as '2GB'.")
    return None if name is None else Engine(name, **options)


@contextmanager
def settings_of_duckdb(engine: Engine | None) -> Iterator[dict[str, str]]:
    """Give the settings of DuckDB's connection: its memory, and a folder for what goes beyond."""
    if engine is None or engine.memory is None:
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="conjoin-") as folder:
        yield {"memory_limit": engine.memory, "temp_directory": folder}


@contextmanager
def open_with(engine: Engine, sources: Any, query: str | None) -> Iterator[Any]:
    """Open files as one lazy frame of Dask or Spark.

    Raises
    ------
    ReadError
        If the engine cannot be reached, or a file cannot be read.
    """
    named = [str(one) for one in ([sources] if isinstance(sources, str | Path) else sources)]
    if query is not None:
        raise ArgumentError(
            f"query is for DuckDB; with engine={engine.name!r} leave it out, or prepare the table "
            "there and pass the frame in Python."
        )
    database = [one for one in named if "::" in one]
    if database:
        raise ArgumentError(
            f"{without_secrets(database[0])!r} is a database; engine={engine.name!r} reads Parquet "
            "and CSV files. Leave engine out."
        )
    how = _kind(named)
    with ExitStack() as stack:
        open_frame = _open_dask if engine.name == "dask" else _open_spark
        yield open_frame(stack, engine, [_address(one) for one in named], how)


def _kind(named: Sequence[str]) -> str:
    """Return whether files are CSV or Parquet, by their endings; folders count as Parquet."""
    csv = [one.lower().endswith(CSV) for one in named]
    if any(csv) and not all(csv):
        raise ReadError(f"{quoted(named)} are CSV and Parquet files; name files of one kind.")
    return "csv" if all(csv) else "parquet"


def _address(name: str) -> str:
    """Return a local path in full, since workers may run elsewhere; other addresses as they are."""
    return name if "://" in name else os.path.abspath(name)


def _open_dask(stack: ExitStack, engine: Engine, named: list[str], kind: str) -> Any:
    try:
        import dask.dataframe as frames
    except ImportError:
        raise _missing("dask", "dask[distributed]") from None
    if engine.scheduler is not None:
        try:
            from distributed import Client
        except ImportError:
            raise _missing("dask", "dask[distributed]") from None
        try:
            make: Any = Client  # it has no types
            stack.enter_context(make(engine.scheduler, timeout="10s"))
        except (OSError, ValueError, TimeoutError) as error:
            raise _unreachable("scheduler", engine.scheduler, error) from None
    read = frames.read_csv if kind == "csv" else frames.read_parquet
    extra: Mapping[str, Any] = {}
    if kind == "csv":
        gzip = all(one.lower().endswith(".gz") for one in named)
        tabs = all(".tsv" in one.lower() for one in named)
        extra = {"blocksize": None} if gzip else {}
        extra = {**extra, "compression": "gzip" if gzip else None, "sep": "\t" if tabs else ","}
    try:
        return read(named[0] if len(named) == 1 else named, **extra)
    except (OSError, ValueError) as error:
        raise _unreadable(named, "Dask", error) from None


def _open_spark(stack: ExitStack, engine: Engine, named: list[str], kind: str) -> Any:
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        raise _missing("spark", "pyspark") from None
    known = SparkSession.getActiveSession()
    if (engine.master or "local").startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers see what is seen here
    try:
        builder: Any = SparkSession.builder.master(engine.master or "local[*]")
        session = (
            known
            or builder.appName("conjoin")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.session.timeZone", "UTC")
            .getOrCreate()
        )
    except (PySparkException, RuntimeError, OSError) as error:
        raise _unreachable("master", engine.master or "local[*]", error) from None
    if known is None:
        stack.callback(session.stop)
    try:
        if kind == "parquet":
            return session.read.parquet(*named)
        tabs = all(".tsv" in one.lower() for one in named)
        return session.read.csv(named, header=True, inferSchema=True, sep="\t" if tabs else ",")
    except PySparkException as error:
        raise _unreadable(named, "Spark", error) from None


def _missing(engine: str, package: str) -> ArgumentError:
    return ArgumentError(
        f"engine={engine!r} needs a package that is not installed; pip install '{package}'."
    )


def _unreachable(option: str, address: str, error: Exception) -> ReadError:
    return ReadError(
        f"{option}={without_secrets(address)!r} cannot be reached ({_first_line(error)}); check "
        "the address, and that the cluster is running."
    )


def _unreadable(named: Sequence[str], engine: str, error: Exception) -> ReadError:
    texts = [without_secrets(one) for one in named]
    return ReadError(
        f"{quoted(texts)} cannot be read by {engine} ({_first_line(error)}); check the path. "
        "Workers must see the same files."
    )


def _first_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[0].strip().rstrip(".")[:120] if lines else type(error).__name__
