"""Examples in the docstrings of modules that need torch are left out where it is not installed."""

from importlib.util import find_spec

ROOM = "src/conjoin/representations"

collect_ignore = [] if find_spec("torch") else [f"{ROOM}/torch", f"{ROOM}/networks.py"]
