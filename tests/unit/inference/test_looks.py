"""Looks: levels that add up, whatever their number."""

import numpy as np
import pytest

import halftruth as ht


def test_levels_by_hand():
    assert ht.level_of_look(1) == pytest.approx(0.975, abs=1e-15)
    assert ht.level_of_look(20) == pytest.approx(1 - 0.05 / 420, abs=1e-15)
    assert ht.level_of_look(3, 0.88) == pytest.approx(0.99, abs=1e-15)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_all_chances_to_err_add_up_to_no_more_than_one_interval_has(level):
    spent = np.cumsum([1 - ht.level_of_look(k, level) for k in range(1, 1001)])
    # α (1 − 1/(n + 1)) of n looks.
    np.testing.assert_allclose(spent, (1 - level) * (1 - 1 / np.arange(2, 1002)), rtol=1e-9)


@pytest.mark.parametrize("look", [0, -1, 1.5, True, "2"])
def test_a_look_is_a_number_from_1_on(look):
    with pytest.raises(ht.InputError, match=r"`look` must be a whole number of at least 1"):
        ht.level_of_look(look)


def test_a_level_is_a_share():
    with pytest.raises(ht.InputError, match="`confidence_level` must lie in"):
        ht.level_of_look(1, 95)
