"""Examples in the docstrings of modules that need torch are left out where it is not installed."""

from importlib.util import find_spec

NEED_TORCH = ("heads", "torch_files", "torch_mlp", "torch_tap", "torch_tools")

collect_ignore = (
    [] if find_spec("torch") else [f"src/conjoin/representations/{name}.py" for name in NEED_TORCH]
)
