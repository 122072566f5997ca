"""One column of labels explained by two models: f(x) = P(Y=1 | x) and e(x) = P(labeled | Y=1, x).

P(labeled | x) = f(x) e(x). Which part of the product is class and which is labelling, only the shapes of the
two models, or a known mean of f, can say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halftruth._checks import Vector

__all__ = ["Fit", "Task"]

EM_STEPS, MOST_EM_STEPS, REFIT_STEPS = 10, 200, 10  # before quasi-Newton steps; without them; of a replicate
SETTLED = 1e-3  # EM ends where no propensity moves by more
MOST_STEPS = 500  # of the quasi-Newton method
APART = 0.15  # a mean of e this far from the prior tells it from f
HOLD = 100.0  # what holds a known prior: being off by a tenth costs half a nat for each positive


@dataclass(frozen=True, eq=False)
class Fit:
    """f and e of every row; the coefficients where both are logistic, those of f first."""

    f: Vector
    e: Vector
    converged: bool = True
    coefficients: Vector | None = None
    loss: float = np.nan

    def posterior(self, known: NDArray[np.bool_]) -> Vector:
        """P(Y=1 | x, labeled or not): the E step."""
        return np.asarray(np.where(known, 1.0, self.f * (1 - self.e) / (1 - self.f * self.e)))


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be explained, by which columns; each fit may weight the rows."""

    x: Vector
    known: NDArray[np.bool_]
    columns: NDArray[np.intp]
    classifier: Any
    seed: int
    prior: float | None = None

    @cached_property
    def scaled(self) -> Vector:
        """Columns of mean 0 and spread 1, so that one penalty suits all; a constant column becomes 0."""
        spread = self.x.std(axis=0)
        return np.asarray((self.x - self.x.mean(axis=0)) / np.where(spread > 0, spread, 1))

    def can_swap(self, fit: Fit) -> bool:
        """Whether f and e, both logistic in all columns, could change places, no prior telling them apart."""
        alike = self.classifier is None and len(self.columns) == self.x.shape[1]
        return alike and (self.prior is None or abs(float(fit.e.mean()) - self.prior) < APART)

    def by_em(self) -> Fit:
        """SAR-EM. It sets out from labeled against unlabeled rows, both of the same total weight."""
        share = self.known.mean()
        balanced = np.where(self.known, 0.5 / share, 0.5 / (1 - share))
        f, _ = self._classify(self.known.astype(float), balanced)
        fit = self.em(Fit(f, np.zeros(len(f))), None, EM_STEPS if self.classifier is None else MOST_EM_STEPS)
        return fit if fit.coefficients is None else self.likeliest(fit.coefficients)

    def best_of(self, means: Sequence[float]) -> Fit:
        """LBE: the likeliest of several fits; the steeper model is the class's."""
        fits = []
        for mean in means:
            start = np.zeros((2, self.x.shape[1] + 1))
            start[:, 0] = [_logit(min(self.known.mean() / mean, 0.9)), _logit(mean)]
            fits.append(self.likeliest(start.ravel()))
        best = min(fits, key=lambda fit: fit.loss)
        f, e = np.split(np.asarray(best.coefficients), 2)
        steeper = np.std(self.scaled @ f[1:]) >= np.std(self.scaled @ e[1:])
        return best if steeper else self.likeliest(np.concatenate([e, f]))

    def again(self, fit: Fit, times: Vector) -> Fit:
        """The fit to weighted rows, from where the first one ended."""
        times = times / times.mean()
        if fit.coefficients is None:
            return self.em(fit, times, REFIT_STEPS)
        return self.likeliest(fit.coefficients, times)

    def em(self, fit: Fit, times: Vector | None, most: int) -> Fit:
        """EM steps until no propensity moves, or ``most`` of them."""
        for _ in range(most):
            new = self.em_step(fit.posterior(self.known), times)
            settled = np.abs(new.e - fit.e).max() < SETTLED
            fit = replace(new, converged=bool(settled))
            if settled:
                break
        return fit

    def em_step(self, posterior: Vector, times: Vector | None = None) -> Fit:
        """The M step: f from rows that are positive in part, e from rows as far as they are positive."""
        times = np.ones(len(posterior)) if times is None else times
        f, of_f = self._classify(posterior, times)
        model = _logistic().fit(self.scaled[:, self.columns], self.known, sample_weight=posterior * times)
        e = model.predict_proba(self.scaled[:, self.columns])[:, 1]
        coefficients = None if of_f is None else np.concatenate([of_f, _coefficients(model)])
        return Fit(f, e, coefficients=coefficients)

    def _classify(self, posterior: Vector, times: Vector) -> tuple[Vector, Vector | None]:
        """P(Y=1 | x), and its coefficients where the user gave no classifier."""
        from sklearn.base import clone

        x = self.scaled if self.classifier is None else self.x
        model = _logistic() if self.classifier is None else clone(self.classifier)
        if "random_state" in model.get_params():
            model.set_params(random_state=self.seed)  # else noise of the fit would keep EM from settling
        twice, y = np.concatenate([x, x]), np.repeat([1, 0], len(x))
        weight = np.concatenate([posterior, 1 - posterior]) * np.tile(times, 2)
        model.fit(twice[weight > 0], y[weight > 0], sample_weight=weight[weight > 0])
        f = np.clip(model.predict_proba(x)[:, 1], 1e-6, 1 - 1e-6)  # trees say 0 and 1, which EM never leaves
        return f, _coefficients(model) if self.classifier is None else None

    def likeliest(self, start: Vector, times: Vector | None = None) -> Fit:
        """Both logistic models at once: the maximum that EM goes to."""
        from scipy.optimize import minimize
        from scipy.special import expit, log_expit

        n, k = len(self.x), self.x.shape[1] + 1
        times = np.ones(n) if times is None else times
        of_f = np.column_stack([np.ones(n), self.scaled])
        of_e = of_f[:, np.concatenate([[0], self.columns + 1])]
        free = np.isin(np.arange(len(start)), [0, k])  # intercepts are not penalized

        def loss(coefficients: Vector) -> tuple[float, Vector]:
            a, b = of_f @ coefficients[:k], of_e @ coefficients[k:]
            f, e, not_f, not_e = expit(a), expit(b), expit(-a), expit(-b)
            unlabeled = not_f + f * not_e  # 1 − f e, without loss of digits
            logs = np.where(self.known, log_expit(a) + log_expit(b), np.log(unlabeled))
            slope = times * np.where(self.known, 1.0, -f * e / unlabeled)
            penalized = np.where(free, 0.0, coefficients)
            off = 0.0 if self.prior is None else times @ f / times.sum() - self.prior
            pull = 0.0 if self.prior is None else HOLD / self.prior * off
            by_f, by_e = (slope - pull * f * times) * not_f, slope * not_e
            gradient = np.concatenate([of_f.T @ by_f, of_e.T @ by_e])
            total = (penalized @ penalized + times.sum() * pull * off) / 2 - times @ logs
            return float(total), penalized - gradient

        found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": MOST_STEPS})
        f, e = expit(of_f @ found.x[:k]), expit(of_e @ found.x[k:])
        return Fit(f, e, bool(found.success), found.x, float(found.fun))


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000)


def _coefficients(model: Any) -> Vector:
    return np.concatenate([model.intercept_, model.coef_[0]])


def _logit(share: float) -> float:
    return float(np.log(share / (1 - share)))
