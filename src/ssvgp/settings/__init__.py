"""What a user may set: the prior of the default method, the constants of both methods; and what n and d decide."""

from ssvgp.settings.auto import AutoSettings, SearchSettings
from ssvgp.settings.paper import Blur, PaperSettings
from ssvgp.settings.prior import Prior
from ssvgp.settings.regime import Regime, regime_for

__all__ = ["AutoSettings", "Blur", "PaperSettings", "Prior", "Regime", "SearchSettings", "regime_for"]
