"""Sites that may not share rows: what leaves a site, and what it must not disclose.

A coordinator makes a plan (`make_plan`). Every site exports sums of products (`export`).
`conjoin.partition` takes the files of the sites.
"""

from conjoin.sites.export import Export, export
from conjoin.sites.folder import SiteFiles, open_study
from conjoin.sites.plan import Plan, load_plan, make_plan
from conjoin.sites.prediction import with_trees
from conjoin.sites.rows import encode
from conjoin.sites.rules import Rules

__all__ = [
    "Export",
    "Plan",
    "Rules",
    "SiteFiles",
    "encode",
    "export",
    "load_plan",
    "make_plan",
    "open_study",
    "with_trees",
]
