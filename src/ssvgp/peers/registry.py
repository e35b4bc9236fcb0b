"""All baselines by name. A baseline's library is imported when it is made, never before."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ssvgp.peers.contract import MissingPeer


@dataclass(frozen=True)
class Entry:
    """Where a baseline lives (`module`, `name`), with which settings, and which `libraries` it needs to import."""

    module: str
    name: str
    settings: dict[str, object]
    libraries: tuple[str, ...] = ()
    predicts: str = "numbers"  # or "classes", "counts"


PEERS: dict[str, Entry] = {
    "mlii": Entry("mlii", "MaximumLikelihood", {}, ("torch", "gpytorch")),
    "mlii_lbfgs": Entry("mlii_lbfgs", "MaximumLikelihoodLBFGS", {}),
    "sgp": Entry("sparse_gp", "SparseGP", {}, ("torch", "gpytorch")),
    "svgp": Entry("svgp", "StochasticVariationalGP", {}, ("torch", "gpytorch")),
    "saas_map": Entry("saas", "SaasMap", {}, ("botorch",)),
    "saas_nuts": Entry("saas", "SaasNuts", {}, ("botorch", "jax", "numpyro")),
    "gpboost": Entry("boosted_gp", "BoostedGP", {}, ("gpboost",)),
    "mcmc": Entry("mcmc", "SpikeSlabMCMC", {}),
    "pmf_bbvi_10": Entry("pmf", "PairedMeanField", {"samples": 10}),
    "pmf_bbvi_100": Entry("pmf", "PairedMeanField", {"samples": 100}),
    "lasso": Entry("linear", "Lasso", {}),
    "mcp": Entry("linear", "MCP", {}, ("skglm",)),
    "gam_lasso": Entry("additive", "GroupLasso", {}, ("skglm",)),
    "gam_ssl": Entry("additive_ssl", "SpikeSlabGroupLasso", {}),
    "gam_ssl_fixed": Entry("additive_ssl_fixed", "SpikeSlabGroupLassoFixed", {}, ("skglm",)),
    "gam_ssl_gic": Entry("additive_ssl", "SpikeSlabGroupLassoGIC", {}),
    "lightgbm": Entry("trees", "LightGBM", {}, ("lightgbm",)),
    "sparse_bart": Entry("bart", "SparseBART", {}, ("bartz",)),
    "logistic_l1": Entry("logistic", "LogisticL1", {}, (), "classes"),
    "forest_classes": Entry("forest", "ForestOfClasses", {}, (), "classes"),
    "lightgbm_classes": Entry("boosting", "LightGBMOfClasses", {}, ("lightgbm",), "classes"),
    "ebm_classes": Entry("ebm", "EBMOfClasses", {}, ("interpret",), "classes"),
    "gpboost_classes": Entry("boosted_gp_outcomes", "BoostedGPOfClasses", {}, ("gpboost",), "classes"),
    "bart_classes": Entry("bart_probit", "ProbitBART", {}, ("bartz",), "classes"),
    "poisson_l1": Entry("poisson", "PoissonL1", {}, (), "counts"),
    "forest_counts": Entry("forest", "ForestOfCounts", {}, (), "counts"),
    "lightgbm_counts": Entry("boosting", "LightGBMOfCounts", {}, ("lightgbm",), "counts"),
    "ebm_counts": Entry("ebm", "EBMOfCounts", {}, ("interpret",), "counts"),
    "gpboost_counts": Entry("boosted_gp_outcomes", "BoostedGPOfCounts", {}, ("gpboost",), "counts"),
}


def make(name: str, **settings: object) -> Any:
    """The baseline of that name with its standard settings, any of which can be replaced.

    A `Peer`, `ClassPeer` or `CountPeer`, by what it predicts.
    """
    if name not in PEERS:
        raise ValueError(f"no baseline is called {name!r}; there are {', '.join(sorted(PEERS))}")
    entry = PEERS[name]
    missing = [library for library in entry.libraries if not _importable(library)]
    if missing:
        raise MissingPeer(f"{name} needs {', '.join(missing)}: pip install 'ssvgp[peers]'")
    kind = getattr(import_module(f"ssvgp.peers.{entry.module}"), entry.name)
    return kind(**(entry.settings | settings))


def available(predicts: str = "numbers") -> list[str]:
    """The names of the baselines of a kind whose libraries are installed."""
    return [
        name for name, entry in PEERS.items() if entry.predicts == predicts and all(map(_importable, entry.libraries))
    ]


def _importable(library: str) -> bool:
    """Whether a library is there; found, not imported, since some take seconds to load."""
    return find_spec(library) is not None
