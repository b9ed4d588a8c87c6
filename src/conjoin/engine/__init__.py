"""The engine: from a request and tables to a partition with its models. Start at `run`."""
