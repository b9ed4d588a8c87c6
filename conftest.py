"""Examples in the docstrings of modules that need torch are left out where it is not installed."""

from importlib.util import find_spec

NEED_TORCH = ("files", "heads", "mlp", "tap", "tools")

FOLDER = "src/conjoin/representations/torch"

collect_ignore = [] if find_spec("torch") else [f"{FOLDER}/{name}.py" for name in NEED_TORCH]
