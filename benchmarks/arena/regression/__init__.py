"""The regression side of the arena: targets that are numbers, judged by squared error."""
