"""What a coordinator gets: files of sites, brought into common coordinates.

Paths of site files enter; `Received` leaves: the plan, the names of datasets, and moments of every
dataset and fold in any `Basis` that is asked for. Sums around each site's own centre c and scale s
become those around another centre C and scale S by P' = T'P T, where T is triangular:
(x - C) / S = (s / S) (x - c) / s + (c - C) / S. No digits are lost, since every site's sums are
small numbers around its own mean (`moments.kept`).

Files of different plans, of one site twice, or of different versions are refused with a sentence.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.errors import DataError, ReadError
from conjoin.models.scatter import Scatter
from conjoin.moments import Basis, Moments, change
from conjoin.moments.thinning import thin
from conjoin.result.checked import (
    Fault,
    boolean,
    finite,
    list_of,
    map_of,
    mapping,
    optional,
    record,
    text,
    whole,
)
from conjoin.result.document import checksum
from conjoin.sites.document import EXPORT, array, read_document, read_text, symmetric
from conjoin.sites.noisy import discounted, error_noise
from conjoin.sites.plan import Plan, check_plan
from conjoin.sites.private_export import noise_in
from conjoin.sites.rules import Rules
from conjoin.tables.names import natural_order
from conjoin.text import quoted

if TYPE_CHECKING:
    from conjoin.tables.schema import Schema

# Standard deviations from the mean up to which models extrapolate where the plan has no limits: the
# range of ordinary columns is some three on both sides, widened by its own width.
REACH = 9.0
# Relative difference by which sums over folds may differ from what must be equal: rounding only.
ROUNDING = 1e-6
MOST_DATASETS = 10_000  # of one site


@dataclass(frozen=True, eq=False)
class SiteDataset:
    """What is known of one dataset of a site.

    Parameters
    ----------
    name, site : str
    n : array (F,)
        Rows of each fold.
    center, scale : arrays (features + 1,)
        Of the features and, last, the target.
    products : array (F, p, p)
        Sums of products of [1, features, target] in these coordinates.
    classes : array (C,)
        Rows of each class; empty for numbers.
    copies : int
    scatter : Scatter (1,), optional
    noise : (float, float), optional
        With differential privacy: noise of the sums, and what was added to squares of slopes.
    promise : str
        What differential privacy promises, in a sentence; empty without it.
    """

    name: str
    site: str
    n: FloatArray
    center: FloatArray
    scale: FloatArray
    products: FloatArray
    classes: FloatArray
    copies: int
    scatter: Scatter | None
    noise: tuple[float, float] | None = None
    promise: str = ""

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.n.sum())

    def taking(self, inner: IntArray, outer: IntArray) -> "SiteDataset":
        """Return some features only: `inner` numbers the last axis of centres, `outer` of sums."""
        scatter = self.scatter
        if scatter is not None:
            some = np.ix_(np.array([0]), outer[:-1], outer[:-1])
            scatter = replace(
                scatter, unbiased=scatter.unbiased[some], cautious=scatter.cautious[some]
            )
        return replace(
            self,
            center=self.center[inner],
            scale=self.scale[inner],
            products=self.products[:, outer][:, :, outer],
            scatter=scatter,
        )

    def change(self, center: FloatArray, scale: FloatArray) -> FloatArray:
        """Return T (p, p) of the module's text, from own to other centre and scale."""
        return change(self.center, self.scale, center, scale)


@dataclass(frozen=True, eq=False)
class Received:
    """The files of all sites.

    Parameters
    ----------
    plan : Plan
    datasets : tuple of SiteDataset
        In natural order of their names.
    sent : Plan, optional
        The plan that the sites have, where `plan` lacks the columns that do not vary.
    """

    plan: Plan
    datasets: tuple[SiteDataset, ...]
    sent: Plan | None = None

    @property
    def agreed(self) -> Plan:
        """The plan that the sites have."""
        return self.sent or self.plan

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the datasets."""
        return tuple(one.name for one in self.datasets)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows of the datasets."""
        return tuple(one.rows for one in self.datasets)

    def promise(self) -> str:
        """Return what differential privacy promises for which datasets; empty without it."""
        noisy = [one for one in self.datasets if one.noise is not None]
        if not noisy:
            return ""
        promises = dict.fromkeys(one.promise for one in noisy)
        return (
            f"Datasets {quoted([one.name for one in noisy])} sent noisy sums, and verdicts and "
            f"standard errors allow for the noise. {' '.join(promises)}"
        )

    def noise_shares(self) -> FloatArray | None:
        """Return how uncertain noise makes the errors of datasets (K,); None without any.

        It is a variance over the square of the error (`sites.noisy.error_noise`).
        """
        if not any(one.noise for one in self.datasets):
            return None
        return np.array(
            [error_noise(one.products[0], one.noise[0]) if one.noise else 0.0
             for one in self.datasets]
        )  # fmt: skip

    @property
    def copies(self) -> IntArray:
        """Rows of each dataset that are copies of another."""
        return np.array([one.copies for one in self.datasets], dtype=np.int64)

    @cached_property
    def _summary(self) -> tuple[FloatArray, FloatArray]:
        """Means and mean squares around them of the features and, last, the target."""
        rows = np.array(self.sizes, dtype=np.float64)
        first = rows @ np.stack([one.center for one in self.datasets]) / rows.sum()
        unit = np.ones(len(first))
        sums = np.zeros((len(first) + 1, len(first) + 1))
        for one in self.datasets:
            T = one.change(first, unit)
            sums += T.T @ one.products.sum(axis=0) @ T
        away = sums[0, 1:] / rows.sum()
        squares = np.diagonal(sums)[1:] / rows.sum() - away**2
        return first + away, np.maximum(squares, 0.0)

    @property
    def mean(self) -> FloatArray:
        """Means of the features and, last, the target."""
        return self._summary[0]

    def constant(self) -> BoolArray:
        """Say which of the features and, last, the target have one value in all rows."""
        mean, squares = self._summary
        # A spread of rounding only: sums are exact to about 1e-15 of the mean.
        return np.asarray(np.sqrt(squares) <= 1e-12 * np.maximum(np.abs(mean), 1e-300))

    def basis(self, *, intercept: bool = True) -> Basis:
        """Return the common coordinates: means and standard deviations of all rows."""
        mean, squares = self._summary
        if not intercept:
            squares, mean = squares + mean**2, np.zeros(len(mean))
        low, high = self.plan.known_ranges()
        reach = self.plan.farthest(mean[:-1])
        spread = np.sqrt(squares)
        return Basis.from_summary(
            np.append(mean[:-1] - reach, mean[-1]),
            np.append(mean[:-1] + reach, mean[-1]),
            mean,
            spread,
            intercept=intercept,
        )

    def moments(self, basis: Basis, folds: int) -> Moments:
        """Return the moments (K, folds) of datasets and folds in a basis.

        A dataset with fewer folds has them spread over all of them, and the others are empty. One
        without folds is cut into parts that its moments alone determine (`moments.thinning`).
        """
        first = int(not basis.intercept)
        center = np.append(basis.center, basis.target_center)
        scale = np.append(basis.scale, basis.target_scale)
        p = len(center) + 1
        P, n = np.zeros((len(self.datasets), folds, p, p)), np.zeros((len(self.datasets), folds))
        stretch = np.eye(p)
        if basis.matrix is not None:
            stretch[1:-1, 1:-1] = basis.matrix
        for k, one in enumerate(self.datasets):
            T = one.change(center, scale) @ stretch
            parts, rows = one.products, one.n
            if one.noise is not None:
                parts = discounted(parts[0], float(rows[0]), *one.noise)[None]
            if len(rows) == 1:
                parts, rows = thin(parts[0], float(rows[0]), folds, self.plan.seed, one.name)
            place = np.arange(len(rows)) * folds // len(rows)
            P[k, place], n[k, place] = T.T @ parts @ T, rows
        return Moments.from_products(P[..., first:, first:], n, n)

    def scatter(self, basis: Basis) -> Scatter | None:
        """Return the scatter of residuals (K,) in a basis; None if a site did not send it."""
        if any(one.scatter is None for one in self.datasets) or not basis.intercept:
            return None
        center = np.append(basis.center, basis.target_center)
        scale = np.append(basis.scale, basis.target_scale)
        stretch = np.eye(len(center))
        if basis.matrix is not None:
            stretch[1:, 1:] = basis.matrix
        unbiased, cautious = [], []
        for one in self.datasets:
            assert one.scatter is not None
            T = one.change(center, scale)[:-1, :-1] @ stretch
            units = (one.scale[-1] / scale[-1]) ** 2
            unbiased.append(T.T @ one.scatter.unbiased[0] @ T * units)
            cautious.append(T.T @ one.scatter.cautious[0] @ T * units)
        own = [one.scatter for one in self.datasets if one.scatter is not None]
        return Scatter(
            np.stack(unbiased),
            np.stack(cautious),
            np.array([one.nu[0] for one in own]),
            np.array([one.heavy[0] for one in own]),
            np.array([one.inflation[0] for one in own]),
        )

    def limits(self) -> dict[str, tuple[float, float]]:
        """Return how far models extrapolate, by feature: by the plan's limits or by moments."""
        mean, squares = self._summary
        low, high = self.plan.known_ranges()
        spread = np.sqrt(squares)[:-1]
        width = high - low
        with np.errstate(invalid="ignore"):
            low = np.where(np.isfinite(width), low - width, mean[:-1] - REACH * spread)
            high = np.where(np.isfinite(width), high + width, mean[:-1] + REACH * spread)
        names = self.plan.schema.features
        return {name: (float(a), float(b)) for name, a, b in zip(names, low, high)}

    @property
    def folds(self) -> int:
        """Number of folds of the dataset that has most; those of the plan if none has any."""
        most = max(len(one.n) for one in self.datasets)
        return most if most > 1 else max(self.plan.folds, 2)

    def taking(self, kept: IntArray, schema: "Schema") -> "Received":
        """Return the files with some features only, by their numbers; `schema` has the same."""
        if len(kept) == len(self.plan.schema.features):
            return self
        inner = np.append(kept, len(self.plan.schema.features))
        outer = np.concatenate([[0], inner + 1])
        datasets = tuple(one.taking(inner, outer) for one in self.datasets)
        return Received(replace(self.plan, schema=schema), datasets, self.agreed)

    def without(self, left_out: Sequence[str]) -> "Received":
        """Return the files without some sites."""
        unknown = sorted(set(left_out) - {one.site for one in self.datasets})
        if unknown:
            raise DataError(
                f"There is no site {unknown[0]!r}; known are "
                f"{quoted(sorted({one.site for one in self.datasets}))}."
            )
        kept = tuple(one for one in self.datasets if one.site not in set(left_out))
        return Received(self.plan, kept, self.sent)


def receive(paths: Sequence[str | Path]) -> Received:
    """Read the files of sites.

    Raises
    ------
    ReadError
        If a file cannot be used, or files do not belong together.
    """
    return _received((Path(path).name, partial(read_document, path, EXPORT)) for path in paths)


def receive_texts(texts: Mapping[str, str]) -> Received:
    """Read what sites sent as text, by the name that messages call it.

    Raises
    ------
    ReadError
        As `receive`.
    """
    return _received((name, partial(read_text, text, name, EXPORT)) for name, text in texts.items())


Reader = Callable[[Callable[[Any], None]], dict[str, Any]]


def _received(documents: Iterable[tuple[str, Reader]]) -> Received:
    """Read documents by their names, each with the checks of an export."""
    plans: dict[str, Plan] = {}
    by_site: dict[str, str] = {}
    first_file: dict[str, str] = {}
    found: list[SiteDataset] = []
    for name, read in documents:
        content = read(lambda content: _check_export(content, plans))
        site = content["site"]
        if site in by_site:
            raise ReadError(
                f"Files {by_site[site]!r} and {name!r} are both of site {site!r}; leave out the "
                "older one."
            )
        by_site[site] = name
        first_file.setdefault(content["plan_checksum"], name)
        if len(first_file) > 1:
            one, two = first_file.values()
            raise ReadError(
                f"Files {one!r} and {two!r} were made with different plans; ask the sites to "
                "export with the same plan."
            )
        plan = plans[content["plan_checksum"]]
        found += [_dataset(one, plan, content, name) for one in content["datasets"]]
    if not found:
        raise ReadError("No site file was named; name the files that sites exported.")
    _refuse_copies(found)
    order = {name: k for k, name in enumerate(natural_order([one.name for one in found]))}
    plan = next(iter(plans.values()))
    return Received(plan, tuple(sorted(found, key=lambda one: order[one.name])))


def _refuse_copies(found: Sequence[SiteDataset]) -> None:
    """Raise an error if two sites sent the same sums: one is the other under a new name."""
    seen: dict[bytes, SiteDataset] = {}
    for one in found:
        key = one.products.tobytes() + one.center.tobytes()
        if key in seen:
            raise ReadError(
                f"Datasets {seen[key].name!r} and {one.name!r} have the same sums; one of them was "
                "exported twice, under two names. Leave one out."
            )
        seen[key] = one


def _check_export(content: Any, plans: dict[str, Plan]) -> None:
    """Raise an error if the content of a site's file cannot be used."""
    scatter = record(
        {"unbiased": list_of(finite), "cautious": list_of(finite), "nu": finite,
         "inflation": finite, "heavy": boolean}
    )  # fmt: skip
    dataset = record(
        {"name": text, "n": list_of(whole), "center": list_of(finite), "scale": list_of(finite),
         "levels": map_of(whole), "classes": list_of(whole), "products": _anything,
         "copies": whole, "scatter": optional(scatter)}
    )  # fmt: skip
    record(
        {"site": text, "plan": mapping, "plan_checksum": text, "features": list_of(text),
         "rules": mapping, "privacy": optional(mapping), "datasets": list_of(dataset)}
    )(content, "the file")  # fmt: skip
    known = content["plan_checksum"]
    if checksum(content["plan"]) != known:
        raise Fault("its plan does not fit the plan's checksum")
    if known not in plans:
        check_plan(content["plan"])
        plans[known] = Plan.from_plain(content["plan"])
    plan = plans[known]
    if content["features"] != list(plan.schema.features):
        raise Fault("its features are not those of its plan")
    if Rules.from_plain(content["rules"]).looser(plan.rules):
        raise Fault("its disclosure rules allow more than the plan's")
    if not 0 < len(content["datasets"]) <= MOST_DATASETS:
        raise Fault(f"it has {len(content['datasets'])} datasets")


def _anything(value: Any, what: str) -> None:
    """Accept what `array` checks later."""


def _dataset(one: Any, plan: Plan, content: Any, file: str) -> SiteDataset:
    """Return one dataset of a file, after the last checks."""
    try:
        noise = noise_in(content["privacy"], one["name"])
        promise = "" if noise is None else str(content["privacy"].get("promise", ""))
        return replace(_decoded(one, plan, content["site"]), noise=noise, promise=promise)
    except Fault as error:
        raise ReadError(
            f"Site file {file!r} cannot be used: dataset {one['name'][:40]!r}: {error.sentence}; "
            f"{EXPORT.advice}."
        ) from None


def _decoded(one: Any, plan: Plan, site: str) -> SiteDataset:
    p = len(plan.schema.features) + 2
    n = array(one["n"], "'n'", None)
    if not 1 <= len(n) <= max(plan.folds, 1) or not np.all(n >= 1):
        raise Fault(f"it has {len(n)} folds, expected 1 to {plan.folds} with rows")
    center, scale = array(one["center"], "'center'", p - 1), array(one["scale"], "'scale'", p - 1)
    if not np.all(scale > 0):
        raise Fault("a scale is not above zero")
    triangles = array(one["products"], "'products'", len(n), p * (p + 1) // 2)
    products = symmetric(triangles, p)
    if np.any(np.abs(products[:, 0, 0] - n) > ROUNDING * n):
        raise Fault("the number of rows does not fit the sums")
    values = np.linalg.eigvalsh(products)
    if np.any(values[:, 0] < -ROUNDING * values[:, -1]):
        raise Fault("its sums of products are not those of any rows")
    classes = array(one["classes"], "'classes'", len(plan.schema.response.classes))
    if len(classes) and classes.sum() != n.sum():
        raise Fault("the rows of its classes do not add up to its rows")
    scatter = None if one["scatter"] is None else _scatter(one["scatter"], p - 1)
    return SiteDataset(
        one["name"], site, n, center, scale, products, classes, one["copies"], scatter
    )


def _scatter(values: Any, p: int) -> Scatter:
    size = p * (p + 1) // 2
    unbiased, cautious = (
        symmetric(array(values[name], f"{name!r} of the scatter", size), p)
        for name in ("unbiased", "cautious")
    )
    if not (values["nu"] > 0 and values["inflation"] > 0):
        raise Fault("its scatter has no degrees of freedom")
    return Scatter(
        unbiased[None],
        cautious[None],
        np.array([float(values["nu"])]),
        np.array([values["heavy"]]),
        np.array([float(values["inflation"])]),
    )
