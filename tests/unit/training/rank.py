"""One process of a group: ``rank.py RANK WORLD FOLDER`` feeds its share of the rows and writes what it finds."""

from __future__ import annotations

import json
import sys
from datetime import timedelta
from pathlib import Path


def main(rank: int, world: int, folder: Path) -> None:
    import torch
    from torch import distributed

    from halftruth.training import ScoreMetrics

    store = (folder / "store").as_uri()
    distributed.init_process_group(
        "gloo", init_method=store, rank=rank, world_size=world, timeout=timedelta(seconds=120)
    )
    try:
        found = {}
        for name, case in torch.load(folder / "cases.pt", weights_only=True).items():
            metric = ScoreMetrics(**case["settings"])
            for batch in case["batches"][rank]:
                metric.update(*batch)
            values = {label: float(value) for label, value in metric.compute().items()}
            own = len(metric.table)  # what came from the others is gone again
            with metric.sync_context():
                metric.table.save(folder / f"{name}-{rank}.npz")
            found[name] = {"own": own, "values": values}
        (folder / f"{rank}.json").write_text(json.dumps(found))
    finally:
        distributed.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
