"""Speed: our paths against plain ones, in one run, as ratios."""
