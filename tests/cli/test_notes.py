import warnings

from conjoin.cli.notes import notes
from conjoin.errors import ConjoinWarning, OutlierWarning


def test_warnings_become_notes_once(capsys):
    with notes():
        for _ in range(2):
            warnings.warn("Column 'x' is odd.", ConjoinWarning, stacklevel=1)
        warnings.warn("Rows are far away.", OutlierWarning, stacklevel=1)
    assert capsys.readouterr().err == "Note: Column 'x' is odd.\n"
