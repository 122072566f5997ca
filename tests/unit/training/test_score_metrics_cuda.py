"""On a GPU: the integers of the processor, without waiting for the device."""

from __future__ import annotations

import os

import pytest

if os.environ.get("HALFTRUTH_REQUIRE_EXTRAS", "") in {"", "0"}:
    pytest.importorskip("torchmetrics")
import torch

from halftruth._errors import InputError
from halftruth.training import ScoreMetrics

from .batches import columns, rows

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")


@pytest.mark.parametrize("kind", ["labeled", "positive_unlabeled", "soft"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_gpu_adds_up_the_same_integers(kind, weighted, dtype):
    score, target, weight = (torch.as_tensor(x) for x in rows(kind))
    given = (score.to(dtype), target, weight) if weighted else (score.to(dtype), target)
    here, there = (ScoreMetrics(kind, weighted=weighted).to(device) for device in ("cpu", "cuda"))
    for start in range(0, len(score), 999):
        batch = [x[start : start + 999] for x in given]
        here.update(*batch)
        there.update(*(x.cuda() for x in batch))
    assert columns(here.table) == columns(there.table)
    assert columns(there.cpu().table) == columns(here.table)


@pytest.mark.filterwarnings("ignore:Synchronization debug mode")
def test_an_update_does_not_wait_and_compute_refuses():
    metric = ScoreMetrics("labeled", ["roc_auc"]).cuda()
    preds, target = torch.rand(1000, device="cuda"), torch.randint(0, 2, (1000,), device="cuda")
    torch.cuda.set_sync_debug_mode("error")
    try:
        metric.update(preds, target)
        metric.update(preds * 3 - 1, target + 1)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    with pytest.raises(InputError, match="probabilities in"):
        metric.compute()
    metric.reset()
    metric.update(preds, target)
    assert metric.compute()["roc_auc"].is_cuda
