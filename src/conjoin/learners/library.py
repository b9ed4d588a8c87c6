"""LightGBM, loaded when it is needed.

Nothing enters; its module leaves, or one sentence that says what to install.
"""

from typing import Any

from conjoin.errors import ConjoinError


class MissingLibraryError(ConjoinError):
    """LightGBM cannot be loaded."""


def load_lightgbm() -> Any:
    """Return the module of LightGBM, or say what to install."""
    try:
        import lightgbm
    except (ImportError, OSError) as error:
        raise MissingLibraryError(
            f"LightGBM cannot be loaded ({str(error).splitlines()[0]}); install it with "
            "pip install lightgbm, on Linux with its library (apt install libgomp1), on macOS with "
            "libomp (brew install libomp); or choose learner='linear'."
        ) from None
    return lightgbm
