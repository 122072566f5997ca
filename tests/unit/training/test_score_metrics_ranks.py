"""Two processes: however rows are dealt out, both say to the bit what one process says of all rows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import halftruth as ht

if os.environ.get("HALFTRUTH_REQUIRE_EXTRAS", "") in {"", "0"}:
    pytest.importorskip("torchmetrics")
import torch

from halftruth.training import ScoreMetrics

from .batches import SHARES, columns, rows
from .rank import main as one_of_them

WORLD = 2
SETTINGS = {
    "labeled": {"kind": "labeled", "threshold": 0.5},
    "noisy": {"kind": "positive_unlabeled", "weighted": True, **SHARES},
    "soft": {"kind": "soft"},
    "margins": {"kind": "labeled", "grid": "margin"},
    "empty": {"kind": "labeled"},
}


def dealt(name):
    """The settings of a case, and the batches of each process: unequal shares, or none for one of them."""
    settings = SETTINGS[name]
    tensors = [torch.as_tensor(x) for x in rows(settings["kind"])[: 3 if settings.get("weighted") else 2]]
    cut = 0 if name == "empty" else 700
    shares = [[x[:cut] for x in tensors], [x[cut:] for x in tensors]]
    sizes = (100, 999)
    return settings, [
        [tuple(part) for part in zip(*(x.split(size) for x in share), strict=True)] if len(share[0]) else []
        for share, size in zip(shares, sizes, strict=True)
    ]


@pytest.mark.filterwarnings("ignore:The ``compute`` method:UserWarning")
def test_two_processes_say_what_one_says(tmp_path):
    cases = {name: dealt(name) for name in SETTINGS}
    stored = {name: {"settings": settings, "batches": batches} for name, (settings, batches) in cases.items()}
    torch.save(stored, tmp_path / "cases.pt")
    # This process is one of the two: PyTorch need not be loaded for it again.
    program = [sys.executable, Path(__file__).with_name("rank.py"), "1", str(WORLD), tmp_path]
    with subprocess.Popen(program, stderr=subprocess.PIPE, text=True) as other:
        try:
            one_of_them(0, WORLD, tmp_path)
        finally:
            try:
                error = other.communicate(timeout=180)[1]
            except subprocess.TimeoutExpired:
                other.kill()
                raise
            assert other.returncode == 0, error
    for name, (settings, batches) in cases.items():
        alone = ScoreMetrics(**settings)
        for batch in (batch for share in batches for batch in share):
            alone.update(*batch)
        wanted = {label: float(value) for label, value in alone.compute().items()}
        for rank in range(WORLD):
            found = json.loads((tmp_path / f"{rank}.json").read_text())[name]
            assert found["values"] == wanted
            assert found["own"] == sum(len(batch[0]) for batch in batches[rank])
            assert columns(ht.ScoreTable.load(tmp_path / f"{name}-{rank}.npz")) == columns(alone.table)
