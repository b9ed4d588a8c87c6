"""The paper's tables, run again: paper and ours side by side."""
