"""Networks in torch (needs the extra `nn`); nothing outside this folder imports torch by itself.

- `tools`: torch itself, layers and training by automatic differentiation
- `files`: files of weights
- `mlp`: the paper's networks
- `tap`: a layer of any torch network
- `from_models`, `head_layers`, `heads`: linear models as the last layers of a network
"""
