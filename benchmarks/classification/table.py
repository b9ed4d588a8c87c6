"""Turn the results of the classification arena into two tables in markdown.

``python -m benchmarks.classification.table --output docs/classification-arena.md`` reads
``results.csv``. Reference, relative error and regret are those of the regression arena, see
`benchmarks.arena.table`.
"""

from benchmarks.arena.table import Page, main
from benchmarks.classification.run import RESULTS

PAGE = Page(
    command="python -m benchmarks.classification.table",
    title="Arena: class probabilities on real grouped data",
    error="The error on a set is the mean over groups of the mean test log loss. The *reference* "
    "of a set and share is separate or pooled logistic regression, C chosen by cross-validation",
    source="benchmarks/classification/README.md",
    results=RESULTS,
    blanks="Empty cells: GPBoost takes two classes only, the paper's Algorithm 3 is run up to 24 "
    "groups.",
    others=("separate-in-order", "pooled-in-order"),
    why="The same with the better of separate and pooled LogisticRegressionCV as the reference, as "
    "scikit-learn has it by default: C is chosen on folds in the order of the rows, not shuffled "
    "ones, which chooses badly where rows are sorted. The references above are the stronger ones.",
)

if __name__ == "__main__":
    raise SystemExit(main(page=PAGE))
