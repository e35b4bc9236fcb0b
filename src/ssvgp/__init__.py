"""Gaussian process regression with spike-and-slab selection of inputs: the public names."""

from importlib.metadata import PackageNotFoundError, version

from ssvgp.classifier import SSVGPClassifier, load
from ssvgp.data.inputs import DataWarning
from ssvgp.estimator import SSVGPRegressor
from ssvgp.evidence.loo import LeaveOneOut
from ssvgp.explain.calibration import Check
from ssvgp.explain.classes import ClassCheck
from ssvgp.explain.correlated import Relative
from ssvgp.explain.effects import Effect, Interaction
from ssvgp.explain.sobol import Shares
from ssvgp.gp.kernels.autodiff import autodiff_kernel
from ssvgp.gp.kernels.compose import Product, Sum, kernel_named
from ssvgp.gp.kernels.compose import register as register_kernel
from ssvgp.gp.kernels.families import (
    Periodic,
    Polynomial,
    Stationary,
    cauchy,
    linear,
    matern,
    rational_quadratic,
    squared_exponential,
)
from ssvgp.model.likelihoods import register as register_likelihood
from ssvgp.model.terms import register as register_background
from ssvgp.records import Ensemble, Member, Parameters, Prediction, Searched, Working
from ssvgp.run.progress import Event
from ssvgp.search.proposer import Proposer
from ssvgp.search.proposer import register as register_proposer
from ssvgp.settings import AutoSettings, PaperSettings, Prior, Regime, SearchSettings
from ssvgp.store import StoreError

try:
    __version__ = version("ssvgp")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"

__all__ = [
    "AutoSettings",
    "Check",
    "ClassCheck",
    "DataWarning",
    "Effect",
    "Ensemble",
    "Event",
    "Interaction",
    "LeaveOneOut",
    "Member",
    "PaperSettings",
    "Parameters",
    "Periodic",
    "Polynomial",
    "Prediction",
    "Prior",
    "Product",
    "Proposer",
    "Regime",
    "Relative",
    "SSVGPClassifier",
    "SSVGPRegressor",
    "SearchSettings",
    "Searched",
    "Shares",
    "Stationary",
    "StoreError",
    "Sum",
    "Working",
    "__version__",
    "autodiff_kernel",
    "cauchy",
    "kernel_named",
    "linear",
    "load",
    "matern",
    "rational_quadratic",
    "register_background",
    "register_kernel",
    "register_likelihood",
    "register_proposer",
    "squared_exponential",
]
