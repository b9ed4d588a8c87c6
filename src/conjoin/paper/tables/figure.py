"""Figure 1 of the paper: rows of four clusters of CFGSF in the representation of MLP2.

The folder with the data enters; an SVG file and its description in words leave.
"""

from pathlib import Path

import numpy as np

from conjoin._typing import Progress
from conjoin.paper.tables.methods import decide
from conjoin.paper.tables.protocol import embed, network
from conjoin.paper.tables.sets import load
from conjoin.report.representation import describe, write_picture
from conjoin.representations.picture import project, take_picture

SET, HIDDEN = "CFGSF", 2  # the set and the hidden layers of the paper's Figure 1


def draw_figure(
    folder: Path, path: Path, *, seed: int = 0, progress: Progress | None = None
) -> str:
    """Write the figure as SVG; return its description in words."""
    rows = load(SET, folder)
    learned = embed(rows, network(rows, HIDDEN, seed, progress))
    labels = decide(learned, seed).labels
    codes = np.repeat(np.arange(len(rows.names)), rows.sizes)
    picture = take_picture(
        project(learned.X, codes, len(rows.names)),
        rows.names,
        np.array([labels[name] for name in rows.names]),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_picture(picture, path)
    return describe(picture)
