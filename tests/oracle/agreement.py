"""What "equal to rounding" means."""

import math

import numpy as np

TOLERANCE = 1e-12
SMALL = 1e-3


def assert_same(ours: object, reference: object, what: str = "", tolerance: float = TOLERANCE) -> None:
    """Equal within 1e-12: relative, or absolute where the reference is below 1e-3. NaN equals NaN.

    Only what is numerical by its definition has another tolerance.
    """
    got, wanted = np.asarray(ours, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    assert got.shape == wanted.shape, f"{what}: shape {got.shape}, reference {wanted.shape}"
    got, wanted = np.atleast_1d(got), np.atleast_1d(wanted)
    same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
    size = np.where(np.abs(wanted) < SMALL, 1.0, np.abs(wanted))
    with np.errstate(invalid="ignore"):
        error = np.where(same, 0.0, np.abs(got - wanted) / size)
    error[np.isnan(error)] = math.inf
    worst = int(np.argmax(error))
    assert error[worst] <= tolerance, (
        f"{what}: ours {got[worst]!r}, reference {wanted[worst]!r}, error {error[worst]:.3g} at {worst}"
    )
