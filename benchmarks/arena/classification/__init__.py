"""The classification side of the arena: targets that are classes, judged by log loss."""
