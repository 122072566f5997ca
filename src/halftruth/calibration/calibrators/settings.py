"""What a calibrator is told before it is fitted, with the manners of scikit-learn."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

from halftruth import _checks
from halftruth._errors import InputError
from halftruth.calibration.calibrators.methods import METHODS
from halftruth.measure._bins import BINNINGS

SETTINGS = ("method", "scale", "n_bins", "binning", "n_knots", "variant")
Own = TypeVar("Own", bound="Settings")


class Settings:
    """Settings as attributes, checked whenever they change."""

    method: str
    scale: str
    n_bins: int | str
    binning: str
    n_knots: int
    variant: str

    def check_settings(self) -> None:
        """Raise unless every setting is one that there is."""
        _checks.choice(self.method, "method", tuple(METHODS))
        _checks.choice(self.scale, "scale", ("logit", "score"))
        if isinstance(self.n_bins, str):
            _checks.choice(self.n_bins, "n_bins", ("optimal",))
        else:
            _checks.count(self.n_bins, "n_bins", least=1)
        _checks.choice(self.binning, "binning", BINNINGS)
        _checks.count(self.n_knots, "n_knots", least=3)
        _checks.choice(self.variant, "variant", ("paper", "authors"))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name, as scikit-learn asks for them.

        Parameters
        ----------
        deep : bool
            Nothing lies deeper; there for scikit-learn.

        Examples
        --------
        >>> import halftruth as ht
        >>> ht.Calibrator("isotonic").get_params()["method"]
        'isotonic'
        """
        return {name: getattr(self, name) for name in SETTINGS}

    def set_params(self: Own, **settings: Any) -> Own:
        """Change settings; a fit stays what it was until `fit` is called again.

        Parameters
        ----------
        **settings
            As in the class.

        Examples
        --------
        >>> import halftruth as ht
        >>> ht.Calibrator().set_params(method="histogram", n_bins=10)
        Calibrator('histogram', n_bins=10)
        """
        for name in settings:
            _checks.choice(name, "settings", SETTINGS)
        before = self.get_params()
        vars(self).update(settings)
        try:
            self.check_settings()
        except InputError:
            vars(self).update(before)
            raise
        return self

    def __repr__(self) -> str:
        usual = inspect.signature(type(self)).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if name != "method" and value != usual[name].default
        ]
        return f"{type(self).__name__}({', '.join([repr(self.method), *changed])})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))
