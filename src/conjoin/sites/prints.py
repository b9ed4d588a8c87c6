"""Fingerprints of sets of rows: they tell in how many rows two sets differ, and nothing else.

Rows of a site and a secret enter; a `Print` leaves for every set of rows whose sums leave: all
rows, each dataset, each fold, and in each of them every level of a category or flag. Columns have
fingerprints too (`take_column_prints`), of the values as they leave: after limits and fills.

A secret hash of its values puts every row into one of B buckets, and a second one is added up in
the bucket. What is kept is a keyed digest (BLAKE2b) of each bucket's sum. Where two sets differ in
d rows, at most d buckets differ. So sets that differ in at least t buckets differ in at least t
rows for certain. That fewer buckets differ although t rows do is improbable, and errs on the safe
side. Equal sets have equal fingerprints, whatever their order.

Without the secret, digests are random numbers: every bucket has one, whether rows are in it or not.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from conjoin._typing import AnyArray, FloatArray, IntArray
from conjoin.sites.rules import Leaving

# Buckets for each row of the threshold: 13 rows fall into at least 11 of 128 buckets with
# probability 0.99, so hardly more than the threshold asks for is enough.
BUCKETS_PER_ROW = 8
# Bits of the hash that is added up: sums over 2^25 rows are then exact as floats.
BITS = 28
HALF = np.uint64(32)  # bits of half a float
WORD = 4  # bytes kept of a digest: equal by chance once in four billion
BLOCK = 16_384  # rows that are hashed at a time, so that they stay in the cache
# Sets of an export that has folds; with more, folds are left out, and differences are looked for
# between whole datasets. Each is compared with each of an earlier export.
MOST_SETS = 4000


@dataclass(frozen=True, eq=False)
class Print:
    """The fingerprint of a set of rows.

    Parameters
    ----------
    where : str
        All rows, a dataset or a fold, in words.
    label : str
        The level that its rows have; empty for all of them. The column, if values are compared.
    rows : int
        Number of rows.
    digests : array (B,)
        A digest for each bucket.
    """

    where: str
    label: str
    rows: int
    digests: AnyArray

    @property
    def name(self) -> str:
        """The set in words."""
        return f"{self.where} with {self.label}" if self.label else self.where


@dataclass(frozen=True, eq=False)
class Hashed:
    """Secret hashes of rows (`hash_rows`).

    Parameters
    ----------
    place : array (n,)
        Bucket of every row.
    lane : array (n,)
        64 bits of every row, whose upper half is a second hash.
    buckets : int
        Number of buckets.
    """

    place: IntArray
    lane: AnyArray
    buckets: int


def buckets_for(rows: int) -> int:
    """Return the number of buckets for a threshold: a power of two.

    >>> buckets_for(11)
    128
    """
    return int(2 ** np.ceil(np.log2(BUCKETS_PER_ROW * rows)))


def take_prints(leaving: Leaving, hashed: Hashed, secret: bytes) -> tuple[Print, ...]:
    """Return the fingerprints of all sets of rows whose sums leave; none of empty sets.

    Parameters
    ----------
    leaving : Leaving
        The rows.
    hashed : Hashed
        What tells them apart.
    secret : bytes
        The site's secret.
    """
    place, content = hashed.place, _upper_bits(hashed.lane)
    marks = leaving.marks()
    units = list(_units(leaving))
    if len(units) * (1 + len(marks.labels)) > MOST_SETS:
        units = list(_units(leaving.without_folds()))
    found = []
    for where, own in units:
        for m, label in enumerate(("", *marks.labels)):
            rows = own if m == 0 else own[marks.rows[own, m - 1]]
            if len(rows):
                sums = np.bincount(place[rows], content[rows], hashed.buckets)
                found.append(Print(where, label, len(rows), _digests(sums, secret)))
    return tuple(found)


def take_column_prints(leaving: Leaving, hashed: Hashed, secret: bytes) -> tuple[Print, ...]:
    """Return the fingerprints of the values of every column in all sets of rows without a level.

    Two of them differ in the buckets of rows that are in one set only, or whose values differ. So
    two columns with the same values have the same fingerprints, whatever their names. Levels of a
    category are left out, since each is a set of rows of `take_prints`. Parameters are the same.
    """
    buckets = hashed.buckets
    cells, cell = np.unique(
        leaving.dataset * (leaving.fold.max() + 1) + leaving.fold, return_inverse=True
    )
    levels, units = set(leaving.levels()), list(_units(leaving))
    if leaving.classes:
        levels |= set(range(len(leaving.names), len(leaving.columns)))
    if len(units) * (1 + len(leaving.columns) - len(levels)) > MOST_SETS:
        units = list(_units(leaving.without_folds()))
    inside = [
        (where, own, np.bincount(cell[own], minlength=len(cells)) > 0) for where, own in units
    ]
    position = cell * buckets + hashed.place
    keys = np.frombuffer(hashlib.shake_256(b"values" + secret).digest(16), np.uint64)
    found = []
    for j, (name, values) in enumerate(zip(leaving.columns, leaving.by_column())):
        if j in levels:
            continue
        by_cell = np.zeros((len(cells), buckets))
        for first in range(0, len(values), BLOCK):
            rows = slice(first, first + BLOCK)
            low, high = _halves(values[rows])
            content = _upper_bits(hashed.lane[rows] + keys[0] * low + keys[1] * high)
            by_cell += np.bincount(position[rows], content, by_cell.size).reshape(by_cell.shape)
        for where, own, kept in inside:
            digests = _digests(by_cell[kept].sum(axis=0), secret)
            found.append(Print(where, name, len(own), digests))
    return tuple(found)


def differing(new: Sequence[Print], old: Sequence[Print]) -> IntArray:
    """Return in how many buckets the sets differ (new, old)."""
    before = np.stack([one.digests for one in old])
    return np.stack([np.sum(one.digests != before, axis=1) for one in new])


def _units(leaving: Leaving) -> Iterator[tuple[str, IntArray]]:
    """Yield all rows, the rows of each dataset and of each fold, with their names."""
    yield "all rows", np.arange(len(leaving.y))
    for k, dataset in enumerate(leaving.datasets):
        own = np.flatnonzero(leaving.dataset == k)
        if len(leaving.datasets) > 1:
            yield f"dataset {dataset!r}", own
        fold = leaving.fold[own]
        numbers = np.unique(fold)
        for f in numbers if len(numbers) > 1 else ():
            yield f"fold {f + 1} of dataset {dataset!r}", own[fold == f]


def hash_rows(identity: Sequence[FloatArray], secret: bytes, buckets: int) -> Hashed:
    """Return secret hashes of rows, from numbers that tell them apart: all columns of the table.

    A hash is the upper half of k_0 + sum_j k_j u_j modulo 2^64, with secret k and u the halves of
    the values' bits: two different rows have the same with probability 2^-32.
    """
    width = 2 * len(identity) + 1
    keys = np.frombuffer(hashlib.shake_256(b"rows" + secret).digest(16 * width), np.uint64)
    keys = keys.reshape(2, width)
    lanes = np.repeat(keys[:, :1], len(identity[0]), axis=1)
    for first in range(0, lanes.shape[1], BLOCK):
        own = slice(first, first + BLOCK)
        for j, column in enumerate(identity):
            for k, part in enumerate(_halves(column[own]), start=2 * j + 1):
                for lane, key in zip(lanes, keys):
                    lane[own] += key[k] * part
    place = ((lanes[0] >> HALF) % np.uint64(buckets)).astype(np.int64)
    return Hashed(place, lanes[1], buckets)


def _halves(values: FloatArray) -> tuple[AnyArray, AnyArray]:
    """Return the lower and the upper half of the values' bits."""
    bits = (values + 0.0).view(np.uint64)  # + 0.0 makes -0.0 and 0.0 equal
    return bits & np.uint64(2**32 - 1), bits >> HALF


def _upper_bits(lane: AnyArray) -> FloatArray:
    """Return the hash as a number below 2^BITS."""
    return (lane >> np.uint64(64 - BITS)).astype(np.float64)


def _digests(sums: AnyArray, secret: bytes) -> AnyArray:
    """Return the keyed digest of each bucket's sum (B,)."""
    keyed = hashlib.blake2b(b"bucket", key=secret, digest_size=WORD)
    found = []
    for bucket, total in enumerate(sums.astype(np.int64).tolist()):
        one = keyed.copy()
        one.update(b"%d,%d" % (bucket, total))
        found.append(one.digest())
    return np.frombuffer(b"".join(found), dtype="<u4")
