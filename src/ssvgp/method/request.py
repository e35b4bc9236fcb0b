"""What a fit is asked for, checked before anything takes time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from joblib import effective_n_jobs

from ssvgp.data.memory import bytes_of
from ssvgp.gp.kernels.families import Kernel
from ssvgp.method.kernel_family import kernels_of
from ssvgp.model.likelihoods import WITH_SITES, likelihood_named
from ssvgp.settings import AutoSettings, PaperSettings, Prior, Regime


@dataclass(frozen=True)
class Request:
    """What a fit is asked for, checked: the parameters of the estimator that it depends on.

    `kernel` is what the user wrote; what it stands for depends on the regime too, which has the settings.
    """

    method: str
    kernel: Any
    prior: Prior
    target_transform: str | None
    likelihood: str
    n_jobs: int
    max_memory: int | str | None

    def kernels(self, regime: Regime) -> tuple[Kernel, ...]:
        """What the kernel stands for under a regime."""
        return kernels_of(self.kernel, self.method, regime.kernels)


def checked_request(asked: Any) -> Request:
    """The request that the parameters of an estimator make, after all of them have been checked."""
    kinds: dict[str, Any] = {"auto": AutoSettings, "paper": PaperSettings}
    if asked.method not in kinds:
        raise ValueError(f"method is 'auto' or 'paper', not {asked.method!r}")
    for name, kind in {"settings": kinds[asked.method], "prior": Prior}.items():
        given = getattr(asked, name)
        if given is not None and not isinstance(given, kind):
            raise TypeError(f"{name} must be {kind.__name__} or None, not {type(given).__name__}")
    if not 0.0 <= asked.threshold <= 1.0:
        raise ValueError(f"threshold is a probability between 0 and 1, not {asked.threshold!r}")
    if asked.predict_neighbours < 1:
        raise ValueError(f"predict_neighbours must be 1 or more, not {asked.predict_neighbours!r}")
    if isinstance(asked.settings, PaperSettings) and asked.settings.target not in ("standardised", "raw"):
        raise ValueError(f"target of PaperSettings is 'standardised' or 'raw', not {asked.settings.target!r}")
    kernels_of(asked.kernel, asked.method)  # so that what cannot be is an error before anything takes time
    if asked.likelihood != "auto":
        likelihood_named(asked.likelihood)
    if asked.method == "paper" and asked.likelihood in WITH_SITES:
        raise ValueError(f"the paper's method has Gaussian noise alone, not likelihood={asked.likelihood!r}")
    bytes_of(asked.max_memory)
    return Request(
        asked.method,
        asked.kernel,
        asked.prior or Prior(),
        asked.target_transform,
        asked.likelihood,
        effective_n_jobs(asked.n_jobs),
        asked.max_memory,
    )
