"""The bars of Tables 1 and 2."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from halftruth_papers.claesen import figures
from halftruth_papers.claesen.settings import OURS, RATIOS, THEIRS

pytest.importorskip("matplotlib")


def row(known: float, theirs: Any, ours: Any) -> dict[str, Any]:
    cases = [{"direct": {THEIRS: theirs, OURS: ours}}] * len(RATIOS)
    return {"known": known, "known_negative": 0.2, "truth": 0.7, "cases": cases}


def test_bars_lie_where_the_bounds_are_and_crosses_where_there_are_none() -> None:
    drawn = figures.bars([row(0.1, [0.68, 0.8], None), row(0.3, [0.7, 0.75], [0.69, 0.81])], "direct")
    assert [ax.get_title() for ax in drawn.axes] == [f"α̂/α = {ratio}" for ratio in RATIOS]
    ax = drawn.axes[0]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0.1/0.2", "0.3/0.2"]
    spans = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches]
    assert spans[:2] == [pytest.approx((0.68, 0.8)), pytest.approx((0.7, 0.75))]
    assert np.isnan(spans[2]).all()
    assert spans[3] == pytest.approx((0.69, 0.81))
    theirs, ours = ax.patches[1], ax.patches[3]
    assert theirs.get_y() + theirs.get_height() <= ours.get_y(), "bars of one row do not overlap"
    assert theirs.get_hatch() != ours.get_hatch()
    bottom, top = ax.get_ylim()
    assert bottom > top, "the first row stands above the others"
    lines = {str(line.get_label()): line for line in ax.lines}
    assert list(lines["truth 0.7"].get_xdata()) == [0.7, 0.7]
    assert list(lines["refuted, ours"].get_ydata()) == [pytest.approx(0.2)]
    assert "refuted, theirs" not in lines
