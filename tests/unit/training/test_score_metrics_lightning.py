"""Under Lightning's Trainer: each epoch logs the values of its own rows."""

from __future__ import annotations

import os
import warnings

import pytest

import halftruth as ht

if os.environ.get("HALFTRUTH_REQUIRE_EXTRAS", "") in {"", "0"}:
    pytest.importorskip("torchmetrics")
import torch
from torch.utils.data import DataLoader, TensorDataset

from halftruth.training import ScoreMetrics

ROWS = ["roc_auc", "average_precision", "brier"]


def data(seed, n=400):
    """Features, targets 1 and NaN, and the prior."""
    generator = torch.Generator().manual_seed(seed)
    truth = torch.rand(n, generator=generator) < 0.4
    x = torch.randn(n, 2, generator=generator) + truth[:, None]
    known = truth & (torch.rand(n, generator=generator) < 0.5)
    return TensorDataset(x, torch.where(known, 1.0, torch.nan))


@pytest.fixture
def lightning(require):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its imports warn of what other libraries will change
        return require("lightning")


def test_each_epoch_logs_the_values_of_its_rows(lightning, tmp_path):
    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(2, 1)
            self.metric = ScoreMetrics("positive_unlabeled", ROWS, prior=0.4)
            self.logged, self.scored = [], []

        def forward(self, x):
            return self.linear(x).squeeze(-1).sigmoid()

        def training_step(self, batch, _):
            x, y = batch
            return torch.nn.functional.binary_cross_entropy(self(x), (y == 1).float())

        def validation_step(self, batch, _):
            x, y = batch
            score = self(x)
            self.metric.update(score, y)
            self.scored.append((score, y))

        def on_validation_epoch_end(self):
            self.log_dict(self.metric.compute())
            self.metric.reset()
            self.logged.append([torch.cat(x) for x in zip(*self.scored, strict=True)])
            self.scored = []

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.5)

    class Kept(lightning.Callback):
        def __init__(self):
            self.values = []

        def on_validation_end(self, trainer, model):
            self.values.append({name: float(trainer.callback_metrics[name]) for name in ROWS})

    model, kept = Model(), Kept()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few workers, few batches
        trainer = lightning.Trainer(
            accelerator="cpu",
            max_epochs=2,
            logger=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            enable_checkpointing=False,
            num_sanity_val_steps=0,
            default_root_dir=tmp_path,
            callbacks=[kept],
        )
        trainer.fit(model, DataLoader(data(0), batch_size=64), DataLoader(data(1), batch_size=64))
    assert len(kept.values) == 2
    assert kept.values[0] != kept.values[1]
    for values, (score, y) in zip(kept.values, model.logged, strict=True):
        table = ht.PositiveUnlabeled.from_labels(y, score).table.compress("probability")
        wanted = ht.evaluate(ht.PositiveUnlabeled.from_table(table, prior=0.4), ROWS, n_resamples=0)
        assert values == pytest.approx({name: wanted[name].value for name in ROWS}, rel=1e-6)
