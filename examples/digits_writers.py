"""Twelve writers of digits: decide which of them share the last layer of a network.

A small convolutional network learns to read upright digits. Then there are twelve writers with
about a hundred digits each. Four hold the page upright, four turn it on its side, four mirror it;
the data do not say which. The target is whether a digit is even. Only the last layer is trained for
it, and conjoin decides which writers are trained together.

    python examples/digits_writers.py

The script needs the extra `nn` and takes less than a minute. It prints the clusters, the errors of
four strategies, and how far the network with heads is from the linear models.
"""

import numpy as np
import torch
from sklearn.datasets import load_digits

import conjoin
from conjoin.representations import Embedding, Heads, Tap, embed_arrays

PAGES = {
    "upright": lambda images: images,
    "sideways": lambda images: np.rot90(images, axes=(1, 2)),
    "mirrored": lambda images: images[:, :, ::-1],
}
WRITERS = 4  # for each kind of page: enough to see whether all of one kind are joined
# Digits that train the network; no writer has any of them. The other 1,197 of the data leave each
# writer about a hundred.
TRAINING = 600
STRATEGIES = ("separate", "pooled", "clusters", "auto")
TEST_SHARE = 0.3  # share of a writer's digits that no model sees


def train_network(images: np.ndarray, digits: np.ndarray, epochs: int = 15) -> torch.nn.Module:
    """Return a network that is trained to read digits."""
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Conv2d(1, 8, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(8, 16, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(64, 12),
        torch.nn.ReLU(),
        torch.nn.Linear(12, 10),
    )
    x = torch.tensor(images[:, None], dtype=torch.float32)
    t = torch.tensor(digits)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    for _ in range(epochs):
        for rows in torch.randperm(len(t)).split(32):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(network(x[rows]), t[rows]).backward()
            optimizer.step()
    return network.double().eval()


def make_writers(images: np.ndarray, digits: np.ndarray) -> tuple[dict, dict]:
    """Give each writer some digits; return (images, even) for training and for testing."""
    train, test = {}, {}
    names = [(page, i + 1) for page in PAGES for i in range(WRITERS)]
    for (page, i), rows in zip(names, np.array_split(np.arange(len(digits)), len(names))):
        pages = PAGES[page](images[rows])[:, None]  # one channel
        even = (digits[rows] % 2 == 0).astype(float)
        cut = int(len(rows) * (1 - TEST_SHARE))
        train[f"{page} {i}"] = pages[:cut], even[:cut]
        test[f"{page} {i}"] = pages[cut:], even[cut:]
    return train, test


def main() -> None:
    """Train the network, join writers on its last hidden layer, and print the results."""
    data = load_digits()
    order = np.random.default_rng(0).permutation(len(data.target))
    images, digits = data.images[order] / 16, data.target[order]
    network = train_network(images[:TRAINING], digits[:TRAINING])
    train, test = make_writers(images[TRAINING:], digits[TRAINING:])

    # The activations of the last hidden layer (layer "8" of the network) become the columns.
    embedding = embed_arrays(Tap(network, layer="8"), train, target="even")
    # Least squares on 0 and 1: a prediction above 0.5 means that the digit is even.
    tables = embedding.tables
    result = conjoin.partition(tables, target="even", family="gaussian", strategy="clusters")

    print("Trained together:")
    for cluster in result.clusters:
        print("  " + ", ".join(cluster))
    print("\nMean squared error on held-out digits, by cross-validation:")
    for name in STRATEGIES:
        print(f"  {name:<10}{result.errors[name].error:.3f}")

    print("\nMean squared error on test digits, and share of correct answers:")
    truth = np.concatenate([even for _, even in test.values()])
    for name in STRATEGIES:
        found = predict(result.using(name), embedding, test)
        correct = np.mean((found > 0.5) == (truth > 0.5))
        print(f"  {name:<10}{np.mean((found - truth) ** 2):.3f}   {correct:.0%}")

    # One network for all writers, with a last layer for each cluster.
    heads = Heads.of(embedding, result, limit=False)
    found = np.concatenate([heads.predict(pages, name) for name, (pages, _) in test.items()])
    gap = np.abs(found - predict(result, embedding, test)).max()
    print(f"\nThe network with a head for each cluster predicts the same, within {gap:.0e}.")


def predict(result: conjoin.Partition, embedding: Embedding, test: dict) -> np.ndarray:
    """Return the predictions for the digits of all writers, each with the writer's model."""
    return np.concatenate(
        [
            result.predict(embedding.transform(pages), name, limit=False)
            for name, (pages, _) in test.items()
        ]
    )


if __name__ == "__main__":
    main()
