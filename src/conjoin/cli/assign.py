"""`conjoin assign`: a model file and rows of new datasets enter, their models leave."""

from pathlib import Path
from typing import Annotated

import typer

from conjoin.cli.notes import notes
from conjoin.cli.options import ByAsFitted, Json, Model, Query, Sources, Trust, UnsafeQuery

ASSIGNING = 0.8  # share of the time of finding models, for the progress bar; predicting is quick


def assign(
    model: Model,
    data: Sources,
    by: ByAsFitted = None,
    save: Annotated[
        Path | None,
        typer.Option("--save", metavar="FILE", help="File to write all models to (JSON)."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="File for DATA with predictions, as by predict."
        ),
    ] = None,
    query: Query = None,
    unsafe_query: UnsafeQuery = False,
    as_json: Json = False,
    trust: Trust = None,
) -> None:
    """Give new datasets a model, from some rows with known target.

    Says which cluster each new dataset is closest to and how good its model is. With --save,
    predict knows the new datasets too.
    """
    from conjoin.cli.show import columns_in_words, show_assignments, show_json
    from conjoin.files import check_writable
    from conjoin.progress import progress_bar
    from conjoin.progress_parts import split_progress
    from conjoin.report.assignment import assignment_facts
    from conjoin.result.file_assignment import assign_source
    from conjoin.result.file_prediction import predict_source
    from conjoin.result.load import load_with_extra
    from conjoin.result.store import save as save_model
    from conjoin.sources.write import check_output

    if save is not None:
        check_writable(save, f"--save {str(save)!r}")
    if output is not None:
        check_output(output)
    with notes(), progress_bar("Assigning", lines=True) as progress:
        loaded, extra = load_with_extra(model, trust)
        placing, predicting = split_progress(progress, ASSIGNING if output is not None else 1.0)
        found = assign_source(
            loaded, data, by, query=query, unsafe_query=unsafe_query, progress=placing
        )
        more, written = loaded.adding(found), None
        if output is not None:
            written = predict_source(
                more,
                data,
                output,
                query=query,
                unsafe_query=unsafe_query,
                by=by,
                progress=predicting,
            )
        if save is not None:
            save_model(more, save, extra)
    lines = assignment_facts(loaded, found)
    if as_json:
        show_json({"family": loaded.family, "datasets": lines})
        return
    show_assignments(loaded.family, lines)
    if written is not None:
        typer.echo(f"{written[0]:,} rows with {columns_in_words(written[1])} written to {output}")
    if save is not None:
        typer.echo(f"Models written to {save}; next: conjoin predict {save} DATA -o OUT")
    elif output is None:
        typer.echo("Nothing was written; name a file for the new models with --save.")
