"""A small torch network as the learner, wrapped as scikit-learn asks.

    python examples/torch_regressor.py

The wrapper only stores its settings in `__init__`, so scikit-learn can clone it. Everything else is
`fit` and `predict`.
"""

import numpy as np
import torch
from sklearn.base import BaseEstimator, RegressorMixin

import conjoin


class TorchRegressor(RegressorMixin, BaseEstimator):
    """One hidden layer, trained with Adam on standardised columns."""

    def __init__(self, width: int = 16, epochs: int = 150, random_state: int = 0) -> None:
        self.width = width
        self.epochs = epochs
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> "TorchRegressor":
        """Train the network."""
        torch.manual_seed(self.random_state)
        self.center_, self.scale_ = X.mean(axis=0), X.std(axis=0) + 1e-9
        self.level_, self.spread_ = y.mean(), y.std() + 1e-9
        layers = (torch.nn.Linear(X.shape[1], self.width), torch.nn.Linear(self.width, 1))
        self.network_ = torch.nn.Sequential(layers[0], torch.nn.Tanh(), layers[1])
        rows, target = self._rows(X), torch.tensor((y - self.level_) / self.spread_).float()
        step = torch.optim.Adam(self.network_.parameters(), lr=0.02, weight_decay=1e-3)
        for _ in range(self.epochs):
            step.zero_grad()
            loss = torch.mean((self.network_(rows)[:, 0] - target) ** 2)
            loss.backward()
            step.step()
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predict rows."""
        with torch.no_grad():
            found = self.network_(self._rows(X))[:, 0].numpy()
        return found * self.spread_ + self.level_

    def _rows(self, X: np.ndarray) -> torch.Tensor:
        return torch.tensor((X - self.center_) / self.scale_).float()


def stores(rows: int = 100, seed: int = 0) -> dict[str, dict[str, np.ndarray]]:
    """Return four tables whose target bends, with a level of its own in each."""
    rng = np.random.default_rng(seed)
    tables = {}
    for k in range(4):
        a, b = rng.uniform(-2, 2, size=(2, rows))
        tables[f"store {k}"] = {"a": a, "b": b, "y": np.sin(2 * a) + k + rng.normal(0, 0.2, rows)}
    return tables


def main() -> None:
    """Fit and print mean squared errors on held-out rows."""
    result = conjoin.partition(stores(), target="y", learner=TorchRegressor())
    print("Learner:", result.learner)
    for name in ("linear", "learner named", "corrected", "auto"):
        print(f"{name:14} {result.errors[name].error:.3f}")


if __name__ == "__main__":
    main()
