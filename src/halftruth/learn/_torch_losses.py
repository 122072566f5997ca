"""Losses for PyTorch: risks from positives, unlabeled rows and known negatives, or from confidences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Literal, TypeAlias

from halftruth import _checks
from halftruth._errors import InputError, arg
from halftruth._pytorch import Tensor, functional, nn, torch
from halftruth.evidence._evidence import Population
from halftruth.learn._risk_weights import RiskWeights, StratumWeights, risk_weights

__all__ = ["PULoss", "PositiveConfidenceLoss", "loss_pair"]

Loss: TypeAlias = Callable[[Tensor], Tensor]
LossName: TypeAlias = Literal["sigmoid", "logistic", "ramp", "squared", "zero_one"]
MARGIN: dict[str, Loss] = {
    "sigmoid": lambda z: torch.sigmoid(-z),
    "logistic": lambda z: -functional.logsigmoid(z),
    "squared": lambda z: (z - 1) ** 2,
    "ramp": lambda z: (0.5 - 0.5 * z).clamp(0, 1),
}
ZERO_ONE = "zero_one"
LOSSES = (*MARGIN, ZERO_ONE)
CORRECTIONS = ("non-negative", "none", "absolute", "leaky")


class PULoss(nn.Module):
    """Risk of a classifier from the logits of a batch of positives and one of unlabeled rows.

    Parameters
    ----------
    prior : float
        π, the share of positives in the population.
    loss : {"sigmoid", "logistic", "ramp", "squared", "zero_one"}
        ℓ of the margin, as in `halftruth.risk`. "zero_one" has no slope: it is for watching, not training.
    correction : {"non-negative", "none", "absolute", "leaky"}
        The part R⁻ of the negatives is a difference that a flexible network drives below zero. "none" lets it
        (uPU). "non-negative" (nnPU) stops at −β: below it a step is made on −γ R⁻ alone, and the value is
        R⁺ − β. "absolute" takes |R⁻|, "leaky" λ R⁻ where it is negative. Where the positives are not pure R⁺
        is a difference too, and corrected alike.
    beta, gamma : float
        β ≥ 0 and γ in [0, 1], of "non-negative".
    leak : float
        λ in [−1, 0], of "leaky": 0 cuts off, −1 is "absolute".
    purity, population, sizes, eta, target_prior
        As in `risk_weights`: noisy positives (ρ < 1), one table in place of two samples, known negatives
        (η, PNU), and imbalanced classes brought to a balanced target (Su et al. 2021: 0.5).

    Notes
    -----
    The numbers of rows in the batches need not go with the prior: each stratum enters by its mean. Leading
    axes of the logits are networks side by side; the loss keeps them.

    Examples
    --------
    >>> import torch
    >>> from halftruth.learn import PULoss
    >>> loss = PULoss(0.6)
    >>> positive, unlabeled = torch.tensor([2.0, 1.0]), torch.tensor([0.5, -1.0, -2.0])
    >>> round(float(loss(positive, unlabeled)), 4)
    0.1164
    >>> round(float(PULoss(0.6, correction="none")(positive, unlabeled)), 4)
    -0.0302
    """

    def __init__(
        self,
        prior: float,
        *,
        loss: LossName = "sigmoid",
        correction: Literal["non-negative", "none", "absolute", "leaky"] = "non-negative",
        beta: float = 0.0,
        gamma: float = 1.0,
        leak: float = 0.0,
        purity: float = 1.0,
        population: Population = "unlabeled",
        sizes: Sequence[int] | None = None,
        eta: float | None = None,
        target_prior: float | None = None,
    ) -> None:
        super().__init__()
        self.of_positive, self.of_negative = loss_pair(loss)
        self.correction = _checks.choice(correction, "correction", CORRECTIONS)
        self.beta = _checks.inside(
            beta, "beta", 0.0, float("inf"), closed="left", advice="0 keeps R⁻ from going below zero."
        )
        self.gamma = _checks.inside(
            gamma, "gamma", 0.0, 1.0, closed="both", advice="It is a share of the step."
        )
        self.leak = _checks.inside(leak, "leak", -1.0, 0.0, closed="both", advice="−1 is the absolute value.")
        self.eta = eta
        self.weights: RiskWeights = risk_weights(
            prior, purity=purity, population=population, sizes=sizes, eta=eta, target_prior=target_prior
        )

    def forward(self, positive: Tensor, unlabeled: Tensor, negative: Tensor | None = None) -> Tensor:
        """The corrected risk; ``negative`` only where the loss was told of known negatives."""
        parts = torch.stack(self.parts(positive, unlabeled, negative))
        if self.correction == "none":
            return parts.sum(0)
        if self.correction == "absolute":
            return parts.abs().sum(0)
        if self.correction == "leaky":
            return torch.where(parts < 0, self.leak * parts, parts).sum(0)
        low = parts < -self.beta
        value = torch.where(low, -self.beta, parts).sum(0)
        back = torch.where(low, -self.gamma * parts, 0.0).sum(0)
        # Kiryo et al. 2017, algorithm 1: the step goes back along −γ R⁻, while the value is that of the
        # bounded risk. So the slope is that of one and the value that of the other.
        return torch.where(low.any(0), back + (value - back).detach(), value)

    def parts(
        self, positive: Tensor, unlabeled: Tensor, negative: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """R⁺ and R⁻, not corrected."""
        strata = self._strata(positive, unlabeled, negative)
        return (
            _mixed(self.of_positive, self.weights.positive, strata),
            _mixed(self.of_negative, self.weights.negative, strata),
        )

    def _strata(self, *strata: Tensor | None) -> tuple[Tensor | None, ...]:
        names = ("positive", "unlabeled", "negative")
        for name, logits, used in zip(names, strata, self.weights.used, strict=True):
            if logits is None and used:
                raise InputError(
                    f"{arg(name)} must hold logits: the loss was made for known negatives. Pass them, or "
                    f"leave out {arg('eta')} and their number in {arg('sizes')}."
                )
            if logits is not None and logits.shape[-1:].numel() * logits.ndim == 0:
                raise InputError(
                    argument=name,
                    must="hold at least one logit",
                    got=f"shape {tuple(logits.shape)}",
                    remedy="Draw some rows of every stratum into each batch.",
                )
        if strata[2] is not None and self.eta is None and not self.weights.used[2]:
            raise InputError(f"{arg('negative')} has no weight in this loss. Make it with eta=…, e.g. 0.5.")
        _refuse_columns(*(logits for logits in strata if logits is not None))
        return strata

    def extra_repr(self) -> str:
        return f"correction={self.correction!r}, weights={self.weights}"


class PositiveConfidenceLoss(nn.Module):
    """Risk, divided by the prior, from positives with their confidences: mean of ℓ(g) + (1−r)/r · ℓ(−g).

    Equation 5 of Ishida et al. 2023 (Ishida, Niu & Sugiyama 2018), of which the prior is a constant factor.

    Parameters
    ----------
    loss : str
        As in `PULoss`.

    Examples
    --------
    >>> import torch
    >>> from halftruth.learn import PositiveConfidenceLoss
    >>> loss = PositiveConfidenceLoss()
    >>> round(float(loss(torch.tensor([0.0, 1.0]), torch.tensor([0.5, 0.8]))), 4)
    1.0139
    """

    def __init__(self, loss: LossName = "logistic") -> None:
        super().__init__()
        self.of_positive, self.of_negative = loss_pair(loss)

    def forward(self, logits: Tensor, r: Tensor) -> Tensor:
        """``r`` in (0, 1], one for each logit, or one along their last axis for all networks."""
        _refuse_columns(logits)
        if r.shape not in (logits.shape, logits.shape[-1:]) or logits.shape[-1:].numel() * logits.ndim == 0:
            raise InputError(
                argument="r",
                must="hold one confidence for each logit",
                got=f"shapes {tuple(r.shape)} and {tuple(logits.shape)}",
            )
        if not bool(((r > 0) & (r <= 1)).all()):
            raise InputError(
                f"{arg('r')} must lie in (0, 1]: a positive of confidence 0 cannot be. Check the rows."
            )
        return (self.of_positive(logits) + (1 - r) / r * self.of_negative(logits)).mean(-1)


def _refuse_columns(*strata: Tensor) -> None:
    """Raise where the rows lie along the first axis, as ``nn.Linear(…, 1)`` gives them."""
    column = all(logits.ndim > 1 and logits.shape[-1] == 1 for logits in strata)
    if column or len({logits.shape[:-1] for logits in strata}) > 1:
        shapes = " and ".join(str(tuple(logits.shape)) for logits in strata)
        raise InputError(
            f"Logits must have their rows along the last axis, got shapes {shapes}: pass network(x)[:, 0]; "
            f"leading axes are networks side by side."
        )


def loss_pair(loss: LossName) -> tuple[Loss, Loss]:
    """ℓ₊ and ℓ₋ as functions of the logit."""
    if _checks.choice(loss, "loss", LOSSES) == ZERO_ONE:
        return (lambda g: (g < 0).to(g.dtype)), (lambda g: (g >= 0).to(g.dtype))
    margin = MARGIN[loss]
    return margin, lambda g: margin(-g)


def _mixed(loss: Loss, weights: StratumWeights, strata: Sequence[Tensor | None]) -> Tensor:
    """Σ_k weight_k · mean over stratum k; a stratum without weight costs nothing."""
    pairs = zip(weights, strata, strict=True)
    terms = [weight * loss(x).mean(-1) for weight, x in pairs if x is not None and weight != 0]
    return reduce(torch.add, terms)
