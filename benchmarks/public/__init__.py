"""Public tables with many groups, with published errors of other methods beside ours."""
