"""Feed-forward networks side by side: one tensor for a layer of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from halftruth._pytorch import Tensor, nn, torch
from halftruth.learn.layers import Layer, logits

__all__ = ["Layer", "Networks", "logits"]


class Networks(nn.Module):
    """Networks of one shape, each with its own weights; one of them is the common case.

    Parameters
    ----------
    sizes : sequence of int
        Features, hidden units of each layer, and 1. Without hidden units the networks are linear.
    n : int
        How many.
    seed : int
        Of the first weights: uniform within ±1/√inputs; a linear network starts at zero.

    Examples
    --------
    >>> import torch
    >>> networks = Networks((3, 4, 1), n=2, seed=0)
    >>> networks(torch.zeros(5, 3)).shape
    torch.Size([2, 5])
    """

    def __init__(self, sizes: Sequence[int], *, n: int = 1, seed: int = 0) -> None:
        super().__init__()
        generator = torch.Generator(device="cpu").manual_seed(seed)
        # Said aloud, so that defaults of the caller's own change nothing.
        kind: dict[str, Any] = {"dtype": torch.float32, "device": torch.device("cpu")}
        linear = len(sizes) == 2
        weights: list[nn.Parameter] = []
        constants: list[nn.Parameter] = []
        for inputs, outputs in pairwise(sizes):
            reach = 0.0 if linear else inputs**-0.5
            for made, shape in ((weights, (n, inputs, outputs)), (constants, (n, 1, outputs))):
                made.append(nn.Parameter((2 * torch.rand(shape, generator=generator, **kind) - 1) * reach))
        self.weights, self.constants = nn.ParameterList(weights), nn.ParameterList(constants)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (networks, rows) of rows (rows, features), or of each network's own (networks, rows, …)."""
        n = len(self.weights[0])
        unit = x.expand(n, *x.shape) if x.ndim == 2 else x
        for i, (weight, constant) in enumerate(zip(self.weights, self.constants, strict=True)):
            unit = torch.baddbmm(constant, unit if i == 0 else torch.relu(unit), weight)
        return unit[..., 0]

    def arrays(self, which: int = 0) -> list[Layer]:
        """Weights and constants of one network, layer by layer, for `logits`."""
        return [
            tuple(part[which].detach().cpu().double().numpy() for part in layer)
            for layer in zip(self.weights, self.constants, strict=True)
        ]
