"""Two sites that may not share rows: compare them by their files.

Files of two sites and a request enter, a `Comparison` leaves.
"""

from dataclasses import replace
from typing import Any

from conjoin.api.request import PairRequest, Request
from conjoin.criterion import Criterion
from conjoin.engine.from_sites import reduce_sites, refuse_row_options
from conjoin.engine.pair_likelihood import compare_cells
from conjoin.engine.pair_numbers import compare_sums
from conjoin.errors import ArgumentError, DataError
from conjoin.result.comparison import Comparison
from conjoin.sites.folder import as_study


def compare_sites(a: Any, b: Any, request: PairRequest, criterion: Criterion) -> Comparison | None:
    """Compare the datasets of two sites; None if the data are something else."""
    files = as_study([a, b])
    if files is None:
        return None
    if request.method != PairRequest.method:
        raise ArgumentError(
            f"method={request.method_name!r} reads rows, which files of sites do not have; leave "
            "method out."
        )
    refuse_row_options(request, rows_needed=False)
    asked = Request(target=request.target, intercept=request.intercept, verdict=request.verdict)
    table = reduce_sites(files, asked)
    if len(table.names) != 2:
        raise DataError(
            f"compare is for two datasets, but the files have {len(table.names)}; use partition."
        )
    if table.cells is not None:
        return compare_cells(table, request)
    found = compare_sums(table, request, criterion)
    findings = replace(found.findings, promise=table.promise)
    return replace(found, findings=findings, schema=table.schema)
