"""A residual network of 18 layers for small images (He, Zhang, Ren & Sun 2016)."""

from __future__ import annotations

from halftruth._pytorch import Tensor, nn, torch

STAGES = 4
BLOCKS = 2
"""Blocks in each stage; the first of a later stage halves the image and doubles the channels."""


class Block(nn.Module):
    """Two 3×3 convolutions, added to what came in.

    Parameters
    ----------
    inputs, outputs : int
        Channels.
    stride : int
        2 halves the image.
    """

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            *_normed(inputs, outputs, 3, stride), nn.ReLU(), *_normed(outputs, outputs, 3, 1)
        )
        same = stride == 1 and inputs == outputs
        self.way_round = nn.Identity() if same else nn.Sequential(*_normed(inputs, outputs, 1, stride))

    def forward(self, x: Tensor) -> Tensor:
        """Of images (n, inputs, h, w)."""
        return torch.relu(self.body(x) + self.way_round(x))


class ResNet18(nn.Module):
    """One logit for an image, in the form for 32×32 pixels: it begins with a 3×3 convolution and no pooling.

    Parameters
    ----------
    width : int
        Channels of the first stage.
    channels : int
        Of the images.
    seed : int
        Of the first weights.

    Examples
    --------
    >>> import torch
    >>> network = ResNet18(width=4, seed=0)
    >>> network(torch.zeros(2, 3, 8, 8)).shape
    torch.Size([1, 2])
    """

    def __init__(self, *, width: int = 64, channels: int = 3, seed: int = 0) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            layers: list[nn.Module] = [*_normed(channels, width, 3, 1), nn.ReLU()]
            inputs = width
            for stage in range(STAGES):
                for block in range(BLOCKS):
                    outputs = width * 2**stage
                    layers.append(Block(inputs, outputs, 2 if stage > 0 and block == 0 else 1))
                    inputs = outputs
            self.layers = nn.Sequential(*layers)
            self.last = nn.Linear(inputs, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (1, n) of images (n, channels, h, w), or of the same as the rows of one network."""
        images = x if x.ndim == 4 else x[0]
        logits: Tensor = self.last(self.layers(images).mean((-2, -1)))
        return logits.T


def _normed(inputs: int, outputs: int, size: int, stride: int) -> tuple[nn.Module, nn.Module]:
    """A convolution that keeps the edges, and the batch brought to mean 0 and variance 1."""
    conv = nn.Conv2d(inputs, outputs, size, stride=stride, padding=size // 2, bias=False)
    return conv, nn.BatchNorm2d(outputs)
