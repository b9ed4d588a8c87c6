"""`conjoin update` adds rows or datasets to a saved model without reading its rows again.

A model file and new rows enter; what changed is printed, and the new model is written where -o
says. Heavy imports happen inside, so that help is quick.
"""

from pathlib import Path
from typing import Annotated

import typer

from conjoin.cli.notes import notes
from conjoin.cli.options import ByAsFitted, Json, Model, Query, UnsafeQuery


def update(
    model: Model,
    data: Annotated[
        list[str],
        typer.Argument(metavar="NEW", help="New rows: files as in partition.", show_default=False),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="File to write the new models to; may be MODEL."
        ),
    ] = None,
    free: Annotated[
        bool,
        typer.Option(
            "--free",
            help="Let datasets change their cluster as in a fresh run, also where the gain does "
            "not exceed its standard error.",
        ),
    ] = False,
    by: ByAsFitted = None,
    query: Query = None,
    unsafe_query: UnsafeQuery = False,
    as_json: Json = False,
) -> None:
    """Add rows or datasets to a model that was saved with --keep-moments.

    The old rows are not read again. Says which clusters and verdicts changed, and why.
    """
    import conjoin
    from conjoin.cli.show import print_text, show_json
    from conjoin.files import check_writable
    from conjoin.progress import progress_bar
    from conjoin.report.updating import sentences, update_facts

    if output is not None:
        check_writable(output, f"--output {str(output)!r}")
    with notes(), progress_bar("Updating", lines=True) as progress:
        found = conjoin.update(
            model,
            list(data),
            by=by or None,
            settled=not free,
            query=query,
            unsafe_query=unsafe_query,
            progress=progress,
        )
        if output is not None:
            found.result.save(output, evidence=True)
    if as_json:
        show_json(update_facts(found))
        return
    for sentence in sentences(found):
        print_text(sentence)
    if output is None:
        print_text("Nothing was written; name a file for the new models with -o.")
    else:
        print_text(f"Models written to {output}; next: conjoin explain {output}")
