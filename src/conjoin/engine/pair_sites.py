"""Two sites that may not share rows: compare them by their files.

Files of two sites and a request enter, a `Comparison` leaves.
"""

from conjoin.api.request import PairRequest, Request
from conjoin.criterion import Criterion
from conjoin.engine.from_sites import reduce_sites, refuse_row_options
from conjoin.engine.pair_numbers import compare_sums
from conjoin.errors import ArgumentError, DataError
from conjoin.result.comparison import Comparison
from conjoin.sites.folder import SiteFiles


def compare_sites(files: SiteFiles, request: PairRequest, criterion: Criterion) -> Comparison:
    """Compare the datasets of two sites."""
    if request.method != PairRequest.method:
        raise ArgumentError(
            f"method={request.method_name!r} reads rows, which files of sites do not have; leave "
            "method out."
        )
    refuse_row_options(request, rows_needed=False)
    received = files.receive()
    if len(received.datasets) != 2:
        raise DataError(
            f"compare is for two datasets, but the files have {len(received.datasets)}; use "
            "partition."
        )
    asked = Request(target=request.target, intercept=request.intercept, verdict=request.verdict)
    table = reduce_sites(received, asked)
    return compare_sums(table, request, criterion)
